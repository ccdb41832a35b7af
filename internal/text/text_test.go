package text

import (
	"bytes"
	"testing"
)

func TestCuts(t *testing.T) {
	for _, c := range []struct {
		s                 string
		n                 int
		head, clip, runes string
	}{
		{"abc", 3, "abc", "abc", "abc"},
		{"abcd", 3, "abc", "abc…", "abc"},
		{"aé€😀", 2, "a", "a…", "aé"},
		{"aé€😀", 3, "aé", "aé…", "aé€"},
		{"aé€😀", 7, "aé€", "aé€…", "aé€😀"},
		{"😀", 0, "", "…", ""},
		{"", 0, "", "", ""},
	} {
		if h, l, r := Head(c.s, c.n), Clip(c.s, c.n), Runes(c.s, c.n); h != c.head || l != c.clip || r != c.runes {
			t.Errorf("%q, %d: %q %q %q, want %q %q %q", c.s, c.n, h, l, r, c.head, c.clip, c.runes)
		}
	}
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 entry": Plural(1, "entry"), "0 entries": Plural(0, "entry"), "1,200 files": Plural(1200, "file"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCommon(t *testing.T) {
	long := bytes.Repeat([]byte("a"), 10_000)
	other := bytes.Clone(long)
	for _, at := range []int{0, 1, 4095, 4096, 4097, 8191, 8192, 9_999} {
		other[at] = 'b'
		if n := Common(long, other); n != at {
			t.Errorf("they differ at %d, not at %d", at, n)
		}
		other[at] = 'a'
	}
	if n := Common(long, long[:5_000]); n != 5_000 {
		t.Errorf("the shorter one ends at 5,000, not at %d", n)
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -100: "-100", -1000: "-1,000", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
