// Package loop is winnow's own agent: a conversation with a model that calls
// tools, in a session that is compacted as it grows. It knows no terminal: a caller
// that shows the conversation gives it a [UI].
//
// A [Driver] takes lines as a person types them, keeps them in order while an answer
// runs, and knows the commands that start with a slash. A message begins a turn: the
// model is asked, the tools that it calls are run, and it is asked again until it has
// answered; then the driver says how full the window is and compacts if that is due.
//
//	d, err := loop.NewDriver(ctx, host, ui, box, session, "openai/gpt-5-mini", loop.Options{})
//	d.Submit("Why does the build fail?")
//	d.Submit("/compact the build")      // waits until the answer is there
//	d.Interrupt()                       // cancels what runs
//	d.Close()
//
// What is promised: whatever happens, be it an error, a cancellation or the end
// of the process, the session stays one that a provider accepts. An answer that
// was cut off is kept as far as it came, and says that it was; a call that was
// made has an answer. A warning is true: when it says that compaction follows,
// it does.
package loop

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
)

// Host is what a driver gets its models and settings from.
type Host interface {
	// Model returns a model by its name, and the provider and model that the
	// session should note. From then on the settings are those for it.
	Model(ctx context.Context, name string) (m Model, provider, model string, err error)

	// Auto reports whether the settings want automatic compaction.
	Auto() bool
}

// Driver runs a conversation for a person who types lines. Its methods may be
// called by several goroutines.
type Driver struct {
	host    Host
	ui      UI
	box     *tools.Box
	session *session.Session
	o       Options

	base context.Context
	stop context.CancelFunc
	done chan struct{}

	// Only the goroutine that does the lines uses these.
	always map[string]bool // tools that the person allowed for the session
	told   bool            // that the window is full, by a turn that failed over it

	stuck atomic.Bool // the last compaction that was announced found nothing
	asked atomic.Bool // a compaction was asked for at the turn's end

	mu     sync.Mutex
	wake   *sync.Cond
	model  Model
	spec   string // the model's name
	queue  []string
	busy   bool
	turns  bool               // a turn runs
	held   bool               // a turn failed: what waits is held back
	first  int                // commands at the queue's start that are not
	cancel context.CancelFunc // of what runs
	auto   *bool              // what the person chose
	failed error              // the last turn or command
	closed bool
}

// NewDriver starts a driver for a session, with the model of that name. The
// driver closes the session.
func NewDriver(ctx context.Context, host Host, ui UI, box *tools.Box, s *session.Session, model string, o Options) (*Driver, error) {
	d := &Driver{host: host, ui: ui, box: box, session: s, o: o, done: make(chan struct{}), always: make(map[string]bool)}
	d.wake = sync.NewCond(&d.mu)
	if err := d.setModel(ctx, model); err != nil {
		return nil, err
	}
	// The driver outlives ctx for as long as it takes to put things in order.
	d.base, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := d.openSession(ctx); err != nil {
		d.stop()
		return nil, err
	}
	go d.processLines()
	return d, nil
}

// setModel has the named model answer from now on, and notes that in the session.
func (d *Driver) setModel(ctx context.Context, name string) error {
	m, provider, id, err := d.host.Model(ctx, name)
	if err != nil {
		return err
	}
	c, err := d.session.Context()
	if err != nil {
		return err
	}
	if c.Provider != provider || c.Model != id {
		if err := d.session.SetModel(ctx, provider, id); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.model, d.spec = m, name
	return nil
}

// openSession puts the session in order and tells what it is.
func (d *Driver) openSession(ctx context.Context) error {
	open, err := d.settleCalls(ctx)
	if err != nil {
		return err
	}
	fill, err := d.Measure()
	if err != nil {
		return err
	}
	c, err := d.session.Context()
	if err != nil {
		return err
	}
	title := cmp.Or(d.session.Name(), text.Brief(conview.Title(c.Request.History), titleLength))
	d.ui.Event(Event{Kind: Opened, Session: d.session.ID(), Text: title, Fill: fill})
	for _, n := range d.session.Notes() {
		d.note("%s", n)
	}
	switch last := lastMessage(d.session); {
	case open > 0:
		d.note("%d call(s) were interrupted when the session ended and are marked so; /retry lets the model continue", open)
	case last != nil && last.Role == chat.User:
		d.note("the last message has no answer yet: /retry asks again")
	}
	return nil
}

// titleLength is how many characters of a text name a session.
const titleLength = 60

// lastMessage returns the newest message of a session; nil before the first.
func lastMessage(s *session.Session) *chat.Message {
	c, err := s.Context()
	if err != nil || c.Request.History.Len() == 0 {
		return nil
	}
	return c.Request.History.At(c.Request.History.Len() - 1)
}

// Session returns the session.
func (d *Driver) Session() *session.Session { return d.session }

// Model returns the present model's name.
func (d *Driver) Model() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.spec
}

func (d *Driver) isAuto() bool {
	d.mu.Lock()
	auto := d.auto
	d.mu.Unlock()
	return auto != nil && *auto || auto == nil && d.host.Auto()
}

