//go:build unix

package console

import (
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// terminal is a console on a pseudo-terminal; what is written to keys is typed.
type terminal struct {
	*Console
	t     *testing.T
	keys  *os.File
	shown *sent
}

// sent is what the terminal was sent.
type sent struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sent) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// frame is what stands between the pieces of a text that was sent in two frames.
var frame = regexp.MustCompile(`\x1b\[\?25[hl]`)

// shows waits until the terminal was sent a text.
func (m *terminal) shows(want string) {
	m.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		m.shown.mu.Lock()
		got := m.shown.text.String()
		m.shown.mu.Unlock()
		if strings.Contains(frame.ReplaceAllString(got, ""), want) {
			return
		}
		if time.Now().After(end) {
			m.t.Fatalf("%q is not shown in a minute: %.2000q", want, got)
		}
	}
}

// open opens a console. What is typed before comes while the terminal still
// belongs to a shell.
func open(t *testing.T, before string) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if before != "" {
		if _, err := master.WriteString(before); err != nil {
			t.Fatal(err)
		}
		// The terminal echoes what it has taken in.
		if _, err := io.ReadFull(master, make([]byte, len(before))); err != nil {
			t.Fatal(err)
		}
	}
	shown := &sent{}
	go func() { _, _ = io.Copy(shown, master) }()
	c, err := Open(slave, slave, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		_ = slave.Close()
		_ = master.Close()
	})
	return &terminal{c, t, master, shown}
}

// typing types a text.
func (m *terminal) typing(text string) {
	m.t.Helper()
	if _, err := m.keys.WriteString(text); err != nil {
		m.t.Fatal(err)
	}
}

// line waits for a line to be entered.
func (m *terminal) line(want string) {
	m.t.Helper()
	select {
	case e := <-m.Events():
		if e.Kind != Line || e.Text != want {
			m.t.Errorf("%+v, want the line %q", e, want)
		}
	case <-time.After(time.Minute):
		m.t.Fatalf("the line %q does not come", want)
	}
}

// Keys typed before the console started are entered like all others, even Enter,
// which the terminal had turned into the end of a line.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	m := open(t, "first\rsec")
	m.line("first")
	m.typing("ond\nline\r") // here it is the key that starts a new line
	m.line("second\nline")
}

// A paste is one piece, whatever stands in it.
func TestPaste(t *testing.T) {
	t.Parallel()
	m := open(t, "")
	m.typing("look: \x1b[200~one\rtwo \x07\r\x1b[201~ there\r")
	m.line("look: one\ntwo \n there")
}

// A paste does not answer a question. It is not lost either.
func TestPasteWhileAsked(t *testing.T) {
	t.Parallel()
	m := open(t, "")
	m.typing("see ")
	m.shows("see")
	answer := make(chan string)
	go func() {
		text, err := m.Ask(context.Background(), "allow it? ")
		if err != nil {
			t.Error(err)
		}
		answer <- text
	}()
	m.shows("allow it?")
	m.typing("\x1b[200~yes\x1b[201~n\r")
	if got := <-answer; got != "n" {
		t.Errorf("the answer is %q", got)
	}
	m.typing("!\r")
	m.line("see yes!")
}

// The console shows a model's text, and the text steers nothing, even where nobody
// cleaned it.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	m := open(t, "")
	if _, err := m.Write([]byte("a\x1b]52;c;aGk=\x07\x1b[2Jb " + termsafe.Paint("31", "red") + " end\n")); err != nil {
		t.Fatal(err)
	}
	m.shows(`a\u001b]52;c;aGk=\u0007\u001b[2Jb ` + "\x1b[31mred\x1b[0m end")
}
