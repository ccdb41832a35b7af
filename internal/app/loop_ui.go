package app

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/winnow-llm/winnow/internal/app/loop"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/viewer"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/session"
)

// loopUI shows a conversation in lines: answers on standard output, all else on
// standard error; as JSON, everything on standard output. At a terminal, which edits
// the lines itself, it prompts for them and asks for permissions.
type loopUI struct {
	a    *app
	h    *loopHost
	st   style
	tty  bool
	quit chan struct{}
	left sync.Once // closes quit

	mu       sync.Mutex
	mid      bool        // an answer's line is unfinished
	prompted bool        // a prompt waits for a line
	entered  string      // the line that was entered there
	answer   chan string // the next line answers a question; nil where none is open

	// opened is told with the first line: a new session in which nothing is said
	// is not kept, so its id would lead nowhere.
	opened string
	fed    bool
}

// Event shows what happened.
func (u *loopUI) Event(e loop.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e.Kind == loop.Quit {
		u.left.Do(func() { close(u.quit) })
	}
	if u.a.asJSON {
		enc := json.NewEncoder(u.a.dataWriter())
		enc.SetEscapeHTML(false)
		_ = enc.Encode(e) // a reader that is gone is noticed at the end
		return
	}
	switch e.Kind {
	case loop.Words:
		fmt.Fprint(u.a.stdout, plainText(e.Text))
		u.mid = !strings.HasSuffix(e.Text, "\n")
		return
	case loop.Opened:
		if u.opened = "session " + e.Session; e.Text != "" {
			u.opened += ": " + brief(e.Text, 60)
		}
		if u.fed || u.h.f.session != "" || u.h.f.resume {
			u.tellOpened()
		}
		return
	}
	if e.Kind != loop.Called {
		u.endLine()
	}
	if line := u.eventLine(&e); line != "" && !u.a.quiet {
		u.printNote(line)
	}
	if e.Kind == loop.Idle {
		u.prompt("> ")
	}
}

// eventLine writes an event in lines for people; "" where it needs none.
func (u *loopUI) eventLine(e *loop.Event) string {
	switch {
	case e.Kind == loop.Failed && !u.tty: // the command's own last line says it
		return ""
	case e.Kind == loop.Compacting && u.tty:
		return u.st.Dim("compacting… Ctrl-C cancels")
	case e.Kind == loop.Called && u.tty && e.Tool == "run":
		return u.st.Dim("  " + brief(e.Title, 100) + "… Ctrl-C cancels")
	case e.Kind == loop.Asked && u.tty && e.Text != u.entered: // it waited
		return u.st.Bold("> " + brief(e.Text, 200))
	}
	return loopLine(u.st, e)
}

// tellOpened tells which session this is, once.
func (u *loopUI) tellOpened() {
	if u.opened != "" {
		u.a.say("%s", u.opened)
	}
	u.opened, u.fed = "", true
}

func (u *loopUI) endLine() {
	if u.mid {
		fmt.Fprintln(u.a.stdout)
		u.mid = false
	}
}

// printNote prints lines beside the conversation, above a prompt that waits.
func (u *loopUI) printNote(text string) {
	if u.prompted {
		fmt.Fprintln(u.a.stdout)
		defer u.prompt("> ")
	}
	fmt.Fprintln(u.a.stderr, text)
}

// prompt asks for a line at a terminal.
func (u *loopUI) prompt(text string) {
	if u.tty {
		fmt.Fprint(u.a.stdout, u.st.Bold(text))
		u.prompted = u.answer == nil
	}
}

// say tells what happened beside the conversation, where there is one.
func (u *loopUI) say(text string) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.a.quiet {
		u.printNote("winnow: " + plainText(text))
	}
}

