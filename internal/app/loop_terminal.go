package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/loop"
	"github.com/winnow-llm/winnow/internal/app/loop/console"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	"github.com/winnow-llm/winnow/internal/app/viewer"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/session"
)

// terminalUI shows a conversation on a terminal.
type terminalUI struct {
	a    *app
	h    *loopHost
	con  *console.Console
	st   style
	quit chan struct{}
	end  sync.Once

	mu    sync.Mutex
	mid   bool // an answer's line is unfinished
	fill  *loop.Fill
	doing string // what runs; "" for nothing
	waits int
}

// loopTerminal runs a conversation with a person at a terminal.
func (a *app) loopTerminal(ctx context.Context, h *loopHost, s *session.Session, spec string, o loop.Options) error {
	con, err := console.Open(a.stdin.(*os.File), fileOf(a.stdout), console.Options{
		Prompt: "> ", History: userInputs(s), Complete: completeCommand,
	})
	if err != nil {
		return err
	}
	ui := &terminalUI{a: a, h: h, con: con, st: a.styleFor(a.stdout), quit: make(chan struct{})}
	d, err := h.startDriver(ctx, ui, s, spec, o)
	if err != nil {
		_ = con.Close() // the first error is the one to tell
		return err
	}
	say := func(text string) { ui.showLines(ui.st.Dim(plainText(text))) }
	h.tell.Store(&say)
	ui.greet(d)
	ui.handleEvents(ctx, d)
	ui.showLines("") // an answer that is cut off keeps its line
	err = d.Close()
	if cerr := con.Close(); err == nil {
		err = cerr
	}
	h.leaveSession(d.Session())
	if s := d.Session(); hasMessages(s) {
		fmt.Fprintf(a.stdout, "to continue: winnow loop --session %s\n", s.ID())
	}
	return err
}

// hasMessages reports whether a session has any.
func hasMessages(s *session.Session) bool {
	c, err := s.Context()
	return err == nil && c.Request.History.Len() > 0
}

// userInputs returns what the user wrote, for going back to.
func userInputs(s *session.Session) []string {
	var lines []string
	for _, e := range s.Path() {
		if m := e.Message; m != nil && m.Role == chat.User && m.StartsTurn() && !m.Synthetic {
			lines = append(lines, m.Text())
		}
	}
	return lines
}

// completeCommand completes the name of a command.
func completeCommand(text string) []string {
	var list []string
	if strings.HasPrefix(text, "/") {
		for _, c := range loop.Commands() {
			if name := "/" + c.Name; strings.HasPrefix(name, text) {
				list = append(list, name)
			}
		}
	}
	return list
}

// greet says where the person is.
func (u *terminalUI) greet(d *loop.Driver) {
	text := fmt.Sprintf("%s answers; the model works in %s.", u.st.Bold(plainText(d.Model())), plainText(u.h.dir))
	if u.h.f.disable {
		text += " Automatic compaction is off."
	}
	u.showLines(text + "\n" + u.st.Dim("/help lists the commands, Ctrl-D leaves."))
	u.showStatus()
}

// handleEvents handles what the person does until they leave.
func (u *terminalUI) handleEvents(ctx context.Context, d *loop.Driver) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.quit:
			return
		case e := <-u.con.Events():
			switch e.Kind {
			case console.EOF:
				return
			case console.Interrupt:
				switch {
				case d.Interrupt():
				case e.Again:
					return
				default:
					u.con.Clear()
					u.showLines(u.st.Dim("Ctrl-C again to leave"))
				}
			case console.Line:
				if strings.HasPrefix(e.Text, "/") && !strings.Contains(e.Text, "\n") {
					u.showLines(u.st.Bold("> ") + plainText(e.Text))
				}
				d.Submit(e.Text)
			}
		}
	}
}

// Event shows what happened.
func (u *terminalUI) Event(e loop.Event) {
	u.trackEvent(&e)
	switch e.Kind {
	case loop.Words:
		u.mu.Lock()
		u.mid = !strings.HasSuffix(e.Text, "\n")
		u.mu.Unlock()
		u.write(plainText(e.Text))
	case loop.Asked:
		u.showLines(echoInput(u.st, e.Text))
	case loop.Answered:
		u.showLines("")
	case loop.Opened:
		u.showLines(u.st.Dim(openedLine(&e)))
	case loop.Quit:
		u.end.Do(func() { close(u.quit) })
	default:
		if text := loopLine(u.st, &e); text != "" {
			u.showLines(text)
		}
	}
	u.showStatus()
}

