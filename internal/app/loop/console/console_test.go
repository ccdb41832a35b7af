package console

import (
	"io"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// typing presses keys on a model: names of keys, and everything else as text.
func typing(m *model, keys ...string) {
	named := map[string]tea.Key{
		"enter": {Code: tea.KeyEnter}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft},
		"backspace": {Code: tea.KeyBackspace}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+j": {Code: 'j', Mod: tea.ModCtrl},
		"tab": {Code: tea.KeyTab},
	}
	for _, k := range keys {
		if key, ok := named[k]; ok {
			m.Update(tea.KeyPressMsg(key))
			continue
		}
		for _, r := range k {
			m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func newTestModel(o Options) *model {
	o.Prompt = "> "
	return newModel(&Console{events: make(chan Event, 64), closing: make(chan struct{})}, o)
}

// Lines are edited, gone back to, and entered as they were meant.
func TestLine(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"hello", "left", "left", "x"}, "helxlo"},
		{[]string{"hello world", "ctrl+w"}, "hello "},
		{[]string{"one", "ctrl+j", "two", "up", "x"}, "onex\ntwo"},
		{[]string{`one\`, "enter", "two"}, "one\ntwo"},
		{[]string{"first", "enter", "second", "enter", "up"}, "second"},
		{[]string{"first", "enter", "second", "enter", "thi", "up", "up", "up"}, "first"},
		{[]string{"first", "enter", "second", "enter", "thi", "up", "up", "down", "down"}, "thi"},
		{[]string{"first", "enter", "first", "enter", "up", "up"}, "first"},
		{[]string{"/com", "tab"}, "/compact"},
	} {
		m := newTestModel(Options{Complete: func(string) []string { return []string{"/compact"} }})
		typing(m, c.keys...)
		if got := m.area.Value(); got != c.want {
			t.Errorf("%q: %q, want %q", c.keys, got, c.want)
		}
	}
}

// What stands in a session's history, or is pasted, is sent as it was, and steers
// nothing while it is shown.
func TestHostileHistory(t *testing.T) {
	const text = "a\x1b]52;c;aGk=\x07\x1b[2J\u009b31m\x1b[8m\x7f\u202e\nb\tc"
	m := newTestModel(Options{History: []string{text}})
	typing(m, "up")
	shown := m.View().Content
	if strings.ContainsFunc(shown, func(r rune) bool { return termsafe.Hidden(r) || r == '\t' }) || !strings.Contains(shown, "[pasted: 2 lines") {
		t.Errorf("the terminal gets %q", shown)
	}
	typing(m, " and", "enter")
	if e := <-m.c.events; e.Text != text+" and" {
		t.Errorf("sent: %q", e.Text)
	}
	m.Update(tea.PasteMsg{Content: strings.Repeat("x\r", 30)})
	m.Update(tea.PasteMsg{Content: strings.Repeat("y\r", 30)})
	typing(m, "enter")
	if e := <-m.c.events; e.Text != strings.Repeat("x\n", 30)+strings.Repeat("y\n", 30) {
		t.Errorf("sent: %q", e.Text)
	}
}

// A letter, or the end of a paste, that arrives in two pieces is read in one.
func TestNothingIsReadInHalves(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	k, buf := &keys{File: in}, make([]byte, 4096)
	paste := strings.Repeat("x", 300)
	for _, s := range []struct{ write, read string }{
		{"a\xc3", "a"},
		{"\xa4b\xf0\x9f\x91", "äb"},
		{"\xa9", "👩"},
		{"\xe6", "\xe6"},   // nothing else is there: the terminal may write another encoding
		{"c\x1b", "c\x1b"}, // a key
		{paste + "\x1b[20", paste},
		{"1~", "\x1b[201~"},
	} {
		if _, err := out.WriteString(s.write); err != nil {
			t.Fatal(err)
		}
		if n, err := k.Read(buf); err != nil || string(buf[:n]) != s.read {
			t.Errorf("%q: read %q, want %q (%v)", s.write, buf[:n], s.read, err)
		}
	}
	_ = out.Close()
	if n, err := k.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("at the end: %q %v", buf[:n], err)
	}
}
