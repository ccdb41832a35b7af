package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/token"
)

func (a *app) checkCommand() *cobra.Command {
	var in inputFlags
	var mf modelFlags
	var failOver float64
	var rules bool
	cmd := newCommand("check FILE…", "Show how full the context is", `
  winnow check session.jsonl
  winnow check latest
  winnow check body.json --model claude-sonnet-4-5 --json
  winnow check logs/*.json traces --fail-over 0.8
  winnow check latest --rules

Measures a session or request body against its window: what the tokens are spent
on, the largest items, whether it fits, and what compaction would save, stage by
stage. Nothing is changed.

"latest" is the newest session of any agent on this machine, and "latest:codex" the
newest one of Codex. For a folder, a pattern or several files, each session gets
one line; unreadable files in a folder or pattern are named and skipped. With
--fail-over the exit code is 4 if a session takes more than that share of the
available input. If its agent has already compacted the session, what counts is
what the agent would send now.

With --rules it lists each sentence of the user's that binds (must, never, only, do
not) and where it stands after a compaction: in a message as it was, in a fold that
tells it, or nowhere.

The window is the one that the agent worked in, as far as its file shows it (it may
state the window, or show a prompt that the provider accepted or an automatic
compaction), else the model's. Claude Code uses 200,000 tokens of some models unless
their name ends in [1m]. The flag --window and the setting window override both.

The bar shows the window: a colour or a letter for each kind of content, then what
is free and the output reserve. The same counter decides when to
compact.`, cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		files, several, err := a.checkTargets(cmd.Context(), args)
		if err != nil {
			return err
		}
		if several && rules {
			return usageErrorf("check --rules: name one session")
		}
		if several {
			return a.checkMany(cmd, files, &in, &mf, failOver)
		}
		return a.runCheck(cmd, &files[0].File, &in, &mf, failOver, rules)
	})
	cmd.Flags().Float64Var(&failOver, "fail-over", 0, "exit with 4 if a session takes more than this `SHARE` of the available input")
	cmd.Flags().BoolVar(&rules, "rules", false, "list the user's binding sentences and where each stands after a compaction")
	cmd.MarkFlagsMutuallyExclusive("rules", "fail-over")
	in.addTo(cmd)
	mf.addTo(cmd)
	return cmd
}

func (a *app) runCheck(cmd *cobra.Command, file *agents.File, in *inputFlags, mf *modelFlags, failOver float64, rules bool) error {
	m, err := a.openMeasured(file, in, mf)
	if err != nil {
		return err
	}
	l, w, s, input := m.settings, m.engine, m.session, m.input
	if rules {
		return a.checkRules(cmd.Context(), w, s, file.Path)
	}
	var status budget.Status
	what := "measuring " + plural(s.Request.History.Len(), "message")
	doc, err := awaitShown(cmd.Context(), a, what, func(*progress) (doc *checked, err error) {
		doc, status, err = measureSession(cmd.Context(), w, s)
		return doc, err
	})
	if err != nil {
		return err
	}
	a.doubtModel(l.Model, status.Doubt)
	doc.File, doc.Format, doc.Saw, doc.Model = file.Path, string(s.Format), input.Saw, l.Model
	if len(input.Sessions) > 1 {
		doc.Session, doc.Named = s.ID, in.session
		if in.session != "" {
			doc.Label = s.Label()
		} else {
			doc.Sessions = sessionBriefs(w, input)
		}
	}
	err = a.printResult(doc, func() { a.showCheck(doc, &status) })
	if err != nil || failOver == 0 || doc.Share <= failOver {
		return err
	}
	return overShare(1, 1, failOver)
}

// measured is one session of a file, and the engine for its model.
type measured struct {
	settings *loaded
	engine   *winnow.Winnow
	input    *source.Input
	session  *source.Session
}

// openMeasured reads the session of a file that the flags name.
func (a *app) openMeasured(file *agents.File, in *inputFlags, mf *modelFlags) (*measured, error) {
	l, err := a.loadSettings()
	if err != nil {
		return nil, err
	}
	input, s, err := a.loadOne(file, in)
	if err != nil {
		return nil, err
	}
	w, err := l.engineFor(mf, s)
	return &measured{l, w, input, s}, err
}

