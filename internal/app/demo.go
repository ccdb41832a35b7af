package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/source"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

func (a *app) demoCommand() *cobra.Command {
	var write string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show everything on a bundled session, without a key or a network",
		Example: `  winnow demo
  winnow demo --write session.json    write the session, to try the commands on`,
		Long: `Compacts a bundled coding session and shows the context before and after, what
each stage saved, that what matters is still there, the original behind a handle,
and that taking the plan back restores every byte. Each claim is
checked as it is made; a check that fails ends the demo with an error.`,
		Args: cobra.NoArgs,
		RunE: a.work(func(*cobra.Command, []string) error {
			if write != "" {
				return a.writeDemo(write)
			}
			return a.demo()
		}),
	}
	cmd.Flags().StringVar(&write, "write", "", "write the bundled session to `FILE` and do nothing else; - is standard output")
	return cmd
}

// writeDemo writes the session to a file that does not exist yet, or to standard
// output, without a word besides.
func (a *app) writeDemo(path string) error {
	if path == "-" {
		if a.asJSON {
			return usagef("--json and --write - both want standard output; write the session to a file")
		}
		_, err := a.data().Write(demo.Session())
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return usagef("%s: this file exists; name another", path)
	}
	outs := newOutputs("")
	if err := outs.add(path, demo.Session()); err != nil {
		return err
	}
	if err := outs.write(); err != nil {
		return err
	}
	if a.asJSON {
		return a.print(map[string]any{"file": path, "bytes": len(demo.Session())})
	}
	a.say("wrote %s bytes to %s; try: winnow check %s", number(len(demo.Session())), path, path)
	return nil
}

// shownDemo is everything that the demo finds; it is also its JSON document.
type shownDemo struct {
	Session   string         `json:"session"`
	Before    *checked       `json:"before"`
	After     *checked       `json:"after"`
	Compacted *compacted     `json:"compaction"`
	Millis    float64        `json:"milliseconds"`
	Survived  []demoSurvivor `json:"survived"`
	Valid     demoValid      `json:"valid"`
	Recall    demoRecall     `json:"recall"`
	Undo      demoUndo       `json:"undo"`
	Tighter   *compacted     `json:"tighter"`

	w      *winnow.Winnow
	s      *source.Session
	r      winnow.Result
	tight  plan.View
	status [2]budget.Status // before and after
}

// tighterWindow is the second window that the demo tries: so small that not every
// file that was read has room beside the summary.
const tighterWindow = 100_000

type demoSurvivor struct {
	What    string `json:"what"`
	Text    string `json:"text"`
	Message int    `json:"message"` // of the view, or -1
	Tighter int    `json:"tighter"` // message of the view in the tighter window, or -1

	// Handle is what gives it back in the tighter window where it is not in the view.
	Handle string `json:"handle,omitempty"`

	hidden bool // it need not be in the tighter view
}

type demoValid struct {
	ProblemsBefore int `json:"problems_before"`
	ProblemsAfter  int `json:"problems_after"`
}

type demoRecall struct {
	Handle    string `json:"handle"`
	Stands    string `json:"stands"` // in the view
	Tokens    int    `json:"tokens"` // of the original
	Bytes     int    `json:"bytes"`
	Identical bool   `json:"identical"`

	what string
}

type demoUndo struct {
	EditsBefore int  `json:"edits_before"`
	EditsAfter  int  `json:"edits_after"`
	Bytes       int  `json:"bytes"`
	Identical   bool `json:"identical"`
}

func (a *app) demo() error {
	d, err := runDemo()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if a.asJSON {
		return a.print(d)
	}
	a.showDemo(d)
	return nil
}

