package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// program stands for winnow: what matters here is that it is found and gets its arguments.
const program = "#!/bin/sh\necho \"winnow: $*\"\nexit 3\n"

// releaseFolder makes a folder with archives as goreleaser does.
func releaseFolder(t *testing.T) string {
	if runtime.GOOS != "linux" {
		t.Skip("packages are made on Linux, with GNU tar")
	}
	needs(t, "bash", "unzip")
	dir := t.TempDir()
	for _, p := range platforms {
		name := "winnow_0.1.0_" + strings.ReplaceAll(p, "/", "_")
		var out bytes.Buffer
		files := map[string]string{"winnow": program, "LICENSE": "Apache", "LICENSES.txt": "others", "README.md": "# winnow", "NOTICE": "notice"}
		if strings.HasPrefix(p, "windows") {
			z := zip.NewWriter(&out)
			for file, text := range files {
				w, err := z.Create(name + "/" + strings.Replace(file, "winnow", "winnow.exe", 1))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = w.Write([]byte(text))
			}
			z.Close()
			name += ".zip"
		} else {
			z := gzip.NewWriter(&out)
			w := tar.NewWriter(z)
			for file, text := range files {
				if err := w.WriteHeader(&tar.Header{Name: name + "/" + file, Mode: 0o755, Size: int64(len(text))}); err != nil {
					t.Fatal(err)
				}
				_, _ = w.Write([]byte(text))
			}
			w.Close()
			z.Close()
			name += ".tar.gz"
		}
		if err := os.WriteFile(filepath.Join(dir, name), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("../../../scripts/packages", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// needs skips a test whose programs are not here.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// The packed files install without a network, and the program that npm chose for this
// machine runs with its arguments and its exit code. Without it a line says what to do.
func TestNpm(t *testing.T) {
	needs(t, "npm", "node")
	dir := releaseFolder(t)
	own := fmt.Sprintf("winnow-llm-%s-%s", runtime.GOOS, strings.Replace(runtime.GOARCH, "amd64", "x64", 1))
	install := func(packages ...string) string {
		t.Helper()
		at := t.TempDir()
		args := []string{"install", "--prefix", at, "--offline", "--no-audit", "--no-fund", "--cache", filepath.Join(at, "cache")}
		for _, p := range packages {
			args = append(args, filepath.Join(dir, p+"-0.1.0.tgz"))
		}
		if out, err := exec.Command("npm", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return filepath.Join(at, "node_modules", ".bin", "winnow-llm")
	}
	run := func(bin string) (int, string) {
		cmd := exec.Command(bin, "check", "a b")
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if code, out := run(install("winnow-llm", own)); code != 3 || out != "winnow: check a b\n" {
		t.Errorf("%d %s", code, out)
	}
	if code, out := run(install("winnow-llm")); code != 1 || !strings.Contains(out, own+" is not installed") {
		t.Errorf("%d %s", code, out)
	}
}

// The script installs the program of this machine, and refuses another file.
func TestInstallScript(t *testing.T) {
	needs(t, "curl", "sh")
	dir := releaseFolder(t)
	install := func() (string, error) {
		cmd := exec.Command("sh", filepath.Join(dir, "install.sh"))
		cmd.Env = append(os.Environ(), "RELEASE=file://"+dir, "BIN="+filepath.Join(dir, "bin"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := install(); err != nil || !strings.Contains(out, "installed ") {
		t.Fatalf("%v %s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "bin", "winnow")); err != nil || string(got) != program {
		t.Errorf("%v %s", err, got)
	}
	name := fmt.Sprintf("winnow_0.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	if err := os.WriteFile(filepath.Join(dir, name), []byte("else"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := install(); err == nil || !strings.Contains(out, "nothing was installed") {
		t.Errorf("%v %s", err, out)
	}
}

// The formula names each archive with its own checksum, and the checksums name everything.
func TestFormula(t *testing.T) {
	dir := releaseFolder(t)
	formula, err := os.ReadFile(filepath.Join(dir, "winnow.rb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range platforms[:4] {
		name := "winnow_0.1.0_" + strings.ReplaceAll(p, "/", "_") + ".tar.gz"
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("/v0.1.0/%s\"\n      sha256 \"%x\"", name, sha256.Sum256(data)); !strings.Contains(string(formula), want) {
			t.Errorf("%s is not in\n%s", want, formula)
		}
	}
	if ruby, err := exec.LookPath("ruby"); err != nil {
		t.Log("ruby is not here: the formula's grammar is not checked")
	} else if out, err := exec.Command(ruby, "-c", filepath.Join(dir, "winnow.rb")).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil || strings.Count(string(sums), "\n") != len(platforms)+3 {
		t.Errorf("%v\n%s", err, sums)
	}
}
