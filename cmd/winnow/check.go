package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/source"
	"github.com/winnow-llm/winnow/token"
)

func (a *app) checkCommand() *cobra.Command {
	var in inputFlags
	var mf modelFlags
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Show how full the context is",
		Example: `  winnow check session.jsonl
  winnow check body.json --model claude-sonnet-4-5 --json`,
		Long: `Measures a session or request body against the window of its model: what the
tokens are spent on, the largest items, whether it fits, and what compaction
would save. Nothing is changed.`,
		Args: cobra.ExactArgs(1),
		RunE: a.work(func(cmd *cobra.Command, args []string) error { return a.check(cmd, args[0], &in, &mf) }),
	}
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

	Messages int              `json:"messages"`
	Turns    int              `json:"turns"`
	Tokens   budget.Breakdown `json:"tokens"`
	Method   token.Method     `json:"method"`
	Band     float64          `json:"band"`
	Limits   budget.Limits    `json:"limits"`
	Kinds    spent            `json:"kinds"`
	Bytes    int              `json:"bytes"`
	Images   int              `json:"images"`
	Ratio    float64          `json:"ratio"`
	Compact  bool             `json:"should_compact"`
	Fits     bool             `json:"fits"`

	// Reported is what the provider last counted, where the file tells.
	Reported *reported `json:"reported,omitempty"`

	// Saving is what a compaction would bring; nil when there is nothing to gain.
	Saving *saving `json:"saving,omitempty"`

	Largest  []item         `json:"largest"`
	Sessions []sessionBrief `json:"sessions,omitempty"`
}

// reported is the usage of the last answer that carries one.
type reported struct {
	Message int `json:"message"`
	Prompt  int `json:"prompt"`
	Output  int `json:"output"`
}

type saving struct {
	After int `json:"tokens_after"`
	Saved int `json:"saved"`
}

// sessionBrief is one line about a session in a file with several.
type sessionBrief struct {
	Number   int    `json:"number"`
	ID       string `json:"id"`
	Messages int    `json:"messages"`
	Tokens   int    `json:"tokens"`
	Fits     bool   `json:"fits"`
}

func (a *app) check(cmd *cobra.Command, path string, in *inputFlags, mf *modelFlags) error {
	l, err := a.loadSettings()
	if err != nil {
		return err
	}
	input, err := a.load(path, in.format)
	if err != nil {
		return err
	}
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
	doc, status, err := measure(w, s)
	if err != nil {
		return err
	}
	doc.File, doc.Format, doc.Saw, doc.Model = path, string(s.Format), input.Saw, l.Model
	if len(input.Sessions) > 1 {
		doc.Session = s.ID
		if in.session == "" {
			doc.Sessions = briefs(w, input)
		}
	}
	if a.asJSON {
		return a.print(doc)
	}
	a.showCheck(doc, &status)
	return nil
}

// measure makes the document for one session.
func measure(w *winnow.Winnow, s *source.Session) (*checked, budget.Status, error) {
	req := s.Request
	status, err := w.Check(req, winnow.State{})
	if err != nil {
		return nil, status, err
	}
	kinds, largest := spend(w.Meter(), &req, req.History, status.Limits, 10)
	doc := &checked{
		ModelSource: string(w.Model().Source),
		Messages:    req.History.Len(), Turns: len(chat.Boundaries(req.History)),
		Tokens: status.Tokens, Method: status.Count.Method, Band: status.Count.Band,
		Limits: status.Limits, Kinds: kinds, Bytes: status.Bytes, Images: status.Images,
		Ratio: status.Ratio, Compact: status.ShouldCompact, Fits: status.Fits,
		Largest: largest, Reported: lastUsage(req.History),
	}
	if r, err := w.Fit(context.Background(), req, winnow.State{Force: true}); err == nil && r.Changed && r.After.Tokens.Total < status.Tokens.Total {
		doc.Saving = &saving{r.After.Tokens.Total, status.Tokens.Total - r.After.Tokens.Total}
	}
	return doc, status, nil
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
		if status, err := w.Check(s.Request, winnow.State{}); err == nil {
			b.Tokens, b.Fits = status.Tokens.Total, status.Fits
		}
		all = append(all, b)
	}
	return all
}

func (a *app) showCheck(d *checked, s *budget.Status) {
	st, out := a.style(a.stdout), a.stdout
	fmt.Fprintf(out, "%s: %s, %s, %s\n", st.bold(d.File), d.Saw, plural(d.Messages, "message"), plural(d.Turns, "turn"))
	fmt.Fprintf(out, "%s\n\n", modelLine(d.Model, d.ModelSource, d.Limits))
	fmt.Fprintf(out, "%s\n", st.bar(d.Kinds, d.Limits.Context))
	st.legend(out, d.Kinds, d.Limits.Context)
	fmt.Fprintf(out, "\n%s tokens (%s), %s of the %s available, %s bytes, %s: %s\n",
		st.bold(number(d.Tokens.Total)), countNote(s.Count), percent(d.Tokens.Total, d.Limits.Available), number(d.Limits.Available),
		number(d.Bytes), plural(d.Images, "image"), st.verdict(s))
	if d.Reported != nil {
		fmt.Fprintf(out, "the provider counted %s tokens for the prompt of message %d; what it was sent besides the file counts there too\n",
			number(d.Reported.Prompt), d.Reported.Message)
	}
	if d.Saving != nil {
		fmt.Fprintf(out, "compacting would save %s tokens and leave %s (winnow compact %s)\n", number(d.Saving.Saved), number(d.Saving.After), d.File)
	}
	if len(d.Largest) > 0 {
		fmt.Fprintf(out, "\n%s\n", st.bold("largest items"))
	}
	for _, it := range d.Largest {
		fmt.Fprintf(out, "  %9s  message %-5d %-11s %s\n", number(it.Tokens), it.Message, it.Kind, it.What)
	}
	if len(d.Sessions) > 0 {
		fmt.Fprintf(out, "\n%s\n", st.bold("sessions in the file"))
		for _, b := range d.Sessions {
			fits := "fits"
			if !b.Fits {
				fits = "does not fit"
			}
			fmt.Fprintf(out, "  %3d  %-40s %6s messages %9s tokens  %s\n", b.Number, brief(b.ID, 40), number(b.Messages), number(b.Tokens), fits)
		}
	}
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
	return fmt.Sprintf("%s: window %s, %s kept for the answer, %s available", who, number(l.Context), number(l.Reserve), number(l.Available))
}
