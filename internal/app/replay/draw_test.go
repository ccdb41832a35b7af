package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/replaygen"
)

// The same seed draws the same compactions, and each is told from its input to what
// the agent did next.
func TestRead(t *testing.T) {
	d := generated(4, replaygen.Options{Requests: 60, Growth: 700})
	read := func(r Reading) string {
		var b strings.Builder
		if err := Read(t.Context(), &b, d, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	draw := func(seed uint64) string { return read(Reading{Count: 3, Seed: seed, Window: 24000}) }
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
	// With a fixed part the engine itself says when it compacts: later in a larger room.
	size := func(text string) (n int) {
		if _, err := fmt.Sscanf(text[strings.Index(text, " messages, about ")+len(" messages, about "):], "%d", &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	near := size(read(Reading{Count: 1, Seed: 7, Window: 48000, Fixed: 12000}))
	far := size(read(Reading{Count: 1, Seed: 7, Window: 48000, Fixed: 24000}))
	if near < far+6000 {
		t.Errorf("with 12,000 fixed the conversation has %d tokens when it is compacted, with 24,000 %d", near, far)
	}
}
