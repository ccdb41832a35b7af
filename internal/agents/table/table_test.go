package table_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transcript"
)

// TestRows: every agent is found under all its names and nobody else's, its format
// is one that winnow reads, and what recognises it recognises no other.
func TestRows(t *testing.T) {
	for _, a := range table.All() {
		for _, name := range append([]string{a.Name, a.Program, filepath.Join("/usr/bin", a.Program), a.Program + ".exe"}, a.Aliases...) {
			if found, ok := table.Find(name); !ok || found.Name != a.Name {
				t.Errorf("%s is %q", name, found.Name)
			}
		}
		if f := a.Sessions.Format; f != "" && !slices.Contains(transcript.Formats(), transcript.Format(f)) {
			t.Errorf("%s: nothing reads the format %s", a.Name, f)
		}
		for _, s := range a.Requests.Summary {
			if found, ok := table.AsksSummary("x " + strings.ToUpper(s) + " y"); !ok || found.Name != a.Name {
				t.Errorf("%q is %q's", s, found.Name)
			}
		}
		for _, u := range a.Requests.UserAgents {
			if found, ok := table.Of(u+"1.2", ""); !ok || found.Name != a.Name {
				t.Errorf("%q is %q", u, found.Name)
			}
		}
		if (a.Pointed == "") != (a.Refused != "") || a.Settings == "" {
			t.Errorf("%s is neither pointed nor refused, or has no settings", a.Name)
		}
	}
	if _, ok := table.Of("python-requests/2", ""); ok {
		t.Error("any program is an agent")
	}
}

// TestWindows: Claude Code uses what the registry says of its models, but for some
// older ones, and Codex 95 % of what it gives a model.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		agent, model string
		tokens, own  int
	}{
		{"claude", "claude-opus-5-5", 1_000_000, 967_000},
		{"claude", "claude-sonnet-5-5", 1_000_000, 967_000},
		{"claude", "claude-haiku-5-5", 1_000_000, 967_000},
		{"claude", "claude-opus-5", 1_000_000, 967_000},
		{"claude", "claude-fable-5", 1_000_000, 967_000},
		{"claude", "claude-opus-4-8", 1_000_000, 967_000},
		{"claude", "claude-opus-4-6", 200_000, 167_000},
		{"claude", "us.anthropic.claude-sonnet-4-6", 200_000, 167_000},
		{"claude", "claude-sonnet-4-6[1m]", 1_000_000, 967_000},
		{"claude", "claude-opus-4-5-20251101", 200_000, 167_000},
		{"codex", "gpt-5.5", 258_400, 244_800},
		{"gemini", "gemini-2.5-pro", 1_048_576, 524_288},
		{"pi", "claude-opus-4-5", 200_000, 183_616},
	} {
		a, _ := table.Find(c.agent)
		m := model.Default().Lookup(c.model)
		w := a.WindowOf(m, a.AsksMillion(c.model))
		if w.Tokens == 0 {
			w.Tokens = m.Context
		}
		if w.Tokens != c.tokens || w.Own != c.own || a.Own.Window(c.own) != c.tokens {
			t.Errorf("%s with %s: a window of %d, compacted at %d, which is a window of %d", c.agent, c.model, w.Tokens, w.Own, a.Own.Window(c.own))
		}
	}
}
