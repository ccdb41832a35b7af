package viewer

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestShort(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"", 5, ""},
		{"hello", 5, "hello"},
		{"hello!", 5, "hell…"},
		{"one\n\n  two\tthree", 20, "one two three"},
		{"世界地図", 8, "世界地図"},
		{"世界地図", 7, "世界地…"},
		{"世界地図", 6, "世界…"},
		{"\x1b[31mred\x1b[0m", 9, "red"},
		{"\x1b]0;title\x07text", 9, "text"},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", 9, "link"},
		{"bell\x07", 9, "bell␇"},
		{"lone \x1b", 9, "lone ␛"},
		{"a\x9bb", 9, "a\ufffdb"},
		{"a\u009bb", 9, "a\ufffdb"},
		{"exe.\u202egpj", 9, "exe.\ufffdgpj"},
		{"zero\u200bwidth", 20, "zerowidth"},
		{"\U0001f9d1\u200d\U0001f33e", 4, "\U0001f9d1\U0001f33e"},
		{"❤\ufe0f", 4, "❤"},
		{"e\u0301\u0301\u0301\u0301\u0301", 4, "e\u0301\u0301\u0301"},
		{"cr\rlf", 9, "cr␍lf"},
		{"\xff\xfe", 9, "\ufffd\ufffd"},
		{"tags\U000e0041\U000e0042", 9, "tags"},
		{"a b c", 0, ""},
	} {
		if got := short(c.in, c.width); got != c.want {
			t.Errorf("short(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func lines(text string, width int) []string {
	var out []string
	for off := 0; off < len(text); {
		l := wrap(text, off, width)
		out = append(out, l.text)
		off = l.next
	}
	return out
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"one two three", 8, "one two |three"},
		{"one two three", 7, "one two|three"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"a\n\nb\n", 4, "a||b"},
		{"a\r\nb", 4, "a|b"},
		{"世界地図", 5, "世界|地図"},
		{"\tx", 9, "    x"},
		{"ab\tx", 9, "ab  x"},
		{"a bcdefghijk", 6, "a bcde|fghijk"},
		{"\x1b[1mbold\x1b[0m text", 5, "bold |text"},
		{"", 5, ""},
	} {
		if got := strings.Join(lines(c.in, c.width), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// Whatever a text holds: lines are no wider than asked for, by either way of
// measuring, hold nothing that a terminal obeys, and come to an end.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain text", "世界\t地図", "\x1b[31mred\x1b[0m", "\x1b]0;x", "e\u0301\u202e\u200d", "\U0001f1e9\U0001f1ea flags", "नमस्ते दुनिया", "\xff\r\n\u2028x"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = 2 + (w%200+200)%200
		for off := 0; off < len(s); {
			l := wrap(s, off, w)
			if l.next <= off {
				t.Fatalf("wrap(%q, %d, %d) goes nowhere", s, off, w)
			}
			if n := ansi.StringWidthWc(l.text); n > w {
				t.Fatalf("wrap(%q, %d, %d) = %q, %d wide", s, off, w, l.text, n)
			}
			if bad := badControl(l.text); bad != "" || strings.ContainsRune(l.text, '\x1b') {
				t.Fatalf("wrap(%q) lets %s through: %q", s, bad, l.text)
			}
			off = l.next
		}
		text, n := fit(s, w)
		if got := ansi.StringWidthWc(text); got != n || n > w || badControl(text) != "" {
			t.Fatalf("fit(%q, %d) = %q, %d wide, says %d", s, w, text, got, n)
		}
	})
}

func TestIndexFold(t *testing.T) {
	for _, c := range []struct {
		s, words string
		want     int
	}{
		{"Hello World", "world", 6},
		{"HELLO", "hello", 0},
		{"aaab", "aab", 1},
		{"naïve Ünï", "ünï", -1},
		{"naïve ünï", "ünï", 7},
		{"x", "longer", -1},
		{"x", "", -1},
		{"...abX ABx", "abx", 3},
	} {
		if got := indexFold(c.s, c.words); got != c.want {
			t.Errorf("indexFold(%q, %q) = %d, want %d", c.s, c.words, got, c.want)
		}
	}
}