// greet says where the person is.
func (u *loopUI) greet(d *loop.Driver) {
	text := fmt.Sprintf("%s answers; the model works in %s.", u.st.Bold(plainText(d.Model())), plainText(u.h.dir))
	if u.h.f.disable {
		text += " Automatic compaction is off."
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.printNote(text + "\n" + u.st.Dim("/help lists the commands, Ctrl-D leaves."))
	u.prompt("> ")
}

// Confirm asks whether a call may run. Without a terminal it refuses.
func (u *loopUI) Confirm(ctx context.Context, q tools.Action) (loop.Reply, error) {
	if !u.tty {
		return loop.No, errors.New("there is no terminal to ask for permission on; --yes allows every call")
	}
	what := map[tools.Need]string{tools.Write: "wants to change a file", tools.Run: "wants to run a command"}[q.Need]
	text := u.st.Warm("The model "+what+": ") + u.st.Bold(plainText(q.Title))
	for l := range strings.SplitSeq(plainText(q.Detail), "\n") {
		switch {
		case strings.HasPrefix(l, "+"):
			text += "\n  " + u.st.Green(l)
		case strings.HasPrefix(l, "-"):
			text += "\n  " + u.st.Red(l)
		case l != "":
			text += "\n  " + u.st.Dim(l)
		}
	}
	for {
		answer, err := u.askLine(ctx, text)
		if err != nil {
			return loop.No, err
		}
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return loop.Yes, nil
		case "a", "always":
			return loop.Always, nil
		case "n", "no", "":
			return loop.No, nil
		}
		text = u.st.Dim("please answer y, n or a")
	}
}

// askLine asks about something and returns the next line that is entered.
func (u *loopUI) askLine(ctx context.Context, about string) (string, error) {
	answer := make(chan string, 1)
	u.mu.Lock()
	u.endLine()
	u.printNote(about)
	u.answer = answer
	u.prompt("allow it? y(es), n(o), a(lways in this session): ")
	u.mu.Unlock()
	select {
	case text := <-answer:
		return text, nil
	case <-ctx.Done():
		u.mu.Lock()
		u.answer = nil
		u.mu.Unlock()
		return "", ctx.Err()
	}
}

// takeLine takes a line that was entered, and reports whether it is one for the
// driver, and whether nothing ran when it came.
func (u *loopUI) takeLine(line string) (submit, idle bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.answer != nil {
		u.answer <- line
		u.answer = nil
		return false, false
	}
	idle = u.prompted
	u.prompted, u.entered = false, line
	if strings.TrimSpace(line) != "" {
		u.tellOpened()
		return true, idle
	}
	if idle {
		u.prompt("> ")
	}
	return false, idle
}

// Tree prints the tree; at a terminal it is shown full screen until the person leaves.
func (u *loopUI) Tree(ctx context.Context, s *session.Session) error {
	if u.a.asJSON {
		return json.NewEncoder(u.a.dataWriter()).Encode(map[string]any{"event": "tree", "items": s.Tree(0, s.Len())})
	}
	if u.tty {
		return u.a.viewSession(ctx, s, viewer.Options{})
	}
	return u.a.showTree(&opened{Session: s, name: s.ID()}, &pageFlags{limit: 200, fromStart: func() bool { return false }})
}

