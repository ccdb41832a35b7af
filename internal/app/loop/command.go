package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
)

// Command is a line that starts with a slash.
type Command struct {
	Name, Args, About string

	run func(ctx context.Context, d *Driver, arg string) error

	// atOnce says that it does not wait for what else runs.
	atOnce bool
}

// Commands returns all commands, in the order of the help.
func Commands() []Command {
	return []Command{
		{Name: "compact", Args: "[FOCUS]", About: "compact now; the summary pays attention to FOCUS", run: doCompact},
		{Name: "undo", About: "undo the last compaction", run: doUndo},
		{Name: "tree", About: "look at the session: branches, compactions, what the model sees", run: func(ctx context.Context, d *Driver, _ string) error { return d.ui.Tree(ctx, d.session) }},
		{Name: "context", About: "show what fills the window", run: doContext, atOnce: true},
		{Name: "pin", Args: "[ID]", About: "pin a message, so that no compaction edits it; without ID the last one", run: doPin},
		{Name: "unpin", Args: "ID", About: "remove a pin", run: doUnpin},
		{Name: "auto", Args: "on|off", About: "switch automatic compaction on or off", run: doAuto, atOnce: true},
		{Name: "model", Args: "[NAME]", About: "switch to another model: PROVIDER/MODEL, or sim", run: doModel},
		{Name: "retry", About: "ask again if the last message has no answer", run: doRetry},
		{Name: "help", About: "this list", run: doHelp, atOnce: true},
		{Name: "quit", About: "leave; the session can be resumed", atOnce: true, run: func(_ context.Context, d *Driver, _ string) error {
			d.ui.Event(Event{Kind: Quit})
			return nil
		}},
	}
}

// aliases are other names of commands.
var aliases = map[string]string{"exit": "quit", "q": "quit", "?": "help", "h": "help"}

// parseCommand finds the command in a line. A path, which starts with a slash
// too, is not a command, and neither is a text of several lines.
func parseCommand(line string) (Command, string, bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "/") || strings.Contains(line, "\n") {
		return Command{}, "", false
	}
	word, arg, _ := strings.Cut(line[1:], " ")
	if strings.Contains(word, "/") || word == "" {
		return Command{}, "", false
	}
	name := strings.ToLower(word)
	name = cmp.Or(aliases[name], name)
	for _, c := range Commands() {
		if c.Name == name {
			return c, strings.TrimSpace(arg), true
		}
	}
	return Command{run: func(context.Context, *Driver, string) error { return &NoCommandError{word} }}, "", true
}

// NoCommandError says that a line names an unknown command. Nothing was done, so a
// program that feeds lines can go on with the next.
type NoCommandError struct{ word string }

// Error says what to do.
func (e *NoCommandError) Error() string {
	return "there is no command /" + e.word + "; /help lists them"
}

func (d *Driver) note(format string, args ...any) {
	d.ui.Event(Event{Kind: Note, Text: fmt.Sprintf(format, args...)})
}

func doCompact(ctx context.Context, d *Driver, focus string) error {
	d.ui.Event(Event{Kind: Compacting, Text: "manual"})
	c, err := d.session.Compact(ctx, focus)
	switch {
	case ctx.Err() != nil && err != nil:
		return ErrInterrupted
	case err == nil:
		d.reportCompaction(c)
		return nil
	case !errors.Is(err, session.ErrNothing):
		return err
	}
	f, ferr := d.Measure()
	if ferr != nil {
		return ferr
	}
	d.note("not compacted: %.0f %% of what is available is used, and %s", 100*f.Ratio, strings.TrimPrefix(problemText(err), "nothing to compact: "))
	return nil
}

// problemText returns what an error of a session says, without where it came from.
func problemText(err error) string {
	if e, ok := errors.AsType[*session.Error](err); ok && e.Problem != "" {
		return e.Problem
	}
	return err.Error()
}

// errorText returns an error's text without the id of the session, which the person
// knows.
func (d *Driver) errorText(err error) string {
	text := strings.TrimPrefix(err.Error(), "llm: ")
	return strings.TrimPrefix(text, "session "+d.session.ID()+": ")
}

