// Command release writes what a release needs beside its programs: the licences of
// everything that is in one, by component. goreleaser runs it (.goreleaser.yaml); it
// builds, packs and sums up by itself, and scripts/packages makes packages of its archives.
//
//	go run ./internal/app/release -for linux/amd64 -licences FILE [-program FILE]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
)

const module = "github.com/winnow-llm/winnow"

func main() {
	platform := flag.String("for", "linux/"+runtime.GOARCH, "`OS/ARCH` of the program")
	text := flag.String("licences", "", "write the licences of what is in the program to `FILE`")
	program := flag.String("program", "", "fail unless `FILE` says that it was built from exactly that")
	flag.Parse()
	if *text == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := writeLicences(ctx, *text, *platform, *program); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// writeLicences writes the licences of what is in a program for a platform.
func writeLicences(ctx context.Context, file, platform, program string) error {
	parts, err := listComponents(ctx, platform)
	if err != nil {
		return err
	}
	if program != "" {
		if err := checkLinked(program, parts); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, licenceText(parts), 0o644)
}

// goEnvironment returns the environment in which go builds for a platform.
func goEnvironment(platform string) []string {
	system, arch, _ := strings.Cut(platform, "/")
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOFLAGS=")
}
