package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestUpToDate compares what is committed with what its sources make.
func TestUpToDate(t *testing.T) {
	root := filepath.Join("..", "..", "internal", "page")
	files, err := bundlePage(filepath.Join(root, "web"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 {
		t.Errorf("the page has %d files", len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, "dist", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("internal/page/dist/%s is not what its sources make (%v); run go generate ./internal/page", name, err)
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
