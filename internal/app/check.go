package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/agents"
	"github.com/winnow-llm/winnow/internal/source"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/token"
)

func (a *app) checkCommand() *cobra.Command {
	var in inputFlags
	var mf modelFlags
	var failOver float64
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Show how full the context is",
		Example: `  winnow check session.jsonl
  winnow check latest
  winnow check body.json --model claude-sonnet-4-5 --json
  winnow check logs/*.json traces --fail-over 0.8`,
		Long: `Measures a session or request body against its window: what the tokens are spent
on, the largest items, whether it fits, and what compaction would save, stage by
stage. Nothing is changed.

latest stands for the session that an agent on this machine wrote last. Of a
folder, a pattern or several files each session gets one line; files of a folder
or pattern that cannot be read are named and left out. With --fail-over the exit code is 1 when a
session takes more than that share of what is available; where its agent compacted
it, what the agent would now send counts.

The window is the model's, or that of the agent that wrote the session: what its
file states or proves (a prompt that was taken, a compaction that the agent made
by itself), and for Claude Code 200,000 unless the model's name ends in [1m].
--window and the setting window win.

The bar is the window: a colour, or a letter, for each kind of content, then
what is free and what is reserved for the answer. The numbers are those of the
counter that decides about compaction.`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.work(func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("fail-over") && (failOver <= 0 || failOver > 10) {
				return usagef("--fail-over %v: must be a share such as 0.8", failOver)
			}
			files, several, err := a.checkTargets(cmd.Context(), args)
			if err != nil {
				return err
			}
			if several {
				return a.checkMany(cmd, files, &in, &mf, failOver)
			}
			return a.check(cmd, &files[0].File, &in, &mf, failOver)
		}),
	}
	cmd.Flags().Float64Var(&failOver, "fail-over", 0, "exit with 1 when a session takes more than this `SHARE` of what is available")
	in.add(cmd)
	mf.add(cmd)
	return cmd
}

// checked is the JSON document of check.
type checked struct {
	File    string `json:"file"`
	Format  string `json:"format"`
	Saw     string `json:"saw"`
	Session string `json:"session,omitempty"`
	Model   string `json:"model"`

	// ModelSource says how the model was found in the registry.
	ModelSource string `json:"model_source"`

	// WindowSource says where the window is known from: settings, stated, proven,
	// agent or model; WindowWhy says it in words.
	WindowSource model.WindowSource `json:"window_source"`
	WindowWhy    string             `json:"window_why,omitempty"`

	Messages int              `json:"messages"`
	Turns    int              `json:"turns"`
	Tokens   budget.Breakdown `json:"tokens"`
	Method   token.Method     `json:"method"`
	Band     float64          `json:"band"`
	Limits   budget.Limits    `json:"limits"`
	Kinds    spent            `json:"kinds"`
	Bytes    int              `json:"bytes"`
	Images   int              `json:"images"`

	// Ratio is the count over what is available, RatioUpper the upper end of the
	// count's band, which decides.
	Ratio      float64 `json:"ratio"`
	RatioUpper float64 `json:"ratio_upper"`

	// Share is what --fail-over looks at: Ratio, or where the agent compacted the
	// session itself, that of what it would send now.
	Share float64 `json:"share"`

	// CompactAt is the count from which on it is time to compact, and CompactWhy
	// how it comes about. CompactReason is the same under its older name.
	CompactAt     int    `json:"compact_at"`
	CompactWhy    string `json:"compact_why"`
	CompactReason string `json:"compact_at_reason"`

	Compact bool `json:"should_compact"`
	Fits    bool `json:"fits"`

	// Reported is what the provider last counted, where the file tells.
	Reported *reported `json:"reported,omitempty"`

	// Own is what the agent that wrote the file did about its context itself.
	Own *ownCompactions `json:"own_compactions,omitempty"`

	// Over names what is over its limit: tokens, bytes, images.
	Over []string `json:"over,omitempty"`

	// Saving is what a compaction would bring; nil when there is nothing to gain.
	Saving *saving `json:"saving,omitempty"`

	Largest  []item         `json:"largest"`
	Sessions []sessionBrief `json:"sessions,omitempty"`

	// The session that the person asked for, as written and as people are told.
	named, label string
}

