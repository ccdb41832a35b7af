package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnow-llm/winnow/token/internal/boundary"
)

// readSeen returns a table with a one for every three classes that stand beside
// each other in a text or in a file of sessions.
func readSeen(sessions string, texts []text) (*boundary.Table, error) {
	seen := new(boundary.Table)
	note := func(prev, cur, next uint8) { seen[boundary.Index(prev, cur, next)] = 1 }
	for i := range texts {
		boundary.Each(texts[i].Text, note)
	}
	// The files are JSON; of its escapes these are the ones that hide most.
	plain := strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\t`, "\t", `\\`, `\`)
	err := filepath.WalkDir(sessions, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		s, err := readSession(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		boundary.Each(plain.Replace(s), note)
		return nil
	})
	return seen, err
}

// readSession returns a file's text, unpacked.
func readSession(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return "", err
		}
	}
	all, err := io.ReadAll(r)
	return string(all), err
}