// measureSession makes the document for one session.
func measureSession(ctx context.Context, w *winnow.Winnow, s *source.Session) (*checked, budget.Status, error) {
	req := s.Request
	status, err := w.Check(req, knownState(w, s))
	if err != nil {
		return nil, status, err
	}
	doc := show.NewChecked(w, show.Whole(req.History), &status, 10)
	doc.WindowSource, doc.WindowWhy, doc.Reported = w.Window().Source, w.Window().Why, lastUsage(req.History)
	if doc.Method == token.Estimated { // the band that decides is that of the model which needs most
		doc.Band = max(doc.Band, w.Meter().Counter().Spread())
	}
	doc.CompactAt, doc.CompactWhy = status.Due()
	doc.Own = ownCompactions(w.Meter(), s, doc.Reported)
	doc.Share = sendShare(doc.Own, status.Tokens.Total, status.Limits.Available)
	doc.Saving, err = tryCompaction(ctx, w, s, &status)
	return doc, status, err
}

// tryCompaction tries a compaction; nil is one that would bring nothing.
func tryCompaction(ctx context.Context, w *winnow.Winnow, s *source.Session, before *budget.Status) (*show.Saving, error) {
	req, state := &s.Request, s.Known(w)
	state.Force = true
	r, err := w.Fit(ctx, *req, state)
	var cannot *winnow.CannotFitError
	switch {
	case errors.As(err, &cannot):
		return &show.Saving{After: before.Tokens.Total, Messages: req.History.Len(), Stages: []plan.StageReport{}, Error: oneLine(cannot.Error())}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || !r.Changed || r.After.Tokens.Total >= before.Tokens.Total:
		return nil, nil //nolint:nilerr // a measurement does not fail because there is nothing to gain
	}
	gain := &show.Saving{After: r.After.Tokens.Total, Saved: before.Tokens.Total - r.After.Tokens.Total, Stages: []plan.StageReport{}}
	// Without what survives of the evidence, which costs more than all the rest.
	size := func(st *budget.Status) chat.Size {
		return chat.Size{Tokens: st.Tokens.Total, Bytes: st.Bytes, Images: st.Images}
	}
	rep := plan.NewReport(r.View, size(before), size(&r.After), append([]string{"repair"}, stage.Names()...))
	gain.Messages = rep.MessagesAfter
	for _, st := range rep.Stages {
		if st.Saved > 0 {
			gain.Stages = append(gain.Stages, st)
		}
	}
	return gain, nil
}

// ownCompactions returns what the agent did about its context itself; nil is nothing.
func ownCompactions(m *budget.Meter, s *source.Session, last *show.Reported) *show.OwnCompactions {
	n := len(s.Compactions)
	if n == 0 {
		return nil
	}
	c := &s.Compactions[n-1]
	o := &show.OwnCompactions{Times: n, Last: c.At}
	from := c.At
	if last != nil && last.Message >= c.At {
		o.Counted, o.Sent, from = true, last.Prompt+last.Output, last.Message+1
	} else {
		system, tools := m.Fixed(&s.Request)
		o.Sent = system.Tokens + tools.Tokens + m.Counter().Text(c.Summary)
	}
	for i := from; i < s.Request.History.Len(); i++ {
		o.Sent += m.Counter().Message(s.Request.History.At(i))
	}
	return o
}

// lastUsage returns the last usage that a provider reported.
func lastUsage(h chat.History) *show.Reported {
	for i := h.Len() - 1; i >= 0; i-- {
		if u := h.At(i).Usage; u != nil && u.Prompt() > 0 {
			return &show.Reported{Message: i, Prompt: u.Prompt(), Output: u.Output}
		}
	}
	return nil
}

func sessionBriefs(w *winnow.Winnow, in *source.Input) []show.SessionBrief {
	all := make([]show.SessionBrief, 0, len(in.Sessions))
	for i := range in.Sessions {
		s := &in.Sessions[i]
		b := show.SessionBrief{Number: s.Number, ID: s.ID, Messages: s.Request.History.Len()}
		if status, err := w.Check(s.Request, s.Known(w)); err == nil {
			b.Tokens, b.Fits = status.Tokens.Total, status.Fits
		}
		all = append(all, b)
	}
	return all
}

