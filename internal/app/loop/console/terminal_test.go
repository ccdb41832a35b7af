//go:build unix

package console

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// terminal is a console on a pseudo-terminal; what is written to keys is typed.
type terminal struct {
	*Console
	t    *testing.T
	keys *os.File
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
	go func() { _, _ = io.Copy(io.Discard, master) }()
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
	return &terminal{c, t, master}
}

// typing types pieces with pauses that are longer than an escape is waited for.
func (m *terminal) typing(pieces ...string) {
	m.t.Helper()
	for i, p := range pieces {
		if i > 0 {
			time.Sleep(escapeAlone + escapeAlone/2)
		}
		if _, err := m.keys.WriteString(p); err != nil {
			m.t.Fatal(err)
		}
	}
}

// until waits until the console is as wanted.
func (m *terminal) until(ok func() bool) {
	m.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		m.mu.Lock()
		done := ok()
		m.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(end) {
			m.t.Fatal("waited for a minute in vain")
		}
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

// What was typed before the console was there is entered like all else, Enter
// too, which the terminal had turned into the end of a line.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	m := open(t, "first\rsec")
	m.line("first")
	m.typing("ond\nline\r") // here it is the key that starts a new line
	m.line("second\nline")
}

// A paste comes whole over a link that cuts it within its marks and is slow.
func TestSlowPaste(t *testing.T) {
	t.Parallel()
	m := open(t, "")
	m.typing("look: \x1b", "[20", "0~one\r\x1b[2", "01 two\r\x1b", "[201", "~ there\r")
	m.line("look: one\n[201 two\n there")
}

// A paste does not answer a question. It is not lost either.
func TestPasteWhileAsked(t *testing.T) {
	t.Parallel()
	m := open(t, "")
	m.typing("see ")
	m.until(func() bool { return m.ed.text() == "see " })
	answer := make(chan string)
	go func() {
		text, err := m.Ask(context.Background(), "allow it? ")
		if err != nil {
			t.Error(err)
		}
		answer <- text
	}()
	m.until(func() bool { return m.ask != nil })
	m.typing("\x1b[200~yes\x1b[201~n\r")
	if got := <-answer; got != "n" {
		t.Errorf("the answer is %q", got)
	}
	m.typing("!\r")
	m.line("see yes!")
}

// What a model writes is shown and steers nothing, whoever forgot to clean it.
func TestHostileOutput(t *testing.T) {
	t.Parallel()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	c, err := Open(slave, slave, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("a\x1b]52;c;aGk=\x07\x1b[2Jb " + termsafe.Paint("31", "red") + " end\n")); err != nil {
		t.Fatal(err)
	}
	var got string
	for buf := make([]byte, 4096); !strings.Contains(got, " end"); {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got += string(buf[:n])
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	_ = slave.Close()
	if want := `a\u001b]52;c;aGk=\u0007\u001b[2Jb ` + "\x1b[31mred\x1b[0m end"; !strings.Contains(got, want) {
		t.Errorf("the terminal got %q, want %q in it", got, want)
	}
}
