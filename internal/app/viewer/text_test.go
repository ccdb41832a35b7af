package viewer

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Whatever a text holds: its lines fit the width, by either way of measuring, hold
// nothing that a terminal obeys, and come to an end.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain text", "\n--- a line first", "世界\t地図", "\x1b[31mred\x1b[0m", "\x1b]0;x", "e\u0301\u202e\u200d", "\U0001f1e9\U0001f1ea flags", "नमस्ते दुनिया", "\xff\r\n\u2028x"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = 8 + (w%200+200)%200
		for _, l := range append(wrapParagraphs([]paragraph{{text: s}}, w), line{text: shortenTo(s, w)}) {
			if n := ansi.StringWidthWc(l.text); n > w {
				t.Fatalf("%q is %d wide, not %d: %q", s, n, w, l.text)
			}
			if bad := badControl(l.text); bad != "" {
				t.Fatalf("%q lets %s through: %q", s, bad, l.text)
			}
		}
	})
}
