package model

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/model/internal/fold"
)

func FuzzLookup(f *testing.F) {
	for _, s := range []string{
		"", "/", "gpt-4o", "openai/gpt-5-2025-08-07", "us.anthropic.claude-opus-5-v1:0", "@cf/meta/llama-3", "x[1m]", "[1m]",
		"gpt-4.", "-", "0-0-0", "claude-99-99-99", "o1", "o", "a\tb\nc", "模型/版本-2", "\xff/\xfe", "latest", "v1:0", "20250929", "gpt-5-preview-05-06",
		"arn:aws:bedrock:x", strings.Repeat("gpt-", 200), strings.Repeat("/", 300),
	} {
		f.Add(s, 0)
		f.Add(s, 4096)
	}
	f.Fuzz(func(t *testing.T, name string, output int) {
		m := Default().Lookup(name)
		if m.Source == "" || m.Context < 1 || m.Input < 0 || m.Output < 0 || m.Output > m.Context {
			t.Fatalf("%q: %+v", name, m)
		}
		if a, r := m.Available(output), m.Reserve(output); a < 1 || r < 0 || a > m.Context || r > m.Context {
			t.Fatalf("%q: available %d, reserve %d of %d", name, a, r, m.Context)
		}
		key := fold.Name(name)
		if utf8.ValidString(name) && fold.Name(key) != key && !strings.Contains(key, "p") {
			t.Fatalf("folding %q twice: %q, then %q", name, key, fold.Name(key))
		}
		if strings.ContainsAny(key, "\t\n") {
			t.Fatalf("%q has a key that the registry cannot hold: %q", name, key)
		}
		if again := Default().Lookup(name); again.Name != m.Name || again.Provider != m.Provider || again.Source != m.Source {
			t.Fatalf("%q: two answers, %+v and %+v", name, m, again)
		}
	})
}

func FuzzWithOverrides(f *testing.F) {
	f.Add([]byte(file), "gpt-5")
	f.Add([]byte(`{"models":{"*":{"context":1,"output":9,"input":9}}}`), "x")
	f.Add([]byte(`{"models":{"a/b":{"like":"a/b"},"b":{"like":"b"}}}`), "a/b")
	f.Add([]byte(`{"models":{"a":{"cache":{"lifetime_seconds":1e9}}}}`), "a")
	f.Add([]byte(`{"models":null}`), "")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		r, err := Default().WithOverrides(data)
		if err != nil {
			if r != nil || !strings.HasPrefix(err.Error(), "model overrides: ") {
				t.Fatalf("%v with %v", r, err)
			}
			return
		}
		m := r.Lookup(name)
		if m.Context < 1 || m.Input < 0 || m.Output < 0 || m.Available(0) < 1 || m.Available(1<<40) < 1 || m.Cache.Lifetime < 0 {
			t.Fatalf("%q: %+v", name, m)
		}
	})
}
