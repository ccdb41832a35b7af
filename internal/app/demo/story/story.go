// Package story is what "winnow demo" shows: the bundled session is compacted,
// looked through, given back and taken back, and every claim is checked as it is
// made. It needs the engine alone, so that a program with this package and little
// else (cmd/winnow-demo) is fetched and built in seconds.
package story

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// Story is everything that the demo finds; it is also its JSON document.
type Story struct {
	Session   string          `json:"session"`
	Before    *show.Checked   `json:"before"`
	After     *show.Checked   `json:"after"`
	Compacted *show.Compacted `json:"compaction"`
	Millis    float64         `json:"milliseconds"`
	Survived  []Survivor      `json:"survived"`
	Valid     Valid           `json:"valid"`
	Recall    Recall          `json:"recall"`
	Undo      Undo            `json:"undo"`
	Tighter   *show.Compacted `json:"tighter"`

	w     *winnow.Winnow
	s     *source.Session
	r     winnow.Result
	tight plan.View
}

// tighterWindow is the second window that the demo tries: so small that not every
// file that was read has room beside the summary.
const tighterWindow = 100_000

type Survivor struct {
	What    string `json:"what"`
	Text    string `json:"text"`
	Message int    `json:"message"` // of the view, or -1
	Tighter int    `json:"tighter"` // message of the view in the tighter window, or -1

	// Handle is what gives it back in the tighter window where it is not in the view.
	Handle string `json:"handle,omitempty"`

	hidden bool // it need not be in the tighter view
}

type Valid struct {
	ProblemsBefore int `json:"problems_before"`
	ProblemsAfter  int `json:"problems_after"`
}

type Recall struct {
	Handle    string `json:"handle"`
	Stands    string `json:"stands"` // in the view
	Tokens    int    `json:"tokens"` // of the original
	Bytes     int    `json:"bytes"`
	Identical bool   `json:"identical"`

	what string
}

type Undo struct {
	EditsBefore int  `json:"edits_before"`
	EditsAfter  int  `json:"edits_after"`
	Bytes       int  `json:"bytes"`
	Identical   bool `json:"identical"`
}

// Tell does what the demo shows, and checks it.
func Tell() (*Story, error) {
	body, err := wire.Parse(wire.OpenAI, demo.Session())
	if err != nil {
		return nil, err
	}
	d := &Story{Session: "an agent adds rate limiting to a parcel tracking service"}
	d.s = &source.Session{Number: 1, Model: body.Model(), Format: "openai", Request: body.Request(), Body: body}
	start := time.Now()
	if d.w, d.r, d.Compacted, err = d.compact(0); err != nil {
		return nil, err
	}
	d.Millis = float64(time.Since(start).Microseconds()) / 1000
	_, tight, doc, err := d.compact(tighterWindow)
	if err != nil {
		return nil, err
	}
	d.tight, d.Tighter = tight.View, doc
	d.Before = d.measureView(show.Whole(d.s.Request.History), &d.r.Before)
	d.After = d.measureView(d.r.View, &d.r.After)
	for _, step := range []func() error{d.checkSurvivors, d.validateBodies, d.recallLargest, d.undoPlan} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// measureView returns the meter of a view.
func (d *Story) measureView(v plan.View, s *budget.Status) *show.Checked {
	doc := show.NewChecked(d.w, v, s, 3)
	doc.File, doc.Format, doc.Model = "demo", "openai", demo.Model
	return doc
}

// compact compacts the session for a window, that of the model for 0.
func (d *Story) compact(window int) (*winnow.Winnow, winnow.Result, *show.Compacted, error) {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: demo.Model, Window: window}})
	if err != nil {
		return nil, winnow.Result{}, nil, err
	}
	r, err := w.Fit(context.Background(), d.s.Request, winnow.State{})
	if err == nil && (r.Plan == nil || !r.After.Fits) {
		err = errors.New("the session was not compacted")
	}
	if err != nil {
		return nil, r, nil, err
	}
	doc := &show.Compacted{File: "demo", Format: "openai", Model: demo.Model, Target: w.Target(r.After.Limits), DryRun: true}
	doc.Describe(d.s, &r)
	return w, r, doc, nil
}

