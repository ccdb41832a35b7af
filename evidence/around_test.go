package evidence_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/winnow-llm/winnow/evidence"
)

func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of a long file\n", i+1)
	}
	return b.String()
}

// Around the lines that matter stands what is near them, with both ends, an error,
// and gaps that say what they hide.
func TestLimitAround(t *testing.T) {
	text := strings.Replace(numberedLines(2000), "line 301 of a long file", "pool.go:12:3: undefined: maxIdle", 1)
	got, cut := evidence.LimitAround(text, 4000, 200, []int{999, 1499})
	if !cut || len(got) > 4000 || strings.Count(got, "\n") > 200 {
		t.Fatalf("%d bytes, %d lines, cut %v", len(got), strings.Count(got, "\n"), cut)
	}
	for _, want := range []string{
		"line 1 of", "line 2000 of", "line 1000 of", "line 995 of", "line 1005 of", "line 1500 of", "undefined: maxIdle", "\n[… lines 302 to ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if plain, _ := evidence.Limit(text, 4000, 200); strings.Contains(plain, "line 1000 of") {
		t.Error("the line is left without being wanted: the test shows nothing")
	}
}

// Whatever is wanted: the limits hold, each line that is shown is one of the text or
// speaks of a gap, and with the gaps the lines add up.
func TestLimitAroundProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab é漢 error:")), 0, 30, -1), 1, 120).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		bytes, most := rapid.IntRange(60, 2000).Draw(t, "bytes"), rapid.IntRange(2, 100).Draw(t, "most")
		wanted := rapid.SliceOfN(rapid.IntRange(-1, 130), 1, 8).Draw(t, "wanted")
		got, cut := evidence.LimitAround(text, bytes, most, wanted)
		if !cut {
			if got != text {
				t.Fatal("not cut, and not the same")
			}
			return
		}
		if len(got) > bytes || strings.Count(strings.TrimSuffix(got, "\n"), "\n")+1 > most || !utf8.ValidString(got) {
			t.Fatalf("%d bytes of %d, %d lines of %d", len(got), bytes, strings.Count(got, "\n")+1, most)
		}
		if !strings.Contains(got, "[… lines ") {
			return // no room for blocks
		}
		at := 0
		for l := range strings.Lines(got) {
			l = strings.TrimSuffix(l, "\n")
			var from, to int
			switch n, _ := fmt.Sscanf(l, "[… lines %d to %d left out]", &from, &to); {
			case n == 2 && from == at+1 && to <= len(lines):
				at = to
			case at < len(lines) && l == lines[at]:
				at++
			default:
				t.Fatalf("%q after line %d of %q", l, at, lines)
			}
		}
		if at < len(lines) && strings.Join(lines[at:], "") != "" {
			t.Fatalf("nothing is said of the lines from %d on", at)
		}
	})
}
