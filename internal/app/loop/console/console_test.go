package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/hinshun/vt10x"

	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// names writes keys as words.
func names(keys []key) string {
	var out []string
	for _, k := range keys {
		switch k.name {
		case keyText:
			out = append(out, fmt.Sprintf("%q", k.text))
		case keyPaste:
			out = append(out, fmt.Sprintf("paste %q", k.text))
		default:
			out = append(out, k.name)
		}
	}
	return strings.Join(out, " ")
}

func TestDecoder(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"abc", `"abc"`},
		{"aé漢👩🔧", `"aé漢👩🔧"`},
		{"a\rb", `"a" enter "b"`},
		{"\x01\x05\x0b\x15\x17\x19", "home end kill-right kill-left kill-word yank"},
		{"\x1b[A\x1b[B\x1b[C\x1b[D\x1b[H\x1b[F\x1bOA", "up down right left home end up"},
		{"\x1b[1~\x1b[4~\x1b[3~\x1b[1;5C\x1b[1;3D\x1bb\x1bf\x1b\x7f", "home end delete word-right word-left word-left word-right kill-word"},
		{"\x1b\r\n\x1b[13;2u\x1b[13u", "newline newline newline enter"},
		{"\x03\x04\x0c\x1a\t\x7f", "interrupt eof redraw suspend tab backspace"},
		{"\x1b[200~one\r\ntwo\rthree\x07\x1b[31m\x1b[201~x", `paste "one\ntwo\nthree[31m" "x"`},
		{"\x1b[200~\x1b[201~", `paste ""`},
		{"\x1b[?1;2c\x1b[99z\x1bx\x00", "other other other other"},
	} {
		var d decoder
		if got := names(d.feed([]byte(c.in))); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
		// Byte by byte it is the same, apart from where text is cut.
		var one decoder
		var keys []key
		for i := range len(c.in) {
			keys = append(keys, one.feed([]byte{c.in[i]})...)
		}
		if got, want := strings.ReplaceAll(names(keys), `" "`, ""), strings.ReplaceAll(c.want, `" "`, ""); got != want {
			t.Errorf("%q byte by byte: %s, want %s", c.in, got, want)
		}
	}
}

