//go:build unix

package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// ptyDeadline is how long anything is waited for before a test fails. It is long,
// because machines that run tests may be busy.
const ptyDeadline = 2 * time.Minute

// What keys send.
const (
	keyEnter    = "\r"
	keyEsc      = "\x1b"
	keyTab      = "\t"
	keyDown     = "\x1b[B"
	keyPageDown = "\x1b[6~"
	keyCtrlC    = "\x03"
	keyCtrlD    = "\x04"
	keyCtrlU    = "\x15"
)

// terminal is a command in a real pseudo-terminal, and what a person would see of it.
//
//	term := startTerminal(t, 80, 24, exec.Command(winnow, "tree", "session.jsonl"))
//	term.WaitFor("? help")
//	term.Send(keyDown, keyEnter)
//	term.Resize(200, 50)
//	term.Send("q")
//	if code := term.Wait(); code != 0 { … }
//	term.CheckSane() // it was left as a shell needs it
//
// Every wait has a deadline and fails with the screen in its message, and with what
// the command was doing, which a Go program tells.
type terminal struct {
	t      testing.TB
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	before *term.State
	after  *term.State

	read   chan struct{} // closed when all output was read
	exited chan struct{} // closed when the command is over
	code   int

	mu      sync.Mutex
	screen  *screen
	changed chan struct{} // closed and renewed with every piece of output
	output  int
}

// startTerminal runs a command in a new terminal. Where the command has no
// environment of its own it gets the present one with TERM=xterm-256color. The
// command is ended with the test.
func startTerminal(t testing.TB, cols, rows int, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatalf("pty: no pseudo-terminal: %v", err)
	}
	tt := &terminal{
		t: t, cmd: cmd, master: master, slave: slave, screen: newScreen(cols, rows),
		read: make(chan struct{}), exited: make(chan struct{}), changed: make(chan struct{}),
	}
	if err := pty.Setsize(master, windowSize(cols, rows)); err != nil {
		t.Fatalf("pty: set the size: %v", err)
	}
	if tt.before, err = term.GetState(int(slave.Fd())); err != nil {
		t.Fatalf("pty: read the terminal's settings: %v", err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	if cmd.Env == nil { // not the terminal that the test runs in
		cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	}
	// A test that runs in the background may have been started with interrupts
	// ignored, which its children would inherit: a signal that is caught here is
	// not ignored there.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGQUIT)
	err = cmd.Start()
	signal.Stop(caught)
	if err != nil {
		t.Fatalf("pty: start %v: %v", cmd.Args, err)
	}
	go tt.readAll()
	go tt.waitAll()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-tt.exited
		_ = master.Close()
	})
	return tt
}

func windowSize(cols, rows int) *pty.Winsize {
	return &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)} //nolint:gosec // sizes of terminals are small
}

func (tt *terminal) readAll() {
	defer close(tt.read)
	buf := make([]byte, 64<<10)
	for {
		n, err := tt.master.Read(buf)
		if n > 0 {
			tt.mu.Lock()
			reply := tt.screen.write(buf[:n])
			tt.output += n
			close(tt.changed)
			tt.changed = make(chan struct{})
			tt.mu.Unlock()
			if len(reply) > 0 {
				_, _ = tt.master.Write(reply)
			}
		}
		if err != nil {
			return // EIO: nobody has the other side open any more
		}
	}
}

func (tt *terminal) waitAll() {
	err := tt.cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		tt.code = exit.ExitCode()
	case err != nil:
		tt.code = -1
	}
	tt.after, _ = term.GetState(int(tt.slave.Fd()))
	_ = tt.slave.Close()
	select { // what is left of the output; a child of the command may keep it open
	case <-tt.read:
	case <-time.After(ptyDeadline / 4):
	}
	close(tt.exited)
}

// Send presses keys: characters as they are, and the key constants.
func (tt *terminal) Send(keys ...string) {
	tt.t.Helper()
	tt.writeInput(strings.Join(keys, ""))
}

// Paste pastes a text, marked as pasted where the command asked for that.
func (tt *terminal) Paste(text string) {
	tt.t.Helper()
	if look(tt, func(s *screen) bool { return s.modes[2004] }) {
		text = "\x1b[200~" + text + "\x1b[201~"
	}
	tt.writeInput(text)
}

