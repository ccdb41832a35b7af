package spelling_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/app/spelling"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"threshold", "threshold", 0},
		{"treshold", "threshold", 1},
		{"tihreshold", "threshold", 1},
		{"thresholt", "threshold", 1},
		{"", "abc", 3},
		{"window", "widnow", 2},
	} {
		if got, back := spelling.Distance(c.a, c.b), spelling.Distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}
