package work

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLimit(t *testing.T) {
	if got, cut := Limit("short\n", 100, 10); cut || got != "short\n" {
		t.Errorf("a short text was cut: %q", got)
	}
	if got, cut := Limit("short\n", 0, 0); cut || got != "short\n" {
		t.Errorf("no limits, and yet %q", got)
	}
	var b strings.Builder
	for i := range 5000 {
		if i == 2500 {
			b.WriteString("main.go:7:2: undefined: lost\n")
		}
		fmt.Fprintf(&b, "line %d of the output, with some words\n", i)
	}
	text := b.String()
	for _, lim := range [][2]int{{51200, 2000}, {51200, 0}, {0, 200}, {4000, 50}, {1000, 1000}} {
		got, cut := Limit(text, lim[0], lim[1])
		if !cut {
			t.Fatalf("limits %v: not cut", lim)
		}
		if lim[0] > 0 && len(got) > lim[0] {
			t.Errorf("limits %v: %d bytes", lim, len(got))
		}
		if n := CountLines(got); lim[1] > 0 && n > lim[1] {
			t.Errorf("limits %v: %d lines", lim, n)
		}
		if !strings.HasPrefix(got, "line 0 ") || !strings.HasSuffix(got, "line 4999 of the output, with some words\n") {
			t.Errorf("limits %v: head or tail is missing", lim)
		}
		if !strings.Contains(got, "undefined: lost") {
			t.Errorf("limits %v: the error in the middle is missing", lim)
		}
		if !strings.Contains(got, "of 5001 lines") {
			t.Errorf("limits %v: the notice does not say how much there was", lim)
		}
	}
}

// Lines that an edit repeats are neither put in nor taken out.
func TestCountChanges(t *testing.T) {
	for _, tc := range []struct {
		old, now    string
		plus, minus int
	}{
		{"", "a\nb\n", 2, 0},
		{"a\nb", "", 0, 2},
		{"a\nb\nc\n", "a\nB\nc\n", 1, 1},
		{"a\nb\nc\nd\ne\n", "a\nx\nb\nc\ny\ne\n", 2, 1},
		{"x\n}\n\ny\n}\n", "y\n}\n\nz\n}\n", 2, 2}, // as git counts, though only x and z differ
		{strings.Repeat("old\n", 1000) + "end\n", strings.Repeat("new\n", 900) + "end\n", 900, 1000},
	} {
		if plus, minus := CountChanges(tc.old, tc.now); plus != tc.plus || minus != tc.minus {
			t.Errorf("%.20q to %.20q: +%d -%d, want +%d -%d", tc.old, tc.now, plus, minus, tc.plus, tc.minus)
		}
	}
}

// The lines of a file may speak of errors, which are not those of the call that read it.
func TestLimitOfNumberedLines(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "%6d→\tError: the words of a file\n", i+1)
	}
	if got, cut := Limit(b.String(), 4000, 0); !cut || strings.Contains(got, "errors among") {
		t.Errorf("cut %v:\n%s", cut, got)
	}
}

func TestLimitAnySize(t *testing.T) {
	texts := []string{
		strings.Repeat("日本語のテキスト、", 400),
		strings.Repeat("error: é\n", 300),
		strings.Repeat("x", 3000),
		strings.Repeat("\n", 3000),
		strings.Repeat("🎉🎉🎉\r\n", 200),
	}
	for _, text := range texts {
		for bytes := 1; bytes < 1200; bytes += 7 {
			got, cut := Limit(text, bytes, 0)
			if len(got) > bytes || !cut || !utf8.ValidString(got) {
				t.Fatalf("Limit(%.12q…, %d) has %d bytes, cut %v, valid %v", text, bytes, len(got), cut, utf8.ValidString(got))
			}
		}
		for lines := 1; lines < 60; lines++ {
			got, _ := Limit(text, 0, lines)
			if n := CountLines(got); n > lines || !utf8.ValidString(got) || len(got) > len(text) {
				t.Fatalf("Limit(%.12q…, lines %d) has %d lines", text, lines, n)
			}
		}
	}
}

func FuzzLimit(f *testing.F) {
	f.Add("Exit code 1\nerror: x\n", uint8(20))
	f.Add("\nE   assert\n\x1b[3", uint8(1))
	f.Fuzz(func(t *testing.T, text string, max uint8) {
		for _, l := range ErrorLines(text, int(max)) {
			if len(l) > errorLineMax {
				t.Errorf("an error line of %d bytes", len(l))
			}
		}
		if out, _ := Limit(text, int(max)*8, int(max)); len(out) > len(text) || max > 0 && len(out) > int(max)*8 {
			t.Errorf("Limit made %d bytes of %d", len(out), len(text))
		}
	})
}
