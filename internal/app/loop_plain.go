package app

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/winnow-llm/winnow/internal/app/loop"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/session"
)

// plainUI shows a conversation without a terminal.
type plainUI struct {
	a    *app
	h    *loopHost
	st   style
	mid  bool // an answer's line is unfinished
	quit atomic.Bool

	// opened is told with the first line: a new session in which nothing is said
	// is not kept, so its id would lead nowhere.
	opened string
	fed    bool
}

// Event shows what happened: answers on standard output, all else on standard
// error; as JSON, everything on standard output.
func (u *plainUI) Event(e loop.Event) {
	if e.Kind == loop.Quit {
		u.quit.Store(true)
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
	case loop.Failed: // the command's own last line says it
		u.endLine()
		return
	case loop.Opened:
		if u.opened = openedLine(&e); u.fed || u.h.f.session != "" || u.h.f.resume {
			u.tellOpened()
		}
		return
	}
	if e.Kind != loop.Called {
		u.endLine()
	}
	if line := loopLine(u.st, &e); line != "" && !u.a.quiet {
		fmt.Fprintln(u.a.stderr, line)
	}
}

// tellOpened tells which session this is, once.
func (u *plainUI) tellOpened() {
	if u.opened != "" {
		u.a.say("%s", u.opened)
	}
	u.opened, u.fed = "", true
}

func (u *plainUI) endLine() {
	if u.mid {
		fmt.Fprintln(u.a.stdout)
		u.mid = false
	}
}

// Confirm refuses: there is nobody to ask.
func (u *plainUI) Confirm(context.Context, tools.Action) (loop.Reply, error) {
	return loop.No, errors.New("there is no terminal to ask for permission on; --yes allows every call")
}

// Tree prints the tree.
func (u *plainUI) Tree(_ context.Context, s *session.Session) error {
	if u.a.asJSON {
		return json.NewEncoder(u.a.dataWriter()).Encode(map[string]any{"event": "tree", "items": s.Tree(0, s.Len())})
	}
	showLoopTree(u.a.stdout, u.st, s)
	return nil
}

// Meter prints what fills the window.
func (u *plainUI) Meter(c session.Context, st budget.Status, pins int) error {
	if u.a.asJSON {
		return json.NewEncoder(u.a.dataWriter()).Encode(map[string]any{
			"event": "context", "tokens": st.Tokens, "limits": st.Limits, "ratio": show.Ratio(st.Count.Tokens, st.Limits.Available), "ratio_upper": st.Ratio,
			"messages": c.Request.History.Len(), "view": c.View.Len(), "pins": pins, "should_compact": st.ShouldCompact,
		})
	}
	u.h.showMeter(u.a.stdout, u.st, c, st, pins)
	return nil
}

// maxPlainLine is the longest message on standard input.
const maxPlainLine = 64 << 20

// loopPlain takes every line of standard input as a message.
func (a *app) loopPlain(ctx context.Context, h *loopHost, s *session.Session, spec string, o loop.Options) error {
	ui := &plainUI{a: a, h: h, st: style{Width: a.columnsFor(a.stdout)}}
	d, err := h.startDriver(ctx, ui, s, spec, o)
	if err != nil {
		return err
	}
	say := func(text string) { a.say("%s", text) }
	h.tell.Store(&say)
	err = a.submitLines(ctx, d, ui)
	if closed := d.Close(); err == nil {
		err = closed
	}
	h.leaveSession(d.Session())
	a.documented = err != nil && ctx.Err() == nil // an event has told it
	return err
}

// submitLines submits one line after the other, each when the one before is done.
func (a *app) submitLines(ctx context.Context, d *loop.Driver, ui *plainUI) error {
	lines := make(chan string)
	ended := make(chan error, 1)
	go func() {
		sc := bufio.NewScanner(a.stdin)
		sc.Buffer(make([]byte, 64<<10), maxPlainLine)
		for sc.Scan() {
			select {
			case lines <- sc.Text():
			case <-ctx.Done():
				return
			}
		}
		ended <- cmp.Or(sc.Err(), io.EOF)
	}()
	stopped := func() error {
		return fmt.Errorf("stopped; winnow loop --session %s continues: %w", d.Session().ID(), ctx.Err())
	}
	unknown := 0
	over := func() error {
		if unknown == 0 {
			return nil
		}
		lines := "1 line with a slash was not a command"
		if unknown > 1 {
			lines = number(unknown) + " lines with a slash were not commands"
		}
		return fmt.Errorf("%s and did nothing; the others were carried out", lines)
	}
	for !ui.quit.Load() {
		select {
		case <-ctx.Done():
			return stopped()
		case err := <-ended:
			if err == io.EOF {
				return over()
			}
			return fmt.Errorf("standard input cannot be read: %w", err)
		case line := <-lines:
			if strings.TrimSpace(line) != "" {
				ui.tellOpened()
			}
			d.Submit(line)
			switch err := d.Wait(ctx); {
			case ctx.Err() != nil:
				return stopped()
			case errors.As(err, new(*loop.NoCommandError)):
				unknown++
				if !a.asJSON { // where an event has told it
					fmt.Fprintf(a.stderr, "winnow: %s\n", oneLine(err.Error()))
				}
			case err != nil:
				return err
			}
		}
	}
	return over()
}
