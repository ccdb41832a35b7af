package model

import (
	"slices"
	"testing"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

// Every model of the registry stands in one line, and the word of a line finds
// its models.
func TestLines(t *testing.T) {
	r := Default()
	names := map[string]bool{}
	for m := range r.allModels() {
		names[fold.Name(m.Name)] = true // spellings of one name count once
	}
	lines := r.Lines()
	if len(lines) < 20 || len(lines) > 60 {
		t.Errorf("%d lines", len(lines))
	}
	models := 0
	for i, l := range lines {
		models += l.Models
		if l.Models == 0 || l.Providers == 0 || l.Largest < l.Smallest || l.Dearest < l.Cheapest {
			t.Errorf("%+v", l)
		}
		if (l.Name == "") != (i == len(lines)-1) {
			t.Errorf("%d: the models of no line come last", i)
		}
		if l.Name != "" && len(r.List(l.Name)) < l.Models {
			t.Errorf("%s: %d models, %d found by the word", l.Name, l.Models, len(r.List(l.Name)))
		}
	}
	if models != len(names) {
		t.Errorf("%d models of %d names", models, len(names))
	}
	for name, want := range map[string]string{"claude-sonnet-4-5": "claude", "gpt-5": "gpt", "o3-mini": "o3", "qwen3-coder": "qwen", "nobody-1": ""} {
		if got := lineOf(name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
	// A model of one's own is counted too.
	own, err := r.WithOverrides([]byte(`{"models":{"claude-of-ours":{"context":123}}}`))
	if err != nil {
		t.Fatal(err)
	}
	at := func(ls []Line) Line { return ls[slices.IndexFunc(ls, func(l Line) bool { return l.Name == "claude" })] }
	if a, b := at(lines), at(own.Lines()); b.Models != a.Models+1 || b.Smallest != 123 {
		t.Errorf("%+v, then %+v", a, b)
	}
}
