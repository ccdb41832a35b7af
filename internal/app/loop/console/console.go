package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// Kind says what a person did.
type Kind int

// What a person can do.
const (
	Line      Kind = iota // entered Text
	Interrupt             // pressed Ctrl-C
	EOF                   // pressed Ctrl-D on an empty line, or the terminal is gone
)

// Event is something that a person did.
type Event struct {
	Kind Kind
	Text string

	// Again says of an interrupt that it followed another one with no key
	// between them.
	Again bool
}

// Options say how a console looks. The zero value works.
type Options struct {
	// Prompt stands before the line; the default is "> ".
	Prompt string

	// History are lines that can be gone back to, oldest first.
	History []string

	// Complete returns what the beginning of a line can become.
	Complete func(text string) []string
}

// Console is a terminal that was taken over. Its methods may be called by
// several goroutines.
type Console struct {
	in, out *os.File
	o       Options
	events  chan Event
	closing chan struct{}
	loop    sync.WaitGroup
	unwatch func()

	mu     sync.Mutex
	saved  *term.State
	reader cancelreader.CancelReader
	paused bool
	closed bool

	cols, rows int
	status     string
	ed         editor
	ask        *ask
	struck     bool // the last key was an interrupt

	screen
}

// ask is a question that waits for its answer.
type ask struct {
	prompt string
	ed     editor
	answer chan string
}

// ErrClosed says that the console is closed.
var ErrClosed = errors.New("the terminal is closed")

// Open takes a terminal over.
func Open(in, out *os.File, o Options) (*Console, error) {
	o.Prompt = cmp.Or(o.Prompt, "> ")
	c := &Console{in: in, out: out, o: o, events: make(chan Event, 64), closing: make(chan struct{})}
	c.ed.history = append(c.ed.history, o.History...)
	c.ed.clear()
	if err := c.take(); err != nil {
		return nil, err
	}
	c.unwatch = watchSize(c.resized)
	return c, nil
}

// take puts the terminal into the mode for editing and starts to read.
func (c *Console) take() error {
	saved, err := term.MakeRaw(int(c.in.Fd()))
	if err != nil {
		return fmt.Errorf("the terminal cannot be used: %w", err)
	}
	r, err := cancelreader.NewReader(c.in)
	if err != nil {
		_ = term.Restore(int(c.in.Fd()), saved)
		return fmt.Errorf("the terminal cannot be read: %w", err)
	}
	before := typedAhead(c.in.Fd())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.saved, c.reader, c.paused = saved, r, false
	c.measure()
	c.screen = screen{}
	c.send("\x1b[?2004h")
	c.draw()
	c.loop.Go(func() { c.read(r, before) })
	return nil
}

// give puts the terminal back as it was and stops reading.
func (c *Console) give() error {
	c.mu.Lock()
	if c.paused {
		c.mu.Unlock()
		return nil
	}
	c.paused = true
	c.erase()
	c.send("\x1b[?2004l\x1b[?25h")
	r, saved := c.reader, c.saved
	c.mu.Unlock()
	r.Cancel()
	c.loop.Wait()
	_ = r.Close()
	return term.Restore(int(c.in.Fd()), saved)
}

// Close gives the terminal back. What stands on it stays.
func (c *Console) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.mu.Unlock()
	close(c.closing)
	c.unwatch()
	return c.give()
}

// Pause gives the terminal to another program until Resume.
func (c *Console) Pause() error { return c.give() }

// Resume takes the terminal back after Pause.
func (c *Console) Resume() error {
	c.mu.Lock()
	no := c.closed || !c.paused
	c.mu.Unlock()
	if no {
		return nil
	}
	return c.take()
}

// Events tells what the person does.
func (c *Console) Events() <-chan Event { return c.events }

// SetStatus shows a row of status above the line; "" shows none.
func (c *Console) SetStatus(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status == text {
		return
	}
	c.status = text
	c.redraw()
}

// SetHistory replaces the lines that can be gone back to.
func (c *Console) SetHistory(lines []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ed.history = append([]string(nil), lines...)
	c.ed.at = len(c.ed.history)
}

// Clear throws the typed line away and reports whether there was one.
func (c *Console) Clear() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := !c.ed.empty()
	c.ed.clear()
	c.redraw()
	return was
}

// Width returns how many cells a row has.
func (c *Console) Width() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cols
}

// Ask shows a prompt in place of the line and returns what is entered. The
// line that was being typed is kept for later.
func (c *Console) Ask(ctx context.Context, prompt string) (string, error) {
	q := &ask{prompt: prompt, answer: make(chan string, 1)}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return "", ErrClosed
	}
	c.ask = q
	c.redraw()
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ask == q {
			c.ask = nil
			c.redraw()
		}
	}()
	select {
	case text := <-q.answer:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	case <-c.closing:
		return "", ErrClosed
	}
}

// Write shows text above the line. It may end in the middle of a line: what
// comes next goes on there.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.show(string(p))
	return len(p), nil
}