// checkSurvivors looks in both views for words and files from the start, and for a
// line that changed since.
func (d *Story) checkSurvivors() error {
	for _, x := range []Survivor{
		{What: "a constraint from the first message", Text: demo.Constraint},
		{What: "the number that the user asked for", Text: "120 requests per minute"},
		{What: "the path of a file that was read early", Text: demo.EarlyPath},
		{What: "a line of a file as the agent left it", Text: demo.ChangedLine},
		{What: "a setting that only the early file had", Text: demo.EarlySetting, hidden: true},
	} {
		x.Message, x.Tighter = findMessage(d.r.View, x.Text), findMessage(d.tight, x.Text)
		if x.Tighter < 0 && x.hidden {
			x.Handle = d.handleBehind(d.tight.Plan(), x.Text)
		}
		if x.Message < 0 && d.handleBehind(d.r.Plan, x.Text) == "" || x.Message < 0 && !x.hidden || x.Tighter < 0 && x.Handle == "" {
			return fmt.Errorf("%s is gone from the view: %q", x.What, x.Text)
		}
		d.Survived = append(d.Survived, x)
	}
	return nil
}

// findMessage returns the first message that says something, or -1.
func findMessage(s chat.Sequence, text string) int {
	for i := range s.Len() {
		m := s.At(i)
		for k := range m.Parts {
			if strings.Contains(m.Parts[k].Text, text) || strings.Contains(m.Parts[k].Args, text) {
				return i
			}
		}
	}
	return -1
}

// handleBehind returns the handle of a plan that gives something back, "" for none.
func (d *Story) handleBehind(p *plan.Plan, text string) string {
	for i := range p.Edits {
		handle := p.Edits[i].Handle
		if handle == "" {
			continue
		}
		o, err := plan.Recall(d.s.Request.History, p, handle)
		if err != nil {
			continue
		}
		if content, _ := show.OriginalText(&o); strings.Contains(content, text) {
			return handle
		}
	}
	return ""
}

// validateBodies asks the provider's validator about both bodies.
func (d *Story) validateBodies() error {
	out, err := d.s.Body.Encode(d.r.View)
	if err != nil {
		return err
	}
	problems := wire.Validate(wire.OpenAI, out)
	d.Valid = Valid{len(wire.Validate(wire.OpenAI, d.s.Body.Raw())), len(problems)}
	if len(problems) > 0 {
		return fmt.Errorf("the view is not valid: %s", problems[0])
	}
	return nil
}

// recallLargest gets the largest item back that was reduced.
func (d *Story) recallLargest() error {
	var best *plan.Edit
	for i := range d.r.Plan.Edits {
		e := &d.r.Plan.Edits[i]
		switch {
		case e.Handle == "":
		case best == nil, e.Kind == plan.Mask && best.Kind != plan.Mask, e.Kind == best.Kind && e.Before.Tokens > best.Before.Tokens:
			best = e
		}
	}
	if best == nil {
		return errors.New("nothing was reduced")
	}
	o, err := plan.Recall(d.s.Request.History, d.r.Plan, best.Handle)
	if err != nil {
		return err
	}
	content, _ := show.OriginalText(&o)
	d.Recall = Recall{
		Handle: best.Handle, Stands: best.Text, Tokens: best.Before.Tokens, Bytes: len(content),
	}
	h := d.s.Request.History
	if best.Kind == plan.Mask {
		d.Recall.Identical = content == h.At(best.From).Parts[best.Part].Text
		d.Recall.what = show.Brief(conview.About(h, best.From, best.Part), 72)
	} else {
		d.Recall.Identical = chat.NewHistory(o.Messages...).Chain(len(o.Messages)) == chat.NewHistory(h.Messages()[best.From:best.To]...).Chain(best.To-best.From)
		d.Recall.what = fmt.Sprintf("messages %d to %d, folded", best.From, best.To-1)
	}
	if !d.Recall.Identical {
		return fmt.Errorf("handle %s did not give back the original", best.Handle)
	}
	return nil
}

// undoPlan takes the plan back and compares the bytes.
func (d *Story) undoPlan() error {
	h := d.s.Request.History
	q, err := plan.Undo(d.r.Plan, d.r.Plan.ID(), h, d.s.Request.Rules)
	if err != nil {
		return err
	}
	v, err := plan.Apply(h, q)
	if err != nil {
		return err
	}
	out, err := d.s.Body.Encode(v)
	if err != nil {
		return err
	}
	d.Undo = Undo{len(d.r.Plan.Edits), len(q.Edits), len(out), bytes.Equal(out, d.s.Body.Raw())}
	if !d.Undo.Identical {
		return errors.New("undoing the plan did not restore the session")
	}
	return nil
}