// reported is the usage of the last answer that carries one.
type reported struct {
	Message int `json:"message"`
	Prompt  int `json:"prompt"`
	Output  int `json:"output"`
}

// ownCompactions are the compactions that the file records. The agent sends less
// than the file holds then.
type ownCompactions struct {
	Times int `json:"times"`
	Last  int `json:"last"` // the message before which the last one was made

	// Sent is about what the agent would send now. Counted says that this is the
	// provider's count of its last prompt and what came after; else it is the
	// summary and the messages since, and the agent may send more.
	Sent    int  `json:"sent"`
	Counted bool `json:"counted"`
}

// saving is what a compaction would do. Where even that does not make the
// request fit, Error says why.
type saving struct {
	After    int                `json:"tokens_after"`
	Saved    int                `json:"saved"`
	Messages int                `json:"messages_after"`
	Stages   []plan.StageReport `json:"stages"`
	Error    string             `json:"error,omitempty"`
}

// sessionBrief is one line about a session in a file with several.
type sessionBrief struct {
	Number   int    `json:"number"`
	ID       string `json:"id"`
	Messages int    `json:"messages"`
	Tokens   int    `json:"tokens"`
	Fits     bool   `json:"fits"`
}

func (a *app) check(cmd *cobra.Command, file *agents.File, in *inputFlags, mf *modelFlags, failOver float64) error {
	l, err := a.loadSettings()
	if err != nil {
		return err
	}
	input, err := a.sessionInput(file, in.format)
	if err != nil {
		return err
	}
	a.warn(input)
	s, err := a.choose(input, in.session)
	if err != nil {
		return err
	}
	if err := mf.apply(cmd, l, s); err != nil {
		return err
	}
	w, err := l.engine()
	if err != nil {
		return err
	}
	p := a.progress("measuring " + plural(s.Request.History.Len(), "message"))
	defer p.clear()
	var status budget.Status
	doc, err := await(cmd.Context(), func() (doc *checked, err error) {
		doc, status, err = measure(cmd.Context(), w, s)
		return doc, err
	})
	if err != nil {
		return err
	}
	p.clear()
	doc.File, doc.Format, doc.Saw, doc.Model = file.Path, string(s.Format), input.Saw, l.Model
	if len(input.Sessions) > 1 {
		doc.Session, doc.named = s.ID, in.session
		if in.session != "" {
			doc.label = s.Label()
		}
		if in.session == "" {
			doc.Sessions = briefs(w, input)
		}
	}
	if a.asJSON {
		err = a.print(doc)
	} else {
		a.showCheck(doc, &status)
	}
	if err != nil || failOver == 0 || doc.Share <= failOver {
		return err
	}
	return a.overShare(1, 1, failOver)
}

// measure makes the document for one session.
func measure(ctx context.Context, w *winnow.Winnow, s *source.Session) (*checked, budget.Status, error) {
	req := s.Request
	state := s.Known(w)
	state.Encoded = s.Size("")
	status, err := w.Check(req, state)
	if err != nil {
		return nil, status, err
	}
	kinds, largest := spend(w.Meter(), &req, whole(req.History), status.Limits, status.Tokens.Total, 10)
	doc := &checked{
		ModelSource: string(w.Model().Source), WindowSource: w.Window().Source, WindowWhy: w.Window().Why,
		Messages: req.History.Len(), Turns: len(chat.Boundaries(req.History)),
		Tokens: status.Tokens, Method: status.Count.Method, Band: status.Count.Band,
		Limits: status.Limits, Kinds: kinds, Bytes: status.Bytes, Images: status.Images,
		Ratio: ratio(status.Tokens.Total, status.Limits.Available), RatioUpper: status.Ratio,
		Compact: status.ShouldCompact, Fits: status.Fits, Over: status.Over,
		Largest: largest, Reported: lastUsage(req.History),
	}
	doc.CompactAt, doc.CompactWhy = status.Due()
	doc.CompactReason = doc.CompactWhy
	doc.Own = own(w.Meter(), s, doc.Reported)
	doc.Share = sendShare(doc.Own, status.Tokens.Total, status.Limits.Available)
	doc.Saving, err = saved(ctx, w, s, &status)
	return doc, status, err
}