// runDemo does what the demo shows, and checks it.
func runDemo() (*shownDemo, error) {
	raw := demo.Session()
	body, err := wire.Parse(wire.OpenAI, raw)
	if err != nil {
		return nil, err
	}
	d := &shownDemo{Session: "an agent adds rate limiting to a parcel tracking service"}
	d.s = &source.Session{Number: 1, Model: body.Model(), Format: "openai", Request: body.Request(), Body: body}
	settings := winnow.Settings{Model: demo.Model}
	if d.w, err = winnow.New(&winnow.Options{Settings: settings}); err != nil {
		return nil, err
	}
	start := time.Now()
	if d.r, err = d.w.Fit(context.Background(), d.s.Request, winnow.State{}); err != nil {
		return nil, err
	}
	d.Millis = float64(time.Since(start).Microseconds()) / 1000
	if d.r.Plan == nil || !d.r.After.Fits {
		return nil, errors.New("the session was not compacted")
	}
	d.Compacted = &compacted{File: "demo", Format: "openai", Model: demo.Model, Target: int(d.w.Settings().Target * float64(d.r.After.Limits.Available)), DryRun: true}
	(&compactFlags{}).describe(d.Compacted, d.s, &d.r)
	d.Before = d.measured(0, body.Request().History.Len())
	d.After = d.measured(1, d.r.View.Len())
	if err := d.tighten(); err != nil {
		return nil, err
	}
	for _, step := range []func(*wire.Body) error{d.survive, d.validate, d.recall, d.undo} {
		if err := step(body); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// measured is the meter before (0) or after (1).
func (d *shownDemo) measured(which, messages int) *checked {
	s := d.r.Before
	view, _ := plan.Apply(d.s.Request.History, nil)
	if which == 1 {
		s, view = d.r.After, d.r.View
	}
	d.status[which] = s
	kinds, largest := spend(d.w.Meter(), &d.s.Request, view, s.Limits, 0, 3)
	return &checked{
		File: "demo", Format: "openai", Model: demo.Model, ModelSource: string(d.w.Model().Source), Messages: messages, Turns: len(chat.Boundaries(view)),
		Tokens: s.Tokens, Method: s.Count.Method, Band: s.Count.Band, Limits: s.Limits, Kinds: kinds, Bytes: s.Bytes, Images: s.Images,
		Ratio: ratio(s.Tokens.Total, s.Limits.Available), RatioUpper: s.Ratio, Compact: s.ShouldCompact, Fits: s.Fits, Largest: largest,
	}
}

// tighten compacts the session again, for a smaller window.
func (d *shownDemo) tighten() error {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: demo.Model, Window: tighterWindow}})
	if err != nil {
		return err
	}
	r, err := w.Fit(context.Background(), d.s.Request, winnow.State{})
	if err != nil {
		return err
	}
	if r.Plan == nil || !r.After.Fits {
		return errors.New("the session was not compacted for the smaller window")
	}
	d.tight = r.View
	d.Tighter = &compacted{File: "demo", Format: "openai", Model: demo.Model, Target: int(w.Settings().Target * float64(r.After.Limits.Available)), DryRun: true}
	(&compactFlags{}).describe(d.Tighter, d.s, &r)
	return nil
}

// survive looks in both views for what was said and read at the start, and for
// what was changed since.
func (d *shownDemo) survive(*wire.Body) error {
	for _, x := range []demoSurvivor{
		{What: "a constraint from the first message", Text: demo.Constraint},
		{What: "the number that the user asked for", Text: "120 requests per minute"},
		{What: "the path of a file that was read early", Text: demo.EarlyPath},
		{What: "a line of a file as the agent left it", Text: demo.ChangedLine},
		{What: "a setting that stood in the early file alone", Text: demo.EarlySetting, hidden: true},
	} {
		x.Message, x.Tighter = find(d.r.View, x.Text), find(d.tight, x.Text)
		if x.Tighter < 0 && x.hidden {
			x.Handle = d.behind(d.tight.Plan(), x.Text)
		}
		if x.Message < 0 && d.behind(d.r.Plan, x.Text) == "" || x.Message < 0 && !x.hidden || x.Tighter < 0 && x.Handle == "" {
			return fmt.Errorf("%s is gone from the view: %q", x.What, x.Text)
		}
		d.Survived = append(d.Survived, x)
	}
	return nil
}