// Meter prints what fills the window.
func (u *loopUI) Meter(c session.Context, st budget.Status, pins int) error {
	if u.a.asJSON {
		return json.NewEncoder(u.a.dataWriter()).Encode(map[string]any{
			"event": "context", "tokens": st.Tokens, "limits": st.Limits, "ratio": show.Ratio(st.Count.Tokens, st.Limits.Available), "ratio_upper": st.Ratio,
			"messages": c.Request.History.Len(), "view": c.View.Len(), "pins": pins, "should_compact": st.ShouldCompact,
		})
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.endLine()
	if u.tty {
		u.st = u.a.styleFor(u.a.stdout) // the window may have another size by now
	}
	u.h.showMeter(u.a.stdout, u.st, c, st, pins)
	return nil
}

// quotes stand around a message of several lines.
const quotes = `"""`

// maxLine is the longest message on standard input.
const maxLine = 64 << 20

// readLines hands on the lines of standard input, and asks before each whether to go
// on. At a terminal a line that ends in a backslash goes on in the next one, and what
// begins with three quotes goes on up to the next three: several lines can be pasted.
func (u *loopUI) readLines(ctx context.Context, more <-chan struct{}) (<-chan string, <-chan error) {
	lines, ended := make(chan string), make(chan error, 1)
	go func() {
		sc := bufio.NewScanner(u.a.stdin)
		sc.Buffer(make([]byte, 64<<10), maxLine)
		for sc.Scan() {
			line := sc.Text()
			for u.tty && strings.HasSuffix(line, `\`) && sc.Scan() {
				line = strings.TrimSuffix(line, `\`) + "\n" + sc.Text()
			}
			if text, quoted := strings.CutPrefix(line, quotes); u.tty && quoted {
				for !strings.HasSuffix(text, quotes) && sc.Scan() {
					text += "\n" + sc.Text()
				}
				line = strings.TrimSpace(strings.TrimSuffix(text, quotes))
			}
			select {
			case lines <- line:
				<-more
			case <-ctx.Done():
				return
			}
		}
		ended <- cmp.Or(sc.Err(), io.EOF)
	}()
	return lines, ended
}

// talk runs a conversation until the person leaves or standard input ends.
func (a *app) talk(ctx context.Context, h *loopHost, spec string, o loop.Options, tty bool) error {
	ui := &loopUI{a: a, h: h, st: style{Width: a.styleFor(a.stdout).Width}, tty: tty, quit: make(chan struct{})}
	if tty {
		ui.st = a.styleFor(a.stdout)
	}
	d, err := loop.NewDriver(ctx, h, ui, h.box, h.session, spec, o)
	if err != nil {
		h.leaveSession()
		return err
	}
	h.ui.Store(ui)
	interrupts := make(chan os.Signal, 1)
	if tty {
		signal.Notify(interrupts, os.Interrupt)
		defer signal.Stop(interrupts)
		ui.greet(d)
	}
	err = a.submitLines(ctx, d, ui, interrupts)
	h.ui.Store(nil)
	if closed := d.Close(); err == nil {
		err = closed
	}
	ui.endLine()
	if h.leaveSession() && tty {
		fmt.Fprintf(a.stdout, "\nto continue: winnow loop --session %s\n", h.session.ID())
	}
	a.documented = err != nil && ctx.Err() == nil // an event has told it
	return err
}

// submitLines submits one line after the other. At a terminal they wait in the
// driver, elsewhere each is read when the one before is done.
func (a *app) submitLines(ctx context.Context, d *loop.Driver, ui *loopUI, interrupts <-chan os.Signal) error {
	more := make(chan struct{})
	defer close(more)
	lines, ended := ui.readLines(ctx, more)
	struck, unknown := false, 0 // Ctrl-C was the last key, and nothing ran; lines that were not commands
	for {
		select {
		case <-ctx.Done():
			return ui.stopped(ctx)
		case <-ui.quit:
			return unknownError(unknown)
		case err := <-ended:
			if err == io.EOF {
				return unknownError(unknown)
			}
			return fmt.Errorf("standard input cannot be read: %w", err)
		case <-interrupts:
			if d.Interrupt() {
				struck = false
				continue
			}
			if struck {
				return nil
			}
			ui.say("Ctrl-C again to leave")
			struck = true
		case line := <-lines:
			struck = false
			err := ui.submitLine(ctx, d, line)
			switch {
			case ctx.Err() != nil:
				return ui.stopped(ctx)
			case errors.As(err, new(*loop.NoCommandError)):
				unknown++
				if !a.asJSON { // where an event has told it
					fmt.Fprintf(a.stderr, "winnow: %s\n", oneLine(err.Error()))
				}
			case err != nil:
				return err
			}
			select {
			case <-ui.quit: // before another line is read
			default:
				more <- struct{}{}
			}
		}
	}
}

// submitLine submits a line and waits until it is done. At a terminal it only waits for
// the viewer, which reads the keys itself.
func (u *loopUI) submitLine(ctx context.Context, d *loop.Driver, line string) error {
	submit, idle := u.takeLine(line)
	view := u.tty && strings.EqualFold(strings.TrimSpace(line), "/tree")
	switch {
	case !submit:
		return nil
	case view && !idle:
		u.say("/tree shows the session when nothing runs")
		return nil
	}
	d.Submit(line)
	if u.tty && !view {
		return nil
	}
	err := d.Wait(ctx)
	if u.tty { // an event has told it
		return nil
	}
	return err
}

// stopped returns the error of a conversation that was told to end. A terminal needs none.
func (u *loopUI) stopped(ctx context.Context) error {
	if u.tty {
		return nil
	}
	return fmt.Errorf("stopped; winnow loop --session %s continues: %w", u.h.session.ID(), ctx.Err())
}

// unknownError tells how many lines were not commands; nil for none.
func unknownError(unknown int) error {
	if unknown == 0 {
		return nil
	}
	lines := "1 line with a slash was not a command"
	if unknown > 1 {
		lines = number(unknown) + " lines with a slash were not commands"
	}
	return fmt.Errorf("%s and did nothing; the others were carried out", lines)
}