// Show tells it to a person.
func (d *Story) Show(out io.Writer, st show.Style) {
	head := func(n int, text string) { fmt.Fprintf(out, "\n%s\n", st.Bold(fmt.Sprintf("%d. %s", n, text))) }
	fmt.Fprintf(out, "A bundled session: %s.\n%s, %s turns, %s bytes; no key, no network, no model is called.\n",
		d.Session, text.Plural(d.Before.Messages, "message"), text.Number(len(chat.Boundaries(d.s.Request.History))), text.Number(d.Undo.Bytes))

	head(1, "Too much for the window")
	st.Model(out, d.Before.Model, d.Before.ModelSource, d.Before.Limits)
	whole, width := max(d.Before.Limits.Context, d.Before.Kinds.Sum()+d.Before.Kinds.Reserve), st.Cells()
	due, _ := d.r.Before.Due()
	st.Meter(out, d.Before.Kinds, d.Before.Limits, due)
	st.Legend(out, d.Before.Kinds, d.Before.Limits.Context)
	fmt.Fprintf(out, "%s tokens: %s\n", st.Bold(text.Number(d.Before.Tokens.Total)), st.Verdict(&d.r.Before))

	head(2, fmt.Sprintf("Compacted in %.0f ms: a plan of %s over a history that is not touched", max(1, d.Millis), text.Plural(d.Undo.EditsBefore, "edit")))
	show.Stages(out, st, d.Compacted.Stages)
	show.Tallies(out, st, d.Compacted)

	head(3, "What the model sees now")
	fmt.Fprintf(out, "[%s]\n", st.Fill(d.After.Kinds, whole, width))
	fmt.Fprintf(out, "%s tokens, %s of what is available: %s\n", st.Bold(text.Number(d.After.Tokens.Total)), show.Percent(d.After.Tokens.Total, d.After.Limits.Available), st.Verdict(&d.r.After))
	fmt.Fprintf(out, "problems that a provider would refuse: %d before (an interrupted call), %d after\n", d.Valid.ProblemsBefore, d.Valid.ProblemsAfter)

	head(4, fmt.Sprintf("The same session in a window of %s", text.Number(tighterWindow)))
	show.Stages(out, st, d.Tighter.Stages)
	fmt.Fprintf(out, "%s -> %s messages, %s -> %s tokens: older messages became a\nsummary with the user's words, followed by the files as they stand now\n",
		text.Number(d.Tighter.MessagesBefore), text.Number(d.Tighter.MessagesAfter), text.Number(d.Tighter.Before), text.Number(d.Tighter.After))

	head(5, "Still there, looked up in both views")
	for _, x := range d.Survived {
		text := x.Text
		if x.Handle != "" {
			where := "in the smaller window: "
			if x.Message < 0 {
				where = ""
			}
			text += fmt.Sprintf(" (%srecall %s)", where, x.Handle)
		}
		fmt.Fprintf(out, "  %s  %s\n       %s\n", st.Green("yes"), x.What, st.Dim(show.Brief(text, st.Columns()-7)))
	}

	head(6, "Reduced, not lost: what is hidden has a handle")
	fmt.Fprintf(out, "  %s\n", d.Recall.what)
	for _, line := range show.HeadLines(d.Recall.Stands, 4, st.Columns()-4) {
		fmt.Fprintf(out, "  %s\n", st.Dim(strings.TrimRight("| "+line, " ")))
	}
	fmt.Fprintf(out, "  recall %s gives back %s bytes (%s tokens): identical\n", st.Bold(d.Recall.Handle), text.Number(d.Recall.Bytes), text.Number(d.Recall.Tokens))

	head(7, "Undone")
	fmt.Fprintf(out, "  %d edits -> %d; the request's %s bytes, compared: identical\n", d.Undo.EditsBefore, d.Undo.EditsAfter, text.Number(d.Undo.Bytes))

	fmt.Fprintf(out, "\nTry it: winnow demo --out session.json; winnow check session.json; winnow compact session.json\n")
}