// find returns the first message that says something, or -1.
func find(s chat.Sequence, text string) int {
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

// behind returns the handle of a plan that gives something back, "" for none.
func (d *shownDemo) behind(p *plan.Plan, text string) string {
	for i := range p.Edits {
		handle := p.Edits[i].Handle
		if handle == "" {
			continue
		}
		o, err := plan.Recall(d.s.Request.History, p, handle)
		if err != nil {
			continue
		}
		if content, _ := originalText(&o); strings.Contains(content, text) {
			return handle
		}
	}
	return ""
}

// validate asks the provider's validator about both bodies.
func (d *shownDemo) validate(body *wire.Body) error {
	out, err := body.Encode(d.r.View)
	if err != nil {
		return err
	}
	problems := wire.Validate(wire.OpenAI, out)
	d.Valid = demoValid{len(wire.Validate(wire.OpenAI, body.Raw())), len(problems)}
	if len(problems) > 0 {
		return fmt.Errorf("the view is not valid: %s", problems[0])
	}
	return nil
}

// recall gets the largest item back that was reduced.
func (d *shownDemo) recall(*wire.Body) error {
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
	content, _ := originalText(&o)
	d.Recall = demoRecall{
		Handle: best.Handle, Stands: best.Text, Tokens: best.Before.Tokens, Bytes: len(content),
	}
	h := d.s.Request.History
	if best.Kind == plan.Mask {
		d.Recall.Identical = content == h.At(best.From).Parts[best.Part].Text
		d.Recall.what = brief(conview.About(h, best.From, best.Part), 72)
	} else {
		d.Recall.Identical = chat.NewHistory(o.Messages...).Chain(len(o.Messages)) == chat.NewHistory(h.Messages()[best.From:best.To]...).Chain(best.To-best.From)
		d.Recall.what = fmt.Sprintf("messages %d to %d, folded", best.From, best.To-1)
	}
	if !d.Recall.Identical {
		return fmt.Errorf("handle %s gave back something else than was there", best.Handle)
	}
	return nil
}

// undo takes the plan back and compares the bytes.
func (d *shownDemo) undo(body *wire.Body) error {
	h := d.s.Request.History
	q, err := plan.Undo(d.r.Plan, d.r.Plan.ID(), h, d.s.Request.Rules)
	if err != nil {
		return err
	}
	v, err := plan.Apply(h, q)
	if err != nil {
		return err
	}
	out, err := body.Encode(v)
	if err != nil {
		return err
	}
	d.Undo = demoUndo{len(d.r.Plan.Edits), len(q.Edits), len(out), bytes.Equal(out, body.Raw())}
	if !d.Undo.Identical {
		return errors.New("taking the plan back did not restore the session")
	}
	return nil
}

// showDemo tells it to a person.
func (a *app) showDemo(d *shownDemo) {
	st, out := a.style(a.stdout), a.stdout
	head := func(n int, text string) { fmt.Fprintf(out, "\n%s\n", st.bold(fmt.Sprintf("%d. %s", n, text))) }
	fmt.Fprintf(out, "A bundled session: %s.\n%s, %s turns, %s bytes; no key, no network, no model is called.\n",
		d.Session, plural(d.Before.Messages, "message"), number(len(turnsOf(d.s))), number(d.Undo.Bytes))

	head(1, "Too much for the window")
	fmt.Fprintln(out, modelLine(d.Before.Model, d.Before.ModelSource, d.Before.Limits))
	whole, width := max(d.Before.Limits.Context, d.Before.Kinds.Sum()+d.Before.Kinds.Reserve), st.cells()
	due, _ := d.status[0].Due()
	st.meter(out, d.Before.Kinds, d.Before.Limits, due)
	st.legend(out, d.Before.Kinds, d.Before.Limits.Context)
	fmt.Fprintf(out, "%s tokens: %s\n", st.bold(number(d.Before.Tokens.Total)), st.verdict(&d.status[0]))

	head(2, fmt.Sprintf("Compacted in %.0f ms: a plan of %s over a history that is not touched", max(1, d.Millis), plural(d.Undo.EditsBefore, "edit")))
	showStages(out, st, d.Compacted.Stages)
	showTallies(out, st, d.Compacted)

	head(3, "What the model sees now")
	fmt.Fprintf(out, "[%s]\n", st.fill(d.After.Kinds, whole, width))
	fmt.Fprintf(out, "%s tokens, %s of what is available: %s\n", st.bold(number(d.After.Tokens.Total)), percent(d.After.Tokens.Total, d.After.Limits.Available), st.verdict(&d.status[1]))
	fmt.Fprintf(out, "problems a provider would refuse it for: %d before (an interrupted call), %d after\n", d.Valid.ProblemsBefore, d.Valid.ProblemsAfter)

	head(4, fmt.Sprintf("The same session in a window of %s", number(tighterWindow)))
	showStages(out, st, d.Tighter.Stages)
	fmt.Fprintf(out, "%s -> %s messages, %s -> %s tokens: older messages became a\nsummary with the user's words, followed by the files as they stand now\n",
		number(d.Tighter.MessagesBefore), number(d.Tighter.MessagesAfter), number(d.Tighter.Before), number(d.Tighter.After))

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
		fmt.Fprintf(out, "  %s  %s\n       %s\n", st.green("yes"), x.What, st.dim(brief(text, st.columns()-7)))
	}

	head(6, "Reduced, not lost: what is hidden has a handle")
	fmt.Fprintf(out, "  %s\n", d.Recall.what)
	for _, line := range headLines(d.Recall.Stands, 4, st.columns()-4) {
		fmt.Fprintf(out, "  %s\n", st.dim("| "+line))
	}
	fmt.Fprintf(out, "  recall %s gives back %s bytes (%s tokens), compared: identical\n", st.bold(d.Recall.Handle), number(d.Recall.Bytes), number(d.Recall.Tokens))

	head(7, "Taken back")
	fmt.Fprintf(out, "  %d edits -> %d; the request's %s bytes, compared: identical\n", d.Undo.EditsBefore, d.Undo.EditsAfter, number(d.Undo.Bytes))

	fmt.Fprintf(out, "\nTry it: winnow demo --write session.json; winnow check session.json; winnow compact session.json\n")
}

// turnsOf lists where the user's requests stand.
func turnsOf(s *source.Session) []int { return chat.Boundaries(s.Request.History) }
