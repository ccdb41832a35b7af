package token

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTruncate(t *testing.T) {
	c := New(O200K, &Options{Exact: true})
	const text = "The disk was full. The server restarted twice before anybody noticed what had happened to it."
	for _, tt := range []struct {
		max        int
		text, want string
	}{
		{0, text, ""},
		{-3, text, ""},
		{5, "", ""},
		{1, text, "…"},
		{3, text, "The disk…"},
		{7, text, "The disk was full. …"},
		{9, text, "The disk was full. …"},
		{14, text, "The disk was full. The server restarted twice before anybody noticed what…"},
		{100, text, text},
		{3, "aaaa bbbb", "aaaa bbbb"},
	} {
		if got := c.Truncate(tt.text, tt.max); got != tt.want {
			t.Errorf("Truncate(%.20q, %d) = %q (%d tokens), want %q", tt.text, tt.max, got, c.Text(got), tt.want)
		}
	}
	joined := strings.Repeat("👩‍👩‍👧‍👦", 40)
	if got := strings.TrimSuffix(c.Truncate(joined, 60), ellipsis); got == "" || len(got)%len("👩‍👩‍👧‍👦") != 0 {
		t.Errorf("a family was separated: %q", got)
	}
}

// checkTruncated says what is wrong with a truncated text.
func checkTruncated(c *Counter, s, got string, most int) string {
	switch {
	case most <= 0 && got != "":
		return "nothing was asked for"
	case most > 0 && c.Text(s) <= most && got != s:
		return "the text fits and was changed"
	case got != "" && c.Text(got) > max(most, 0):
		return "it exceeds the budget"
	case utf8.ValidString(s) && !utf8.ValidString(got):
		return "a character was split"
	case got != s && got != "" && !strings.HasSuffix(got, ellipsis):
		return "it has no ellipsis"
	case got != s && got != "" && !strings.HasPrefix(s, strings.TrimSuffix(strings.TrimSuffix(got, ellipsis), " ")):
		return "it is no beginning of the text"
	}
	return ""
}

// A failure is shrunk to the fewest words and the smallest budget that show it.
func TestTruncateProperties(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "error", " ", " ", "\n", "。", "中文", "😀", "é", ".", "? ", "12345", "\xff", "snake_case", "…", "日本語です。", "\t"})
	counters := []*Counter{New(O200K, nil), New(Gemma3, nil), New(Claude5, nil), New(Unknown, nil), New(O200K, &Options{Exact: true}), New(Llama3, &Options{Exact: true})}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(words, 0, 120).Draw(t, "words"), "")
		for _, c := range counters {
			for most := rapid.IntRange(-2, 20).Draw(t, "most"); most < 80; most += 7 {
				got := c.Truncate(s, most)
				if wrong := checkTruncated(c, s, got, most); wrong != "" {
					t.Fatalf("%s, Truncate(%q, %d) = %q (%d tokens): %s", c.Family(), s, most, got, c.Text(got), wrong)
				}
			}
		}
	})
}

// TestTruncateUsesTheBudget checks that prose is not cut much earlier than needed.
func TestTruncateUsesTheBudget(t *testing.T) {
	s := mixedText(40000)
	for _, c := range []*Counter{New(O200K, nil), New(Tekken, &Options{Exact: true})} {
		for _, most := range []int{50, 200, 1000, 5000} {
			if got := c.Text(c.Truncate(s, most)); got > most || got < most/2-1 {
				t.Errorf("%s: %d tokens for a budget of %d", c.Method(), got, most)
			}
		}
	}
}

func FuzzTruncate(f *testing.F) {
	c := New(O200K, nil)
	f.Add("One. Two three four five.", 4)
	f.Add("中文没有空格。下一句。", 3)
	f.Add("\xf0\x9f\x98", 1)
	f.Add("OOOOOOO\xb2\xa1有空格。下一句。", 8)
	f.Fuzz(func(t *testing.T, s string, most int) {
		got := c.Truncate(s, most)
		if wrong := checkTruncated(c, s, got, most); wrong != "" {
			t.Fatalf("Truncate(%q, %d) = %q: %s", s, most, got, wrong)
		}
	})
}
