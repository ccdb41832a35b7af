package app

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/winnow-llm/winnow/internal/app/loop"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/token"
)

// loopLine writes an event in one or more lines for people; "" for events that
// are shown in another way or not at all.
func loopLine(st style, e *loop.Event) string {
	switch e.Kind {
	case loop.Returned:
		return returnedLine(st, e)
	case loop.Compacted:
		return compactedLine(st, e.Compaction)
	case loop.Filled:
		return filledLine(st, e.Fill)
	case loop.Interrupted:
		return st.Warm("interrupted")
	case loop.Failed:
		text := st.Red("error: ") + plainText(e.Text)
		if e.Waiting > 0 {
			text += fmt.Sprintf("\n%s not sent yet: they go with your next line", plural(e.Waiting, "message"))
		}
		return text
	case loop.Note:
		return st.Dim(plainText(e.Text))
	case loop.Queued:
		return st.Dim("queued: " + brief(e.Text, 60))
	}
	return ""
}

// returnedLine reports a call in one line.
func returnedLine(st style, e *loop.Event) string {
	title := brief(e.Title, 100)
	switch {
	case e.Refused:
		return st.Dim("  "+title) + st.Warm("  not run")
	case e.Failed:
		return st.Dim("  "+title) + st.Red("  "+brief(e.Text, 80))
	}
	lines := strings.Count(strings.TrimRight(e.Text, "\n"), "\n") + 1
	return st.Dim(fmt.Sprintf("  %s  %s, %s", title, plural(lines, "line"), plural(len(e.Text), "byte")))
}

// compactedLine reports a compaction.
func compactedLine(st style, c *loop.Compaction) string {
	why := cmp.Or(map[string]string{"threshold": "the threshold was reached", "overflow": "the provider said the request was too long", "manual": "you asked for it"}[c.Reason], c.Reason)
	text := fmt.Sprintf("%s %s -> %s tokens, %s -> %s of what is available (%s)", st.Green("compacted"),
		number(c.Before), number(c.After), show.Percent(c.Before, c.Available), show.Percent(c.After, c.Available), why)
	var done []string
	for _, s := range c.Stages {
		if s.Edits > 0 {
			done = append(done, fmt.Sprintf("%s %s", s.Name, plural(s.Edits, "edit")))
		}
	}
	if len(done) > 0 {
		text += "\n" + st.Dim("  "+strings.Join(done, ", ")+"; /undo takes it back, /tree shows it")
	}
	return text
}

// filledLine says how full the window is, where that is worth a line.
func filledLine(st style, f *loop.Fill) string {
	switch f.Level {
	case loop.LevelQuiet:
		return st.Dim(fmt.Sprintf("context %.0f %%", 100*f.Ratio))
	case loop.LevelWarning:
		text := fmt.Sprintf("context %.0f %%: %s of %s tokens for input are used (window %s)", 100*f.Ratio, number(f.Used), number(f.Available), number(f.Window))
		if most := fmt.Sprintf("%.0f %%", 100*f.Upper); most != fmt.Sprintf("%.0f %%", 100*f.Ratio) {
			text += ", up to " + most + " by the band"
		}
		return st.Warm(text + "; " + map[string]string{
			loop.NextOff:      "automatic compaction is off: /compact makes room, /auto on switches it on",
			loop.NextLater:    "compaction follows with your next message",
			loop.NextStuck:    "the last compaction could not make it smaller; the next one tries again",
			loop.NextCompacts: "compaction follows",
		}[f.Next])
	}
	return ""
}

// showMeter draws what fills the window.
func (h *loopHost) showMeter(w io.Writer, st style, c session.Context, status budget.Status, pins int) {
	h.mu.Lock()
	spec := h.spec
	h.mu.Unlock()
	l := status.Limits
	s, _ := show.Spend(budget.NewMeter(token.New(h.registry.Lookup(spec).Family, nil)), c.View, &status, 0) // as the provider counts, where it has told
	whole := max(l.Context, s.Sum()+s.Reserve)
	fmt.Fprintln(w, st.Bar(s, whole))
	st.Prose(w, "", fmt.Sprintf("%s tokens for input (%s), %s", st.Bold(number(status.Count.Tokens)), show.CountNote(status.Count), show.Fullness(&status)), nil)
	st.Legend(w, s, whole)
	fmt.Fprintf(w, "%s; the model sees %s; %s pinned; %s\n", plural(c.Request.History.Len(), "message"), number(c.View.Len()), number(pins), st.Verdict(&status))
}

// plainText leaves out of a text the control characters, with which a model, a
// file or a name could steer the terminal.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
