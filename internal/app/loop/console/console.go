package console

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
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
	program *tea.Program
	events  chan Event
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the program has ended
	err     error         // of the program, once it has ended

	screen *screen

	mu     sync.Mutex
	closed bool
	status string
	paused bool
	rest   string // the unfinished line of output
	size   tea.WindowSizeMsg
}

// ErrClosed says that the console is closed.
var ErrClosed = errors.New("the terminal is closed")

// Open takes a terminal over.
func Open(in, out *os.File, o Options) (*Console, error) {
	o.Prompt = cmp.Or(o.Prompt, "> ")
	c := &Console{events: make(chan Event, 64), closing: make(chan struct{}), ended: make(chan struct{}), size: tea.WindowSizeMsg{Width: 80, Height: 24}}
	m := newModel(c, o)
	c.screen = &screen{File: out, drawn: make(chan struct{}, 1)}
	for _, line := range typedAhead(in) {
		m.rememberLine(line)
		c.events <- Event{Kind: Line, Text: line}
	}
	c.program = tea.NewProgram(m, tea.WithInput(&keys{File: in}), tea.WithOutput(c.screen), tea.WithoutSignalHandler(), tea.WithFilter(knownSize))
	go func() {
		_, err := c.program.Run()
		c.err = err
		close(c.ended)
		c.sendEvent(Event{Kind: EOF}) // unless it was closed
	}()
	select {
	case <-c.screen.drawn:
		return c, nil
	case <-c.ended:
		return nil, fmt.Errorf("the terminal cannot be used: %w", c.err)
	}
}

// screen tells when the program's rows have been drawn. What is printed before would
// be put above rows that are not there.
type screen struct {
	*os.File
	drawn chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	n, err := s.File.Write(p)
	if bytes.Contains(p, []byte(ansi.ShowCursor)) { // which ends the rows
		select {
		case s.drawn <- struct{}{}:
		default:
		}
	}
	return n, err
}

// keys reads the terminal without splitting a letter, or the end of a paste, between two
// reads. The library drops the first half where the second comes 50 ms later, as it does on
// a busy machine.
type keys struct {
	*os.File
	half []byte
}

func (k *keys) Read(p []byte) (int, error) {
	n := copy(p, k.half)
	k.half = k.half[:0]
	got, err := k.File.Read(p[n:])
	n += got
	if whole := n - splitEnd(p[:n]); err == nil && whole > 0 {
		k.half = append(k.half, p[whole:n]...)
		n = whole
	}
	return n, err
}

// splitEnd returns how many bytes at the end of p are the beginning of a letter or of
// the end of a paste, which has more bytes before it than anybody types at once.
func splitEnd(p []byte) int {
	for i := 1; i < min(len(p)+1, len(ansi.BracketedPasteEnd)); i++ {
		tail := p[len(p)-i:]
		if !utf8.FullRune(tail) || len(p) > 256 && strings.HasPrefix(ansi.BracketedPasteEnd, string(tail)) {
			return i
		}
	}
	return 0
}

// knownSize gives a terminal that does not know its size the usual one.
func knownSize(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok && (size.Width <= 0 || size.Height <= 0) {
		return tea.WindowSizeMsg{Width: 80, Height: 24}
	}
	return msg
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
	c.finishLine()
	close(c.closing)
	c.program.Send(closed{})
	<-c.ended
	if errors.Is(c.err, tea.ErrProgramKilled) || errors.Is(c.err, io.EOF) {
		return nil // the terminal is gone, which was told
	}
	return c.err
}

// Pause gives the terminal to another program until Resume.
func (c *Console) Pause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused || c.closed {
		return nil
	}
	c.paused = true
	c.program.Send(hidden(true))
	c.program.Send(nothing{}) // received only when the rows are gone
	return c.program.ReleaseTerminal()
}

// Resume takes the terminal back after Pause.
func (c *Console) Resume() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.paused || c.closed {
		return nil
	}
	c.paused = false
	if err := c.program.RestoreTerminal(); err != nil {
		return err
	}
	c.program.Send(hidden(false))
	c.showText("") // shows the text written meanwhile
	return nil
}

// Events tells what the person does.
func (c *Console) Events() <-chan Event { return c.events }

// SetStatus shows a row of status above the line; "" shows none. It returns when the
// row is drawn: output that follows is not seen beside an older one.
func (c *Console) SetStatus(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status == text || c.closed {
		return
	}
	c.status = text
	select {
	case <-c.screen.drawn: // of an earlier one
	default:
	}
	c.program.Send(status(text))
	if c.paused {
		return
	}
	select {
	case <-c.screen.drawn:
	case <-c.ended:
	case <-time.After(100 * time.Millisecond): // the screen is too small for it
	}
}

// Clear throws the typed line away.
func (c *Console) Clear() { c.program.Send(cleared{}) }

// Ask shows a prompt in place of the line and returns what is entered. The
// line that was being typed is kept for later.
func (c *Console) Ask(ctx context.Context, prompt string) (string, error) {
	q := &question{prompt: prompt, answer: make(chan string, 1)}
	c.program.Send(q)
	defer c.program.Send(over{q})
	select {
	case text := <-q.answer:
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	case <-c.ended:
		return "", ErrClosed
	case <-c.closing:
		return "", ErrClosed
	}
}

// Write shows text above the line. It may end in the middle of a line: what
// comes next goes on there.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.showText(termsafe.Text(string(p)))
	return len(p), nil
}

// showText prints the rows that are finished, and shows the unfinished one below them.
// A word that does not fit into its row any more moves to the next.
func (c *Console) showText(text string) {
	c.rest += strings.ReplaceAll(text, "\t", "        ")
	if c.paused { // another program has the terminal: nothing is lost, only late
		return
	}
	rows := strings.Split(ansi.Wrap(c.rest, c.size.Width, ""), "\n")
	c.rest = rows[len(rows)-1]
	c.program.Send(unfinished(c.rest))
	c.printRows(rows[:len(rows)-1])
}

// printRows puts rows above the program's own. More than the screen has would push these
// into the scrollback.
func (c *Console) printRows(rows []string) {
	for most := max(1, c.size.Height/2); len(rows) > 0; {
		n := min(len(rows), most)
		c.program.Send(tea.Println(strings.Join(rows[:n], "\n"))())
		rows = rows[n:]
	}
}

// finishLine prints the unfinished line of output as it is.
func (c *Console) finishLine() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rest != "" && !c.paused {
		c.showText("\n")
	}
}

// setSize notes the size of the screen.
func (c *Console) setSize(size tea.WindowSizeMsg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size = size
}

// suspend stops the program as a shell expects it, until it is continued.
func (c *Console) suspend() {
	if c.Pause() != nil {
		return
	}
	stopSelf()
	if c.Resume() != nil {
		c.sendEvent(Event{Kind: EOF})
	}
}

// sendEvent hands an event on, unless the console is closing.
func (c *Console) sendEvent(e Event) {
	select {
	case c.events <- e:
	case <-c.closing:
	}
}