// saved tries a compaction; nil is one that would bring nothing.
func saved(ctx context.Context, w *winnow.Winnow, s *source.Session, before *budget.Status) (*saving, error) {
	req, state := &s.Request, s.Known(w)
	state.Force = true
	r, err := w.Fit(ctx, *req, state)
	var cannot *winnow.CannotFitError
	switch {
	case errors.As(err, &cannot):
		return &saving{After: before.Tokens.Total, Messages: req.History.Len(), Stages: []plan.StageReport{}, Error: oneLine(cannotText(cannot))}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || !r.Changed || r.After.Tokens.Total >= before.Tokens.Total:
		return nil, nil //nolint:nilerr // a measurement does not fail because there is nothing to gain
	}
	gain := &saving{After: r.After.Tokens.Total, Saved: before.Tokens.Total - r.After.Tokens.Total, Stages: []plan.StageReport{}}
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

// own returns what the agent did about its context itself; nil is nothing.
func own(m *budget.Meter, s *source.Session, last *reported) *ownCompactions {
	n := len(s.Compactions)
	if n == 0 {
		return nil
	}
	c := &s.Compactions[n-1]
	o := &ownCompactions{Times: n, Last: c.At}
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
func lastUsage(h chat.History) *reported {
	for i := h.Len() - 1; i >= 0; i-- {
		if u := h.At(i).Usage; u != nil && u.Prompt() > 0 {
			return &reported{i, u.Prompt(), u.Output}
		}
	}
	return nil
}

func briefs(w *winnow.Winnow, in *source.Input) []sessionBrief {
	all := make([]sessionBrief, 0, len(in.Sessions))
	for i := range in.Sessions {
		s := &in.Sessions[i]
		b := sessionBrief{Number: s.Number, ID: s.ID, Messages: s.Request.History.Len()}
		if status, err := w.Check(s.Request, s.Known(w)); err == nil {
			b.Tokens, b.Fits = status.Tokens.Total, status.Fits
		}
		all = append(all, b)
	}
	return all
}

func (a *app) showCheck(d *checked, s *budget.Status) {
	st, out := a.style(a.stdout), a.stdout
	saw := d.Saw
	if d.label != "" {
		saw += ", of which " + d.label + " is shown here"
	}
	for _, line := range wrap(fmt.Sprintf("%s: %s, %s, %s", st.bold(d.File), saw, plural(d.Messages, "message"), plural(d.Turns, "turn")), max(st.columns(), 80)) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out, modelLine(d.Model, d.ModelSource, d.Limits))
	st.window(out, d.Limits.Context, d.WindowWhy)
	fmt.Fprintln(out)
	st.meter(out, d.Kinds, d.Limits, d.CompactAt)
	fmt.Fprintln(out)
	st.legend(out, d.Kinds, d.Limits.Context)
	fmt.Fprintln(out)
	st.prose(out, "", fmt.Sprintf("%s tokens (%s), %s: %s", st.bold(number(d.Tokens.Total)), countNote(s.Count), fullness(s), st.verdict(s)), nil)
	st.doubts(out, d)
	st.saving(out, d)
	if len(d.Largest) > 0 {
		fmt.Fprintf(out, "\n%s\n", st.bold("largest items"))
		st.largest(out, d.Largest, d.Tokens.Total)
	}
	if len(d.Sessions) > 0 {
		fmt.Fprintf(out, "\n%s\n", st.bold("sessions in the file"))
		for _, b := range d.Sessions {
			fits := st.green("fits")
			if !b.Fits {
				fits = st.red("does not fit")
			}
			room := max(8, st.columns()-54)
			fmt.Fprintf(out, "  %3d  %s %6s messages %11s tokens  %s\n", b.Number, pad(brief(b.ID, room), room), number(b.Messages), number(b.Tokens), fits)
		}
	}
}

// doubts says what the line above does not: other limits than tokens, an
// estimate that may be too low, and what the provider itself counted.
func (st style) doubts(out io.Writer, d *checked) {
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
			sizes += "; the upper end of the band decides (--exact counts closer)"
		}
	}
	st.prose(out, "", sizes, st.dim)
	if d.CompactAt > 0 && d.CompactAt < d.Limits.Available {
		st.prose(out, "", fmt.Sprintf("compaction is due from %s tokens on: %s", number(d.CompactAt), d.CompactWhy), st.dim)
	}
	if d.Reported != nil {
		text := fmt.Sprintf("the provider counted %s tokens for the prompt of message %d", number(d.Reported.Prompt), d.Reported.Message)
		if d.Own == nil && d.Reported.Prompt > d.Tokens.Total {
			text += ", with what it was sent besides the file"
		}
		st.prose(out, "", text, st.dim)
	}
	if d.Own != nil {
		st.prose(out, "", d.Own.String(), st.dim)
	}
}