func (a *app) showCheck(d *checked, s *budget.Status) {
	st, out := a.styleFor(a.stdout), a.stdout
	saw := d.Saw
	if d.Label != "" {
		saw += ", of which " + d.Label + " is shown here"
	}
	for _, line := range show.Wrap(fmt.Sprintf("%s: %s, %s, %s", st.Bold(a.shortPath(d.File)), saw, plural(d.Messages, "message"), plural(d.Turns, "turn")), max(st.Columns(), 80)) {
		fmt.Fprintln(out, line)
	}
	st.Model(out, d.Model, d.ModelSource, d.Limits)
	st.Window(out, d.Limits.Context, d.WindowWhy)
	fmt.Fprintln(out)
	st.Meter(out, d.Kinds, d.Limits, d.CompactAt)
	fmt.Fprintln(out)
	st.Legend(out, d.Kinds, d.Limits.Context)
	fmt.Fprintln(out)
	st.Prose(out, "", fmt.Sprintf("%s tokens (%s), %s: %s", st.Bold(number(d.Tokens.Total)), show.CountNote(token.Count{Method: d.Method, Band: d.Band}), show.Fullness(s), st.Verdict(s)), nil)
	showDoubts(out, st, d)
	showSaving(out, st, d)
	if len(d.Largest) > 0 {
		fmt.Fprintf(out, "\n%s\n", st.Bold("largest items"))
		st.Largest(out, d.Largest, d.Tokens.Total)
	}
	if len(d.Sessions) > 0 {
		fmt.Fprintf(out, "\n%s\n", st.Bold("sessions in the file"))
		for _, b := range d.Sessions {
			fits := st.Green("fits")
			if !b.Fits {
				fits = st.Red("does not fit")
			}
			room := max(8, st.Columns()-54)
			fmt.Fprintf(out, "  %3d  %s %6s messages %11s tokens  %s\n", b.Number, show.Pad(brief(b.ID, room), room), number(b.Messages), number(b.Tokens), fits)
		}
	}
}

// showDoubts says what the line above does not: other limits than tokens, an
// estimate that may be too low, and what the provider itself counted.
func showDoubts(out io.Writer, st style, d *checked) {
	sizes := number(d.Bytes) + " bytes"
	if d.Images > 0 {
		sizes += ", " + plural(d.Images, "image")
	}
	for _, what := range d.Over {
		switch {
		case what == "bytes":
			sizes += fmt.Sprintf("; %s bytes are the limit", number(d.Limits.Bytes))
		case what == "images":
			sizes += fmt.Sprintf("; %s are the limit", plural(d.Limits.Images, "image"))
		case d.Tokens.Total <= d.Limits.Available && d.Method != token.Exact:
			sizes += "; the upper end of the estimate decides (--exact counts more accurately)"
		}
	}
	st.Prose(out, "", sizes, st.Dim)
	if d.CompactAt > 0 && d.CompactAt < d.Limits.Available {
		st.Prose(out, "", fmt.Sprintf("compaction starts at %s tokens: %s", number(d.CompactAt), d.CompactWhy), st.Dim)
	}
	if d.Reported != nil {
		text := fmt.Sprintf("the provider counted %s tokens for the prompt that message %d answered", number(d.Reported.Prompt), d.Reported.Message)
		if d.Own == nil && d.Reported.Prompt > d.Tokens.Total {
			text += ", including what was sent that is not in the file"
		}
		st.Prose(out, "", text, st.Dim)
	}
	if d.Own != nil {
		st.Prose(out, "", d.Own.String(), st.Dim)
	}
}

// showSaving says what a compaction would bring.
func showSaving(out io.Writer, st style, d *checked) {
	s := d.Saving
	switch {
	case s == nil:
		return
	case s.Error != "":
		fmt.Fprintf(out, "\n%s\n", st.Warm("compacting would not make it fit:"))
		st.Prose(out, "  ", s.Error, nil)
		return
	}
	fmt.Fprintf(out, "\ncompacting would leave %s tokens (%s) in %s\n",
		st.Bold(number(s.After)), show.Grown(d.Tokens.Total, s.After), plural(s.Messages, "message"))
	stages := make([]string, len(s.Stages))
	for i, r := range s.Stages {
		stages[i] = fmt.Sprintf("%s saves %s", r.Name, number(r.Saved))
	}
	st.Prose(out, "  ", strings.Join(stages, ", "), nil)
	// Below the threshold compact does nothing unless it is told to.
	fmt.Fprintf(out, "  winnow compact %s%s\n", d.File, d.Again())
}