func (tt *terminal) writeInput(s string) {
	tt.t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := io.WriteString(tt.master, s)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			tt.t.Fatalf("pty: send %q: %v\n%s", briefText(s), err, tt.Screen())
		}
	case <-tt.exited:
	case <-time.After(ptyDeadline):
		tt.failStuck("the command does not read what is sent (%q)", briefText(s))
	}
}

func briefText(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// Resize changes the terminal's size.
func (tt *terminal) Resize(cols, rows int) {
	tt.t.Helper()
	tt.mu.Lock()
	tt.screen.resize(cols, rows)
	tt.mu.Unlock()
	if err := pty.Setsize(tt.master, windowSize(cols, rows)); err != nil {
		tt.t.Fatalf("pty: resize: %v", err)
	}
}

// Signal sends the command a signal.
func (tt *terminal) Signal(sig os.Signal) { _ = tt.cmd.Process.Signal(sig) }

// look asks the screen for something while nothing is written to it.
func look[T any](tt *terminal, ask func(*screen) T) T {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	return ask(tt.screen)
}

// Screen returns the lines of the screen without spaces at their ends.
func (tt *terminal) Screen() string { return look(tt, (*screen).text) }

// Cells returns the screen, line by line.
func (tt *terminal) Cells() [][]screenCell { return look(tt, (*screen).cells) }

// AltScreen reports whether the command has the alternate screen up.
func (tt *terminal) AltScreen() bool { return look(tt, (*screen).isAlternate) }

// Output returns how many bytes the command has written so far.
func (tt *terminal) Output() int { return look(tt, func(*screen) int { return tt.output }) }

// WaitFor waits until a text stands on the screen, on one line.
func (tt *terminal) WaitFor(text string) {
	tt.t.Helper()
	tt.Until(fmt.Sprintf("%q on the screen", text), func(s string) bool { return strings.Contains(s, text) })
}

// WaitGone waits until a text stands on the screen no more.
func (tt *terminal) WaitGone(text string) {
	tt.t.Helper()
	tt.Until(fmt.Sprintf("%q gone from the screen", text), func(s string) bool { return !strings.Contains(s, text) })
}

// Until waits until the screen is as wanted; what says what that is.
func (tt *terminal) Until(what string, ok func(screen string) bool) {
	tt.t.Helper()
	deadline := time.NewTimer(ptyDeadline)
	defer deadline.Stop()
	for {
		tt.mu.Lock()
		screen, changed := tt.screen.text(), tt.changed
		tt.mu.Unlock()
		if ok(screen) {
			return
		}
		select {
		case <-changed:
		case <-tt.exited:
			if ok(tt.Screen()) {
				return
			}
			tt.t.Fatalf("pty: waited for %s, but the command ended with %d; the screen:\n%s", what, tt.code, tt.Screen())
			return
		case <-deadline.C:
			tt.failStuck("waited for %s in vain", what)
			return
		}
	}
}

// Wait waits until the command is over and all its output was read, and returns
// its exit code; -1 when a signal ended it.
func (tt *terminal) Wait() int {
	tt.t.Helper()
	select {
	case <-tt.exited:
	case <-time.After(ptyDeadline):
		tt.failStuck("the command does not end")
	}
	return tt.code
}

// failStuck fails the test over a command that does not do what it should, with the
// screen. SIGQUIT makes a Go program print there what it was doing.
func (tt *terminal) failStuck(format string, args ...any) {
	tt.t.Helper()
	screen := tt.Screen()
	tt.Signal(syscall.SIGQUIT)
	select {
	case <-tt.exited:
	case <-time.After(ptyDeadline / 4):
	}
	tt.t.Fatalf("pty: %s; the screen:\n%s\nwhat it did:\n%s", fmt.Sprintf(format, args...), screen, tt.Screen())
}

// Insane returns what a command that is over left wrong with the terminal:
// nothing, if the next program finds it as this one did.
func (tt *terminal) Insane() []string {
	tt.t.Helper()
	tt.Wait()
	tt.mu.Lock()
	defer tt.mu.Unlock()
	wrong := tt.screen.findLeftovers()
	if !reflect.DeepEqual(tt.before, tt.after) {
		wrong = append(wrong, "the terminal's settings (raw mode, echo) are not as they were")
	}
	return wrong
}

// CheckSane fails the test when the command left the terminal in another state
// than it found it in.
func (tt *terminal) CheckSane() {
	tt.t.Helper()
	if wrong := tt.Insane(); len(wrong) > 0 {
		tt.t.Errorf("pty: the terminal was left in a bad state: %s", strings.Join(wrong, "; "))
	}
}
