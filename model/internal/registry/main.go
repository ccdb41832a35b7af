// Command registry writes the model registry that package model embeds.
//
//	go generate ./model
//
// It reads public registries of models from the folder "models" below
// WINNOW_CORPUS (by default the folder "shared" beside the repository), merges
// their facts and writes one text file, sorted, the same bytes for the same
// input. See merge.go for the rules where registries disagree and format.go
// for the file's format.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
)

func main() {
	shared, _ := corpus.Path() // where there is none, reading it says so
	out := flag.String("out", "registry.txt", "file to write")
	in := flag.String("in", filepath.Join(shared, "models"), "folder with the public registries")
	flag.Parse()
	if err := run(*in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "registry:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	src, err := readSources(in)
	if err != nil {
		return fmt.Errorf("reading the public registries in %s: %w; set WINNOW_CORPUS to the folder that holds them", in, err)
	}
	facts := mergeSources(src)
	var b bytes.Buffer
	writeRegistry(&b, facts)
	fmt.Fprintf(os.Stderr, "registry: %d models, %d bytes\n", len(facts), b.Len())
	return os.WriteFile(out, b.Bytes(), 0o644)
}
