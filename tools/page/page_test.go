// Package page_test holds the page's bundle to its sources.
package page_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestUpToDate compares what is committed with what its sources make.
func TestUpToDate(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash to run the script")
	}
	root, made := filepath.Join("..", "..", "internal", "page"), t.TempDir()
	if out, err := exec.Command("./bundle", filepath.Join(root, "web"), made).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := os.ReadDir(made)
	if err != nil || len(files) != 4 {
		t.Errorf("the page has %d files, %v", len(files), err)
	}
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(made, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(root, "dist", f.Name()))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("internal/page/dist/%s is not what its sources make (%v); run go generate ./internal/page", f.Name(), err)
		}
	}
}

// TestNothingFromText makes sure that no text can become markup: what would do
// that is not even in the bundle.
func TestNothingFromText(t *testing.T) {
	js, err := os.ReadFile(filepath.Join("..", "..", "internal", "page", "dist", "app.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
		if bytes.Contains(js, []byte(bad)) {
			t.Errorf("the bundle contains %s", bad)
		}
	}
	sources, err := filepath.Glob(filepath.Join("..", "..", "internal", "page", "web", "src", "*"))
	if err != nil || len(sources) == 0 {
		t.Fatal(err, len(sources))
	}
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("nnerHTML")) {
			t.Errorf("%s uses innerHTML", name)
		}
	}
}