func doUndo(ctx context.Context, d *Driver, _ string) error {
	last, ok := d.session.LastCompaction()
	if !ok {
		d.note("there is no compaction to undo")
		return nil
	}
	e, err := d.session.Rewind(ctx, last.ID)
	if err != nil {
		return err
	}
	f, err := d.Measure()
	if err != nil {
		return err
	}
	said := fmt.Sprintf("compaction %s is undone, which restores %s tokens: %s -> %s", last.ID,
		text.Number(e.Compaction.TokensAfter-e.Compaction.TokensBefore), text.Number(e.Compaction.TokensBefore), text.Number(e.Compaction.TokensAfter))
	switch {
	case f.Level == LevelWarning && f.Next == NextCompacts:
		said += fmt.Sprintf("; that is %.0f %%, so the next message compacts again unless you say /auto off", 100*f.Ratio)
	case f.Level == LevelWarning:
		said += fmt.Sprintf("; that is %.0f %%", 100*f.Ratio)
	}
	d.ui.Event(Event{Kind: Note, Text: said, Fill: f})
	return nil
}

func doContext(_ context.Context, d *Driver, _ string) error {
	s := d.session
	c, err := s.Context()
	if err != nil {
		return err
	}
	_, st, err := s.NeedsCompaction()
	if err != nil {
		return err
	}
	return d.ui.Meter(c, st, len(s.Pins()))
}

func doPin(ctx context.Context, d *Driver, id string) error {
	s := d.session
	path := s.Path()
	for i := len(path) - 1; i >= 0; i-- {
		e := &path[i]
		if e.Message == nil || id != "" && e.ID != id {
			continue
		}
		if err := s.Pin(ctx, e.ID); err != nil {
			return err
		}
		d.note("pinned %s (%s): %s", e.ID, e.Message.Role, text.Brief(conview.About(chat.Messages{*e.Message}, 0, 0), titleLength))
		return nil
	}
	if id == "" {
		d.note("there is no message yet")
		return nil
	}
	return fmt.Errorf("there is no message %q in this conversation; /tree shows the ids", id)
}

func doUnpin(ctx context.Context, d *Driver, id string) error {
	s := d.session
	if pins := s.Pins(); id == "" && len(pins) > 0 {
		id = pins[len(pins)-1]
	}
	if id == "" {
		d.note("nothing is pinned")
		return nil
	}
	if err := s.Unpin(ctx, id); err != nil {
		return err
	}
	d.note("%s is no longer pinned", id)
	return nil
}

func doAuto(_ context.Context, d *Driver, arg string) error {
	switch arg {
	case "on", "off":
		d.mu.Lock()
		d.auto = new(arg == "on")
		d.mu.Unlock()
	case "":
	default:
		return errors.New("write /auto on or /auto off")
	}
	if d.isAuto() {
		d.note("automatic compaction is on")
	} else {
		d.note("automatic compaction is off; /compact makes room")
	}
	return nil
}

func doModel(ctx context.Context, d *Driver, name string) error {
	if name == "" {
		d.note("%s answers", d.Model())
		return nil
	}
	if err := d.setModel(ctx, name); err != nil {
		return err
	}
	f, err := d.Measure()
	if err != nil {
		return err
	}
	said := fmt.Sprintf("%s answers from now on; its window has %d tokens, of which %.0f %% are in use", name, f.Window, 100*f.Ratio)
	d.ui.Event(Event{Kind: Note, Text: said, Fill: f})
	return nil
}

func doRetry(_ context.Context, d *Driver, _ string) error {
	m := lastMessage(d.session)
	if m == nil || m.Role == chat.Assistant && len(callsIn(m)) == 0 {
		d.note("there is nothing to ask again: the last message is an answer")
		return nil
	}
	return d.runTurn("")
}

func doHelp(_ context.Context, d *Driver, _ string) error {
	var b strings.Builder
	for _, c := range Commands() {
		fmt.Fprintf(&b, "%-18s %s\n", "/"+strings.TrimSpace(c.Name+" "+c.Args), c.About)
	}
	b.WriteString("Everything else is a message to the model; a line that ends in \\ goes on in the next one.\nCtrl-C cancels an answer, a call or a compaction; at the prompt, press it twice to leave. Ctrl-D leaves.")
	d.note("%s", b.String())
	return nil
}
