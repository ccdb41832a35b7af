package summary

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/token"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; look at it and run go test -update\ngot:\n%s", path, got)
	}
}

// The prompts are part of what the package promises: a change of theirs should
// be seen and meant.
func TestGoldenPrompts(t *testing.T) {
	h := someWork()
	counter := token.New(token.O200K, nil)
	cut := func(s string) string {
		// The log in the middle of the session adds nothing to the picture.
		return strings.ReplaceAll(s, "some log line without anything in it worth keeping at all\n", "")
	}
	tests := []struct {
		name string
		in   Input
	}{
		{"first", Input{History: h, To: 10, Turn: -1, Max: 1000, Counter: counter}},
		{"update", Input{History: h, From: 8, To: 10, Turn: -1, Max: 1000, Counter: counter, Previous: "## Goal\n- fix the rounding", Focus: "the rounding rules"}},
		{"turn", Input{History: h, To: 8, Turn: 0, Max: 1000, Counter: counter}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, err := tt.in.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			m := &recorder{f: func(int, Prompt) (Completion, error) { return Completion{Text: notes("it")}, nil }}
			o := NewLLM(&LLMOptions{Model: m}).(*llm).o
			r := &run{o: &o, in: &in, window: o.Window, counter: counter, most: 500}
			if _, err := r.askForParts(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			for _, p := range m.prompts {
				fmt.Fprintf(&b, "=== system\n%s\n=== user, at most %d tokens of answer\n%s\n", p.System, p.Output, cut(p.Text))
			}
			golden(t, "prompt-"+tt.name+".txt", b.String())
		})
	}
}

func TestGoldenBuiltin(t *testing.T) {
	out, err := Builtin().Summarize(context.Background(), Input{History: someWork(), To: 10, Turn: -1, Max: 400, Counter: token.New(token.O200K, nil)})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "builtin.txt", out.Text+"\n")
}
