// Command release writes what a release needs beside its programs: the licences of
// everything that is in one, and the list of components (SPDX). goreleaser runs it
// (.goreleaser.yaml); it builds, packs and sums up by itself, and scripts/packages makes
// packages of its archives.
//
//	go run ./internal/app/release -for linux/amd64 -licences FILE [-program FILE]
//	go run ./internal/app/release -version v0.1.0 -at 2026-11-17T00:00:00Z -spdx FILE
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const module = "github.com/winnow-llm/winnow"

// platforms are those of .goreleaser.yaml.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	platform := flag.String("for", "linux/"+runtime.GOARCH, "`OS/ARCH` of the program")
	text := flag.String("licences", "", "write the licences of what is in the program to `FILE`")
	program := flag.String("program", "", "with -licences: fail unless `FILE` says that it was built from exactly that")
	list := flag.String("spdx", "", "write the components of the programs for all platforms to `FILE`")
	version := flag.String("version", "", "with -spdx: the release's `NAME`, such as v0.1.0")
	at := flag.String("at", "", "with -spdx: the `TIME` of the commit")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *text != "":
		err = writeLicences(ctx, *text, *platform, *program)
	case *list != "":
		err = writeComponents(ctx, *list, *version, *at)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
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

// writeComponents writes the list of what is in the programs of a release.
func writeComponents(ctx context.Context, file, version, at string) error {
	made, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return fmt.Errorf("-at: %w", err)
	}
	var all []component
	for _, p := range platforms {
		parts, err := listComponents(ctx, p)
		if err != nil {
			return err
		}
		all = mergeComponents(all, parts)
	}
	data, err := json.MarshalIndent(spdxDocument(all, version, made.UTC()), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}

// goEnvironment returns the environment in which go builds for a platform.
func goEnvironment(platform string) []string {
	system, arch, _ := strings.Cut(platform, "/")
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOFLAGS=")
}
