package find_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/session/internal/find"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		query, text string
		want        bool
	}{
		{"build", "Fix the BUILD.", true},
		{"build", "rebuild it", false},
		{"buil*", "the building", true},
		{"build fix", "fix it, then build", true},
		{"build fix", "fix it", false},
		{"main.go", "see cmd/main.go:12", true},
		{"main.go", "go main", false},
		{"main.g*", "see main.golden", true},
		{"… - !", "… - !", false},
		{"", "anything", false},
		{"größe", "die GRÖSSE, die Größe", true},
		{"\"fold\" OR", "fold or not", true},
	} {
		if got := find.Parse(c.query).Matches(c.text); got != c.want {
			t.Errorf("%q in %q: %v", c.query, c.text, got)
		}
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("é words before ", 40) + "the needle\nstands here " + strings.Repeat("and after ö ", 40)
	got := find.Parse("NEEDLE").Snippet(long)
	if !strings.Contains(got, "the needle stands here") || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") || len(got) > 250 || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("snippet %q", got)
	}
	if got := find.Parse("needle").Snippet("a needle"); got != "a needle" {
		t.Errorf("snippet %q", got)
	}
}
