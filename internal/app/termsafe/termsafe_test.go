package termsafe

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestText shows what becomes of texts that would steer a terminal.
func TestText(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "gpt-5 – größer 世界 👩‍💻\n\ttab", "gpt-5 – größer 世界 👩‍💻\n\ttab"},
		{"own colour", Paint("31", "red"), "\x1b[31mred\x1b[0m"},
		{"colour of a file", "\x1b[8mhidden\x1b[0m", `\u001b[8mhidden\u001b[0m`},
		{"clipboard", "a\x1b]52;c;aGk=\x07b", `a\u001b]52;c;aGk=\u0007b`},
		{"title", "\x1b]0;t\x1b\\", `\u001b]0;t\u001b\`},
		{"carriage return", "safe\rrm -rf", `safe\u000drm -rf`},
		{"one-byte control", "\u009b31m", `\u009b31m`},
		{"delete", "a\x7f", `a\u007f`},
		{"direction", "abc\u202ecod.exe\u2066", `abc\u202ecod.exe\u2066`},
		{"tag", "a\U000e0041", `a\udb40\udc41`},
		{"no UTF-8", "a\x9bb", "a\ufffdb"},
		{"cut off", "a\xe4\xb8", "a\ufffd\ufffd"},
		{"escape at the end", "a\x1b", `a\u001b`},
		{"mark without its end", mark + "31", `\u001b` + mark[1:] + "31"},
		{"mark with another end", mark + "2J", `\u001b` + mark[1:] + "2J"},
	} {
		if got := Text(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestJSONStaysJSON holds that a document says the same behind the filter.
func TestJSONStaysJSON(t *testing.T) {
	in := map[string]string{"name": "a\x1b]0;t\x07\u009b2J\x7f\u202e\U000e0041é"}
	doc, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	safe := Text(string(doc))
	var out map[string]string
	if err := json.Unmarshal([]byte(safe), &out); err != nil || out["name"] != in["name"] {
		t.Errorf("%s reads as %q, %v", safe, out["name"], err)
	}
	if strings.ContainsFunc(safe, Hidden) {
		t.Errorf("%q is not safe", safe)
	}
}

// FuzzWriter writes a text in pieces of every size: the pieces never change
// what arrives, and nothing arrives that a terminal obeys but own colours.
func FuzzWriter(f *testing.F) {
	for _, s := range []string{"a\x1b[2Jb", "\u009b1m\u202e", "\xf0\x9f\x91", "世界\x1b"} {
		f.Add(s, uint8(1))
	}
	colour := regexp.MustCompile("\x1b\\[[0-9;]*m")
	f.Fuzz(func(t *testing.T, s string, size uint8) {
		text := Paint("1", "x"+s) + s + mark
		var b bytes.Buffer
		w := NewWriter(&b)
		for p := text; p != ""; {
			n := min(int(size)+1, len(p))
			if got, err := w.Write([]byte(p[:n])); got != n || err != nil {
				t.Fatal(got, err)
			}
			p = p[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != Text(text) {
			t.Errorf("in pieces of %d: %q, at once %q", int(size)+1, got, Text(text))
		}
		rest := colour.ReplaceAllString(b.String(), "")
		if !utf8.ValidString(rest) || strings.ContainsFunc(rest, Hidden) {
			t.Errorf("%q reaches the terminal", b.String())
		}
		if n := len(colour.FindAllString(b.String(), -1)); n != 2 {
			t.Errorf("%d colours, want the own two: %q", n, b.String())
		}
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("full") }

// TestWriterError holds that the error of the writer behind is told.
func TestWriterError(t *testing.T) {
	w := NewWriter(broken{})
	if n, err := w.Write([]byte("a")); n != 0 || err == nil {
		t.Error(n, err)
	}
}

// TestPlain makes text safe to lay out: what steers is gone or visible, and nothing
// has a width that terminals disagree about.
func TestPlain(t *testing.T) {
	for _, c := range [][2]string{
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b]0;title\x07text", "text"},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"lone \x1b", `lone \u001b`},
		{"\x1b]0;never ended\nnext", `\u001b]0;never ended` + "\nnext"},
		{"bell\x07 a\x9bb a\u009bb", `bell\u0007 a` + "\ufffd" + `b a\u009bb`},
		{"exe.\u202egpj", `exe.\u202egpj`},
		{"10 %\r20 %\r\nend\u2028", "10 %\n20 %\nend\n"},
		{"\tx\nab\ty\u00a0z", "    x\nab  y z"},
		{"zero\u200bwidth ❤\ufe0f \U0001f9d1\u200d\U0001f33e", "zerowidth ❤ \U0001f9d1\U0001f33e"},
		{"e\u0301\u0301\u0301\u0301\u0301 世界", "e\u0301\u0301\u0301 世界"},
	} {
		if got := Plain(c[0]); got != c[1] {
			t.Errorf("Plain(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}