// trackEvent follows what runs and how full the window is.
func (u *terminalUI) trackEvent(e *loop.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e.Fill != nil {
		u.fill = e.Fill
	}
	switch e.Kind {
	case loop.Asked:
		u.doing = "waiting for the answer"
		u.waits = max(0, u.waits-1)
	case loop.Words:
		u.doing = "answering"
	case loop.Called:
		u.doing = brief(e.Title, 50)
	case loop.Returned:
		u.doing = "waiting for the answer"
	case loop.Compacting:
		u.doing = "compacting"
	case loop.Filled:
		if e.Fill.Next == loop.NextCompacts || e.Fill.Next == loop.NextStuck {
			u.doing = "compacting"
		}
	case loop.Compacted:
		if c := e.Compaction; u.fill != nil && c.Available > 0 {
			next := *u.fill
			next.Used, next.Ratio = c.After, show.Ratio(c.After, c.Available)
			u.fill = &next
		}
	case loop.Queued:
		u.waits = e.Waiting
	case loop.Idle:
		u.doing, u.waits = "", e.Waiting
	}
}

// showStatus shows the row above the line.
func (u *terminalUI) showStatus() {
	u.mu.Lock()
	var parts []string
	if u.doing != "" {
		parts = append(parts, u.doing+"…", "Ctrl-C cancels")
	}
	if u.waits > 0 {
		parts = append(parts, plural(u.waits, "line")+" waiting")
	}
	if u.fill != nil {
		parts = append(parts, fmt.Sprintf("context %s of %s", show.Percent(u.fill.Used, u.fill.Available), number(u.fill.Available)))
	}
	u.mu.Unlock()
	u.con.SetStatus(termsafe.Text(u.st.Dim(strings.Join(parts, " · "))))
}

// showLines shows whole lines, after the end of one that is unfinished.
func (u *terminalUI) showLines(text string) {
	u.mu.Lock()
	mid := u.mid
	u.mid = false
	u.mu.Unlock()
	if mid {
		text = "\n" + text
	}
	if text == "" {
		return
	}
	if text != "\n" {
		text += "\n"
	}
	u.write(text)
}

// write shows a text.
func (u *terminalUI) write(text string) {
	_, _ = u.con.Write([]byte(text)) // a terminal that is gone ends the loop
}

// echoInput shows what the person wrote; of a long text its beginning.
func echoInput(st style, text string) string {
	if text == "" {
		return st.Bold("> ") + st.Dim("(again)")
	}
	text = plainText(text)
	lines := strings.Split(text, "\n")
	const most = 6
	rest := ""
	if len(lines) > most || len(text) > 1200 {
		rest = st.Dim(fmt.Sprintf("\n  … %s, %s", plural(len(lines), "line"), plural(len(text), "byte")))
		lines = lines[:min(len(lines), most)]
		for i := range lines {
			lines[i] = brief(lines[i], 200)
		}
	}
	return st.Bold("> "+strings.Join(lines, "\n  ")) + rest
}

// Confirm asks whether a call may run.
func (u *terminalUI) Confirm(ctx context.Context, q tools.Action) (loop.Reply, error) {
	what := map[string]string{"write": "wants to change a file", "run": "wants to run a command", "outside": "wants to read outside this folder"}[string(q.Need)]
	text := u.st.Warm("The model "+what+": ") + u.st.Bold(plainText(q.Title))
	for l := range strings.SplitSeq(q.Detail, "\n") {
		switch {
		case strings.HasPrefix(l, "+"):
			text += "\n  " + u.st.Green(plainText(l))
		case strings.HasPrefix(l, "-"):
			text += "\n  " + u.st.Red(plainText(l))
		case l != "":
			text += "\n  " + u.st.Dim(plainText(l))
		}
	}
	u.showLines(text)
	u.mu.Lock()
	u.doing = "waiting for your answer"
	u.mu.Unlock()
	u.showStatus()
	for {
		answer, err := u.con.Ask(ctx, "allow it? y(es), n(o), a(lways in this session): ")
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
		u.showLines(u.st.Dim("please answer y, n or a"))
	}
}

// Tree shows the session in the viewer, which has the whole screen until the
// person leaves it.
func (u *terminalUI) Tree(ctx context.Context, s *session.Session) error {
	if err := u.con.Pause(); err != nil {
		return err
	}
	err := u.a.viewSession(ctx, s, viewer.Options{})
	if rerr := u.con.Resume(); err == nil {
		err = rerr
	}
	return err
}

// Meter draws what fills the window.
func (u *terminalUI) Meter(c session.Context, st budget.Status, pins int) error {
	var b bytes.Buffer
	u.h.showMeter(&b, u.a.styleFor(u.a.stdout), c, st, pins) // the window may have another size by now
	u.showLines(strings.TrimRight(b.String(), "\n"))
	return nil
}