// Submit takes a line that was typed: a message, or a command. While something
// runs it waits for its turn, except for commands that can be done at once. A
// blank line is nothing.
func (d *Driver) Submit(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return
	}
	cmd, arg, isCommand := parseCommand(line)
	switch {
	case isCommand && cmd.Name == "compact" && d.turns:
		_, err := d.session.RequestCompaction(d.base, arg) // only notes it, as long as the turn runs
		d.asked.Store(err == nil)
		d.mu.Unlock()
		if err != nil {
			d.note("not compacted: %s", problemText(err))
			return
		}
		d.note("the conversation will be compacted when this turn is over")
		return
	case isCommand && cmd.atOnce && (d.busy || len(d.queue) > 0):
		d.mu.Unlock()
		if err := cmd.run(d.base, d, arg); err != nil {
			d.note("%v", err)
		}
		return
	}
	waits := d.busy || len(d.queue) > 0
	if isCommand && d.held { // to mend what failed, before what waits is sent
		d.queue = slices.Insert(d.queue, d.first, line)
		d.first++
		waits = d.busy
	} else {
		d.queue = append(d.queue, line)
		d.held, d.first = false, 0
	}
	n := len(d.queue)
	d.wake.Broadcast()
	d.mu.Unlock()
	if waits {
		d.ui.Event(Event{Kind: Queued, Text: line, Waiting: n})
	}
}

// Interrupt cancels what runs and reports whether anything did. What waits is
// done next.
func (d *Driver) Interrupt() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel == nil {
		return false
	}
	d.cancel()
	return true
}

// Waiting returns the lines that wait, in order.
func (d *Driver) Waiting() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.queue...)
}

// Wait waits until nothing runs and nothing waits, or until ctx ends, and
// returns the error of the last command or turn.
func (d *Driver) Wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.wake.Broadcast()
	})()
	d.mu.Lock()
	defer d.mu.Unlock()
	for (d.busy || d.canTakeLine()) && !d.closed && ctx.Err() == nil {
		d.wake.Wait()
	}
	return cmp.Or(d.failed, ctx.Err())
}

// canTakeLine reports whether a line can be done next. The caller holds the lock.
func (d *Driver) canTakeLine() bool { return len(d.queue) > 0 && (!d.held || d.first > 0) }

// Close cancels what runs, waits until the session is in order, and closes it.
func (d *Driver) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		<-d.done
		return nil
	}
	d.closed = true
	d.wake.Broadcast()
	d.mu.Unlock()
	d.stop()
	<-d.done
	return d.session.Close()
}

// processLines does one line after the other.
func (d *Driver) processLines() {
	defer close(d.done)
	for {
		line, ok := d.takeLine()
		if !ok {
			return
		}
		err := d.processLine(line)
		switch {
		case errors.Is(err, ErrInterrupted):
			d.ui.Event(Event{Kind: Interrupted})
		case err != nil:
			d.ui.Event(Event{Kind: Failed, Text: d.errorText(err), Waiting: len(d.Waiting())})
		}
		d.mu.Lock()
		d.busy, d.failed = false, err
		idle, waiting := !d.canTakeLine(), len(d.queue)
		d.wake.Broadcast()
		d.mu.Unlock()
		if idle {
			d.ui.Event(Event{Kind: Idle, Waiting: waiting})
		}
	}
}

// takeLine waits for the next line.
func (d *Driver) takeLine() (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.canTakeLine() && !d.closed {
		d.wake.Wait()
	}
	if d.closed {
		return "", false
	}
	line := d.queue[0]
	d.queue = d.queue[1:]
	d.first = max(0, d.first-1)
	d.busy = true
	return line, true
}

// runCancellable runs one step that can be cancelled by itself.
func (d *Driver) runCancellable(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(d.base)
	defer cancel()
	d.mu.Lock()
	d.cancel = cancel
	d.mu.Unlock()
	err := f(ctx)
	d.mu.Lock()
	d.cancel = nil
	d.mu.Unlock()
	if err != nil && ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// processLine does one line.
func (d *Driver) processLine(line string) error {
	if cmd, arg, ok := parseCommand(line); ok {
		return d.runCancellable(func(ctx context.Context) error { return cmd.run(ctx, d, arg) })
	}
	return d.runTurn(line)
}

// runTurn runs one turn with its end.
func (d *Driver) runTurn(text string) error {
	d.mu.Lock()
	d.session.Begin()
	d.turns = true
	d.mu.Unlock()
	err := d.runCancellable(func(ctx context.Context) error { return d.answerMessage(ctx, text) })
	cut := errors.Is(err, ErrInterrupted)
	d.mu.Lock()
	d.turns = false
	d.held, d.first = err != nil && !cut, 0
	d.mu.Unlock()
	if d.base.Err() != nil { // leaving: no compaction any more
		return err
	}
	ferr := d.runCancellable(func(ctx context.Context) error { return d.finishTurn(ctx, cut) })
	if err == nil {
		err = ferr
	} else if ferr != nil && !errors.Is(ferr, ErrInterrupted) && ferr.Error() != err.Error() { // once is enough
		d.note("%v", ferr)
	}
	return err
}
