// Command release builds winnow for every platform, with what a release needs
// beside the program: the licences of everything that is in it, a list of
// components (SPDX) and checksums.
//
//	go run ./internal/app/release -version v0.1.0 -out dist
//
// The same commit gives the same bytes: paths are trimmed, and all files carry the
// time of the commit.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const module = "github.com/winnow-llm/winnow"

// platform is what a build is for.
type platform struct{ OS, Arch string }

func (p platform) String() string { return p.OS + "/" + p.Arch }

var platforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// release is what is being made.
type release struct {
	version, out string
	commit       string
	at           time.Time // of the commit
	files        []string  // written so far, by their names in out
}

func main() {
	version := flag.String("version", "", "the release's `NAME`, such as v0.1.0 (default: what git describes)")
	out := flag.String("out", "dist", "`FOLDER` to write to")
	only := flag.String("only", "", "`OS/ARCH` to build, comma-separated (default: all)")
	text := flag.String("licences", "", "write only the licences for this platform to `FILE`, and build nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *text != "" {
		err = writeLicences(ctx, *text)
	} else {
		err = run(ctx, *version, *out, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// writeLicences writes the licences of what is in a program for Linux on this
// machine's processor, for images that are built from source.
func writeLicences(ctx context.Context, file string) error {
	parts, err := components(ctx, platform{"linux", runtime.GOARCH})
	if err != nil {
		return err
	}
	return os.WriteFile(file, licences(parts), 0o644)
}

func run(ctx context.Context, version, out, only string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	if version, err = named(ctx, version); err != nil {
		return err
	}
	commit, err := git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	stamp, err := git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	r := &release{version: version, out: out, commit: commit, at: time.Unix(seconds, 0).UTC()}
	var all []component
	for _, p := range chosen {
		parts, err := components(ctx, p)
		if err != nil {
			return err
		}
		if err := r.build(ctx, p, parts); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		all = merge(all, parts)
	}
	if err := r.write("winnow.spdx.json", r.spdx(all)); err != nil {
		return err
	}
	return r.sums()
}

// named returns the release's name. One that was given stands for a commit, so that
// nothing may have been changed since.
func named(ctx context.Context, version string) (string, error) {
	if version == "" {
		return git(ctx, "describe", "--tags", "--always", "--dirty")
	}
	changed, err := git(ctx, "status", "--porcelain")
	if err == nil && changed != "" {
		err = fmt.Errorf("-version %s: a release is built from a commit, and these files have changed since the last one: commit them first, or leave -version out\n%s", version, changed)
	}
	return version, err
}

// choose returns the platforms that a list names.
func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	var out []platform
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-only %s: there is no such platform; there are %v", name, platforms)
		}
		out = append(out, platforms[i])
	}
	return out, nil
}

// build makes the archive for one platform.
func (r *release) build(ctx context.Context, p platform, parts []component) error {
	dir, err := os.MkdirTemp("", "winnow-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := "winnow"
	if p.OS == "windows" {
		binary += ".exe"
	}
	path := filepath.Join(dir, binary)
	stamps := "-s -w -X " + module + "/internal/app.version=" + r.version + " -X " + module + "/internal/app.revision=" + r.commit
	// -buildvcs=false: what the toolchain would note differs between a clone and a worktree.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", stamps, "-o", path, "./cmd/winnow")
	cmd.Env, cmd.Stderr = p.env(), os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	if err := linked(path, parts); err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("winnow_%s_%s_%s", strings.TrimPrefix(r.version, "v"), p.OS, p.Arch)
	files := []file{{binary, program, 0o755}}
	for _, f := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		files = append(files, file{f, data, 0o644})
	}
	files = append(files, file{"LICENSES.txt", licences(parts), 0o644})
	fmt.Printf("%-14s %5.1f MB, %d components\n", p, float64(len(program))/1e6, len(parts))
	if p.OS == "windows" {
		data, err := r.zip(name, files)
		if err != nil {
			return err
		}
		return r.write(name+".zip", data)
	}
	data, err := r.tar(name, files)
	if err != nil {
		return err
	}
	return r.write(name+".tar.gz", data)
}

// env is the environment in which go works for the platform.
func (p platform) env() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOFLAGS=", "GOWORK=off")
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	r.files = append(r.files, name)
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// sums writes the checksums of all files, as sha256sum --check reads them.
func (r *release) sums() error {
	var b bytes.Buffer
	slices.Sort(r.files)
	for _, name := range r.files {
		data, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), b.Bytes(), 0o644)
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// indented is a JSON document for a file.
func indented(doc any) []byte {
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic(err) // made of strings
	}
	return append(data, '\n')
}