// An escape that nothing follows on for a while is the key of that name: what
// is typed after it is text. The rest of a sequence still makes one.
func TestDecoderLate(t *testing.T) {
	const late = "…" // a while in which nothing comes
	for _, c := range []struct {
		in   []string
		want string
	}{
		{[]string{"\x1b", late, "a"}, `other "a"`},
		{[]string{"\x1b", late, "b", "f"}, `other "b" "f"`},
		{[]string{"\x1b", late, "[", "D", "ocs"}, `other "[D" "ocs"`},
		{[]string{"\x1b", late, "[", "\r"}, `other "[" enter`},
		{[]string{"\x1b", late, "[2", late, "1]"}, `other "[21]"`},
		{[]string{"\x1b", late, "\x1b", late, "x"}, `other other "x"`},
		{[]string{"\x1b", late, "[A"}, "up"},
		{[]string{"\x1b", late, "OB"}, "down"},
		{[]string{"\x1b[1;", late, "5C"}, "word-right"},
		{[]string{"\x1b", "b"}, "word-left"},
		{[]string{"\x1bO", late, "\r"}, "other enter"},
		{[]string{"\x1b[", late, "\r"}, "other enter"},
		{[]string{"\x1b[1", late, "\x1b[200~", late, "x\x1b[20", late, "1~"}, `other paste "x"`},
	} {
		var d decoder
		var keys []key
		for _, s := range c.in {
			if s == late {
				d.late()
				continue
			}
			keys = append(keys, d.feed([]byte(s))...)
		}
		if got := names(keys); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}

// pace feeds a decoder in pieces that end where cut says, and lets a while pass
// after those that late says.
func pace(in string, cut, late func(at int) bool) []key {
	var d decoder
	var keys []key
	for from, i := 0, 1; i <= len(in); i++ {
		if i < len(in) && !cut(i) {
			continue
		}
		keys = append(keys, d.feed([]byte(in[from:i]))...)
		from = i
		if late(i) {
			d.late()
		}
	}
	return keys
}

// A slow link cuts what is sent anywhere and takes its time: a paste is whole
// all the same, and so is what stands around it.
func TestPasteAtAnyPace(t *testing.T) {
	const in, want = "look: \x1b[200~one\rtwo\x1b[2A 漢\x1b[201~ there\r\x1b[200~\x1b[201~!", `"look: " paste "one\ntwo[2A 漢" " there" enter paste "" "!"`
	always, never := func(int) bool { return true }, func(int) bool { return false }
	check := func(what string, keys []key) {
		t.Helper()
		if got := names(joined(keys)); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("at once", pace(in, never, always))
	check("byte by byte", pace(in, always, never))
	check("byte by byte and slowly", pace(in, always, always))
	for i := 1; i < len(in); i++ {
		for j := i; j < len(in); j++ {
			cut := func(at int) bool { return at == i || at == j }
			check(fmt.Sprintf("cut at %d and %d", i, j), pace(in, cut, cut))
			check(fmt.Sprintf("byte by byte, slow at %d and %d", i, j), pace(in, always, cut))
		}
	}
}

// joined makes one of texts that follow on each other.
func joined(keys []key) []key {
	var out []key
	for _, k := range keys {
		if n := len(out); n > 0 && k.name == keyText && out[n-1].name == keyText {
			out[n-1].text += k.text
			continue
		}
		out = append(out, k)
	}
	return out
}

// However bytes are cut, keys are the same, and nothing that steers a terminal
// gets into the text. However slowly they come, pastes are the same.
func FuzzDecoder(f *testing.F) {
	for _, s := range []string{"abc\r", "\x1b[200~paste\r\x1b[201~\x1b[A", "\x1b\x1b[1;5D\xff\xfe漢", "\x1b[200~\x1b[201~\x1b[200~", "\x1b\x1bΎ", "\x1b[1\x1bO\x1b[200~x\x1b[201~"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, cut uint8) {
		text := func(keys []key) string {
			var b strings.Builder
			for _, k := range keys {
				if k.name != keyText {
					b.WriteString("<" + k.name + ">")
				}
				b.WriteString(k.text)
			}
			return b.String()
		}
		pastes := func(keys []key) string {
			return names(slices.DeleteFunc(keys, func(k key) bool { return k.name != keyPaste }))
		}
		pieces := func(at int) bool { return at%(int(cut)%7+1) == 0 }
		var d decoder
		whole := d.feed(in)
		want := text(whole)
		if got := text(pace(string(in), pieces, func(int) bool { return false })); utf8.Valid(in) && got != want {
			t.Errorf("%q in pieces: %q, whole: %q", in, got, want)
		}
		if strings.ContainsFunc(want, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("%q gives %q", in, want)
		}
		slow := func(at int) bool { return cut>>3&(1<<(at%5)) != 0 }
		if got, want := pastes(pace(string(in), pieces, slow)), pastes(whole); got != want {
			t.Errorf("%q in slow pieces: %s, whole: %s", in, got, want)
		}
	})
}

// keysOf presses keys on an editor.
func keysOf(e *editor, in string) {
	var d decoder
	for _, k := range d.feed([]byte(in)) {
		if k.name == keyEnter {
			e.enter()
			continue
		}
		e.press(k)
	}
}

func TestEditor(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"hello\x1b[D\x1b[Dx", "helxlo"},
		{"hello world\x17", "hello "},
		{"hello world\x01\x0b", ""},
		{"hello world\x01\x0b\x19\x19", "hello worldhello world"},
		{"one two\x1bb\x1bb\x15three ", "three one two"},
		{"one two\x1bb\x15\x19", "one two"},
		{"one\ntwo\x1b[Ax", "onex\ntwo"},
		{"one\ntwo\x1b[A\x01x\x1b[B\x05y", "xone\ntwoy"},
		{"first\rsecond\r\x1b[A", "second"},
		{"first\rsecond\rthi\x1b[A\x1b[A\x1b[A", "first"},
		{"first\rsecond\rthi\x1b[A\x1b[A\x1b[B\x1b[B", "thi"},
		{"first\rfirst\r\x1b[A\x1b[A", "first"},
		{"👩‍🔧é\x7f\x7f", ""},
		{"ab\x1b[D\x1b[3~", "a"},
		{"\x1b[200~" + strings.Repeat("x", 3000) + "\x1b[201~y\x7f\x7f", ""},
		{"\x7f\x1b[3~\x17\x0b\x15\x1b[D\x1b[C\x1b[A\x1b[B", ""},
	} {
		var e editor
		keysOf(&e, c.keys)
		if got := e.text(); got != c.want {
			t.Errorf("%.60q: %.60q, want %q", c.keys, got, c.want)
		}
		if e.pos < 0 || e.pos > len(e.atoms) {
			t.Errorf("%.60q: the cursor is at %d of %d", c.keys, e.pos, len(e.atoms))
		}
	}
	var e editor
	keysOf(&e, `one\`)
	if !e.continues() || e.text() != "one" {
		t.Errorf("%q", e.text())
	}
}

// Whatever is typed, no row is wider than the screen, and the cursor is in one.
func TestLayout(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("long ", 60), "one\ntwo\n\nthree", strings.Repeat("漢字", 50), "tab\there", strings.Repeat("line\n", 19), strings.Repeat("x", 5000)} {
		for width := 2; width < 120; width += 7 {
			for _, at := range []int{0, 1, 2} {
				var e editor
				e.paste(text)
				e.pos = len(e.atoms) * at / 2
				rows, row, col := e.layout("> ", width, 6)
				if len(rows) > 6 || row < 0 || row >= len(rows) || col < 0 || col > width {
					t.Fatalf("%.20q at width %d: %d rows, cursor %d,%d", text, width, len(rows), row, col)
				}
				for _, r := range rows {
					if w := ansi.StringWidth(r); w > max(width, 4) {
						t.Fatalf("%.20q at width %d: a row of %d", text, width, w)
					}
				}
			}
		}
	}
}

// Text that comes in pieces looks as text that comes whole, words are not
// broken, and nothing is lost.
func TestShow(t *testing.T) {
	text := "The quick brown fox jumps over the lazy dog, again and again and again. " +
		"A-word-that-is-far-too-long-for-any-row-of-this-terminal-and-has-to-be-broken-somewhere then on.\n" +
		"\tindented, and some more words and äöü\n\nThe end of it, which ends at the margin exactly."
	show := func(size int) string {
		vt := vt10x.New(vt10x.WithSize(40, 30))
		c := &Console{o: Options{Prompt: "> "}, cols: 40, rows: 30}
		pieces := []rune(text)
		for len(pieces) > 0 {
			n := min(size, len(pieces))
			var b strings.Builder // as show does, without a file
			b.WriteString(c.erasing())
			if c.column > 0 {
				b.WriteString("\x1b[A\r" + right(c.column))
			}
			c.lay(&b, string(pieces[:n]))
			if c.column > 0 {
				b.WriteString("\r\n")
			}
			b.WriteString(c.drawing())
			_, _ = vt.Write([]byte(b.String()))
			pieces = pieces[n:]
		}
		return vt.String()
	}
	whole := show(10000)
	for _, size := range []int{1, 2, 3, 7, 13, 40, 41} {
		if got := show(size); got != whole {
			t.Errorf("in pieces of %d:\n%s\nwhole:\n%s", size, got, whole)
		}
	}
	for _, want := range []string{"The quick brown fox jumps over the lazy\n", "A-word-that", "        indented", "ends at the margin\n", "exactly.\n>"} {
		found := false
		var rows []string
		for r := range strings.SplitSeq(whole, "\n") {
			rows = append(rows, strings.TrimRight(r, " "))
		}
		if found = strings.Contains(strings.Join(rows, "\n"), want); !found {
			t.Errorf("%q is not in\n%s", want, strings.Join(rows, "\n"))
		}
	}
}

// TestHostileHistory holds that a line of a session's history that is gone back
// to is shown and steers nothing; what is sent stays as it was.
func TestHostileHistory(t *testing.T) {
	const text = "a\x1b]52;c;aGk=\x07\x1b[2J\u009b31m\x1b[8m\r\x7f\u202e\r\nb\tc"
	e := &editor{history: []string{text}, at: 1}
	e.press(key{name: keyUp})
	rows, _, _ := e.layout("> ", 20, 10)
	for _, row := range rows {
		if strings.ContainsFunc(row, func(r rune) bool { return termsafe.Hidden(r) || r == '\n' || r == '\t' }) {
			t.Errorf("the terminal gets %q", row)
		}
	}
	if !strings.Contains(strings.ReplaceAll(strings.Join(rows, ""), " ", ""), `\u001b]52;c;`) {
		t.Errorf("what stands there cannot be seen: %q", rows)
	}
	if e.text() != text {
		t.Errorf("the line is %q", e.text())
	}
}
