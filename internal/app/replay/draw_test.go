package replay

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/replaygen"
)

// The same seed draws the same compactions, and each is told from its input to what
// the agent did next.
func TestRead(t *testing.T) {
	d := generated(4, replaygen.Options{Requests: 60, Growth: 700})
	draw := func(seed uint64) string {
		var b strings.Builder
		if err := Read(t.Context(), &b, d, Reading{Count: 3, Seed: seed, Window: 24000}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := draw(7)
	if text != draw(7) {
		t.Error("one seed, two texts")
	}
	if text == draw(8) {
		t.Error("two seeds, one text")
	}
	for _, want := range []string{"\n1. ", "\n3. ", "[Earlier conversation, messages ", "Then the agent did:\n  1. "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in it:\n%.2000s", want, text)
		}
	}
	if strings.Contains(text, "\n4. ") {
		t.Error("more than were asked for")
	}
}