// escapeAlone is how long an escape is by itself before it counts as the key.
const escapeAlone = 100 * time.Millisecond

// read turns what is typed into events, until it is cancelled. In the bytes that
// were typed before the terminal was taken over, the end of a line is Enter.
func (c *Console) read(r io.Reader, before int) {
	chunks := make(chan []byte)
	ended := make(chan error, 1)
	go func() {
		for {
			buf := make([]byte, 32<<10)
			n, err := r.Read(buf)
			if n > 0 {
				chunks <- buf[:n]
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	var d decoder
	feed := func(p []byte) {
		for i := range min(before, len(p)) {
			if p[i] == '\n' {
				p[i] = '\r'
			}
		}
		before = max(0, before-len(p))
		for _, k := range d.feed(p) {
			c.press(k)
		}
	}
	for {
		var late <-chan time.Time
		if d.waiting() {
			late = time.After(escapeAlone)
		}
		select {
		case p := <-chunks:
			feed(p)
		case <-late:
			select {
			case p := <-chunks: // it was this program that was slow
				feed(p)
			default:
				d.late()
			}
		case err := <-ended:
			if !errors.Is(err, cancelreader.ErrCanceled) { // the terminal is gone
				c.tell(Event{Kind: EOF})
			}
			return
		}
	}
}

// tell hands an event on, unless the console is closing.
func (c *Console) tell(e Event) {
	select {
	case c.events <- e:
	case <-c.closing:
	}
}

// press acts on a key.
func (c *Console) press(k key) {
	c.mu.Lock()
	again := c.struck
	c.struck = k.name == keyInterrupt
	ed := &c.ed
	if c.ask != nil {
		ed = &c.ask.ed
	}
	var e *Event
	suspend := false
	switch k.name {
	case keyInterrupt:
		e = &Event{Kind: Interrupt, Again: again}
	case keyEOF:
		switch {
		case c.ask != nil:
			c.answer("")
		case ed.empty():
			e = &Event{Kind: EOF}
		default:
			ed.press(key{name: keyDelete})
		}
	case keyEnter:
		switch {
		case c.ask != nil:
			c.answer(ed.text())
		case ed.continues():
			ed.press(key{name: keyNewline})
		default:
			e = &Event{Kind: Line, Text: ed.enter()}
		}
	case keyTab:
		c.complete(ed)
	case keyRedraw:
		c.send("\x1b[2J\x1b[H")
		c.screen = screen{}
		c.draw()
	case keySuspend:
		suspend = true
	case keyPaste:
		c.ed.press(k) // a question is answered by typing: the paste waits behind it
	default:
		ed.press(k)
	}
	c.redraw()
	c.mu.Unlock()
	if e != nil {
		c.tell(*e)
	}
	if suspend {
		go c.suspend() // it waits for the reader, which this is
	}
}

// answer hands on the answer to a question.
func (c *Console) answer(text string) {
	c.ask.answer <- text
	c.ask = nil
}

// complete extends the line where there is one way to.
func (c *Console) complete(ed *editor) {
	if c.o.Complete == nil || c.ask != nil || ed.pos != len(ed.atoms) {
		return
	}
	list := c.o.Complete(ed.text())
	if len(list) == 0 {
		return
	}
	common := list[0]
	for _, s := range list[1:] {
		for !strings.HasPrefix(s, common) {
			common = common[:len(common)-1]
		}
	}
	if len(common) > len(ed.text()) {
		ed.set(common)
	} else if len(list) > 1 {
		c.show(strings.Join(list, "  ") + "\n")
	}
}

// suspend stops the program as a shell expects it, until it is continued.
func (c *Console) suspend() {
	if err := c.give(); err != nil {
		return
	}
	stopSelf()
	if err := c.Resume(); err != nil {
		c.tell(Event{Kind: EOF})
	}
}

// resized adapts to a new size of the terminal.
func (c *Console) resized() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		return
	}
	c.erase()
	c.measure()
	c.apart() // where the unfinished line is now, nobody knows
	c.draw()
}

func (c *Console) measure() {
	cols, rows, err := term.GetSize(int(c.out.Fd()))
	if err != nil || cols <= 0 || rows <= 0 {
		cols, rows = 80, 24
	}
	c.cols, c.rows = cols, rows
}

// live returns the rows below the output and the place of the cursor in them.
func (c *Console) live() (rows []string, row, col int) {
	width := max(c.cols-1, 2)
	if c.status != "" && c.rows > 2 {
		rows = append(rows, ansi.Truncate(c.status, width, "…"))
	}
	prompt, ed := c.o.Prompt, &c.ed
	if c.ask != nil {
		prompt, ed = ansi.Truncate(c.ask.prompt, max(width-8, 1), "…"), &c.ask.ed
	}
	line, row, col := ed.layout(prompt, width, max(1, min(10, c.rows/2-1)))
	row += len(rows)
	return append(rows, line...), row, col
}