// saving says what a compaction would bring.
func (st style) saving(out io.Writer, d *checked) {
	s := d.Saving
	switch {
	case s == nil:
		return
	case s.Error != "":
		fmt.Fprintf(out, "\n%s\n", st.warm("compacting would not make it fit:"))
		st.prose(out, "  ", s.Error, nil)
		return
	}
	fmt.Fprintf(out, "\ncompacting would leave %s tokens (%s) in %s\n",
		st.bold(number(s.After)), grown(d.Tokens.Total, s.After), plural(s.Messages, "message"))
	stages := make([]string, len(s.Stages))
	for i, r := range s.Stages {
		stages[i] = fmt.Sprintf("%s saves %s", r.Name, number(r.Saved))
	}
	st.prose(out, "  ", strings.Join(stages, ", "), nil)
	// Below the threshold compact does nothing unless it is told to.
	fmt.Fprintf(out, "  winnow compact %s%s\n", d.File, d.again())
}

// again are the flags with which compact does what check measured.
func (d *checked) again() string {
	flags := ""
	if !d.Compact {
		flags += " --force"
	}
	if d.named != "" {
		flags += " --session " + d.named
	}
	return flags
}

// String says for people what the agent did itself.
func (o *ownCompactions) String() string {
	times := "once"
	if o.Times > 1 {
		times = fmt.Sprintf("%d times, the last time", o.Times)
	}
	text := fmt.Sprintf("the agent compacted this session %s before message %d; these figures are for the whole history, of which it would now send ", times, o.Last)
	if o.Counted {
		return text + fmt.Sprintf("about %s tokens, going by what the provider last counted", number(o.Sent))
	}
	return text + fmt.Sprintf("at least %s tokens: its summary, where the file has it, and the messages since", number(o.Sent))
}

// modelLine says which limits are used and where they come from.
func modelLine(name, how string, l budget.Limits) string {
	who := name
	switch {
	case name == "":
		who = "no model named"
	case how == "default":
		who = name + " (unknown model)"
	case how != "exact":
		who = name + " (" + how + ")"
	}
	if l.Reserve == 0 {
		return fmt.Sprintf("%s: window %s for the prompt alone, %s available", who, number(l.Context), number(l.Available))
	}
	return fmt.Sprintf("%s: window %s, %s kept for the answer, %s available", who, number(l.Context), number(l.Reserve), number(l.Available))
}

// window says where a window is known from that is not the model's.
func (st style) window(out io.Writer, tokens int, why string) {
	if why != "" {
		st.prose(out, "", fmt.Sprintf("window %s: %s", number(tokens), why), st.dim)
	}
}
