package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

// sessionCompactFlags are the flags of session compact.
type sessionCompactFlags struct {
	modelFlags
	focus  string
	target float64
}

func (a *app) sessionCompactCommand(f *storeFlags) *cobra.Command {
	var cf sessionCompactFlags
	cmd := newCommand("compact SESSION [FOCUS...]", "Compact a session now; its history stays", `
  winnow session compact 019a8c1f
  winnow session compact 019a8c1f "keep what we know about the parser"
  winnow session compact session.jsonl --target 0.3

Adds a compaction to the session: a plan, with which the model sees less from now
on. All entries stay, and winnow session rewind undoes the compaction. FOCUS is what
the summary should pay attention to.`,
		cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error { return a.sessionCompact(cmd, f, &cf, args) })
	cf.addTo(cmd)
	cmd.Flags().StringVar(&cf.focus, "focus", "", "`TEXT` that the summary should pay attention to")
	cmd.Flags().String("summarizer", "", "what writes summaries: builtin (the default) or a model, as `PROVIDER/MODEL`")
	cmd.Flags().Float64Var(&cf.target, "target", 0, "size to aim for, as a `SHARE` of the available input")
	tokensVar(cmd.Flags(), new(int), "keep-recent", 0, "`TOKENS` to keep at the end")
	return cmd
}

// sessionCompacted is the JSON document of session compact.
type sessionCompacted struct {
	Session   string `json:"session"`
	Compacted bool   `json:"compacted"`
	Reason    string `json:"reason,omitempty"` // why not

	Entry     string  `json:"entry,omitempty"`
	PlanID    plan.ID `json:"plan_id,omitempty"`
	FirstKept string  `json:"first_kept,omitempty"`
	Focus     string  `json:"focus,omitempty"`

	Before int `json:"tokens_before"`
	After  int `json:"tokens_after"`

	MessagesBefore int `json:"messages_before"`
	MessagesAfter  int `json:"messages_after"`

	Stages        []plan.StageReport `json:"stages"`
	Report        show.PlanReport    `json:"report"`
	ReadFiles     []string           `json:"read_files"`
	ModifiedFiles []string           `json:"modified_files"`
	CreatedFiles  []string           `json:"created_files"`
	DeletedFiles  []string           `json:"deleted_files"`
}

func (a *app) sessionCompact(cmd *cobra.Command, f *storeFlags, cf *sessionCompactFlags, args []string) error {
	focus := strings.Join(args[1:], " ")
	switch {
	case focus != "" && cf.focus != "":
		return usageErrorf("the focus is given twice; give it as FOCUS or with --focus")
	case focus == "":
		focus = cf.focus
	}
	s, _, err := a.openWith(cmd, f, args[0], true, &cf.modelFlags, true, func(l *loaded) {
		if cf.target > 0 {
			l.Target = cf.target
			if l.Threshold == 0 && cf.target >= l.WithDefaults().Threshold {
				l.Threshold = (1 + cf.target) / 2 // the target that is asked for wins over the usual threshold
			}
		}
	})
	if err != nil {
		return err
	}
	defer s.Close()
	before, err := s.Context()
	if err != nil {
		return err
	}
	doc := &sessionCompacted{Session: s.ID(), Focus: focus, Stages: []plan.StageReport{}, ReadFiles: []string{}, ModifiedFiles: []string{}, CreatedFiles: []string{}, DeletedFiles: []string{}, MessagesBefore: before.View.Len()}
	c, err := s.Compact(cmd.Context(), focus)
	switch {
	case errors.Is(err, session.ErrNothing), errors.Is(err, session.ErrCancelled):
		if err := doc.fillUnchanged(s, err); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		after, err := s.Context()
		if err != nil {
			return err
		}
		doc.fillFrom(c)
		doc.MessagesAfter = after.View.Len()
	}
	return a.printReport(doc, func() { a.showSessionCompacted(s, doc) })
}

// fillUnchanged fills the document in where nothing was compacted.
func (d *sessionCompacted) fillUnchanged(s *opened, why error) error {
	d.Reason = why.Error()
	if e, ok := errors.AsType[*session.Error](why); ok {
		d.Reason = e.Problem
	}
	_, status, err := s.NeedsCompaction()
	d.Before, d.After, d.MessagesAfter = status.Count.Tokens, status.Count.Tokens, d.MessagesBefore
	d.Report = show.NewPlanReport(&plan.Report{})
	return err
}

// fillFrom takes over what a compaction did.
func (d *sessionCompacted) fillFrom(c *session.Compacted) {
	e := c.Entry.Compaction
	d.Compacted, d.Entry, d.FirstKept = true, c.Entry.ID, e.FirstKept
	d.Before, d.After = e.TokensBefore, e.TokensAfter
	if e.Plan != nil {
		d.PlanID = e.Plan.ID()
	}
	d.Stages = append(d.Stages, c.Report.Stages...)
	d.Report = show.NewPlanReport(&c.Report)
	d.Report.Notes = append(d.Report.Notes, c.Notes...)
	d.ReadFiles, d.ModifiedFiles = append(d.ReadFiles, e.Read...), append(d.ModifiedFiles, e.Modified...)
	d.CreatedFiles, d.DeletedFiles = append(d.CreatedFiles, e.Created...), append(d.DeletedFiles, e.Deleted...)
}

func (a *app) showSessionCompacted(s *opened, d *sessionCompacted) {
	st, out := a.styleFor(a.stdout), a.stdout
	if !d.Compacted {
		fmt.Fprintf(out, "%s: %s\n", st.Green("nothing to do"), d.Reason)
		return
	}
	fmt.Fprintf(out, "%s -> %s tokens; the model sees %s instead of %d\n\n", number(d.Before), st.Bold(number(d.After)), plural(d.MessagesAfter, "message"), d.MessagesBefore)
	if r := &d.Report; 50*(r.Kept.Before+r.Reduced.Before+r.Removed.Before) > 51*d.Before { // it was compacted before
		fmt.Fprintln(out, st.Dim("Including what earlier compactions removed:"))
	}
	show.Tallies(out, st, &compacted{Report: d.Report})
	fmt.Fprintln(out)
	show.Stages(out, st, d.Stages)
	for _, n := range d.Report.Notes {
		fmt.Fprintf(out, "note: %s\n", n)
	}
	fmt.Fprintf(out, "\ncompaction  %s\nread it     winnow tree %s %s\ntake back   winnow session rewind %s %s\n", st.Bold(d.Entry), s.name, d.Entry, s.name, d.Entry)
}

func (a *app) sessionRewindCommand(f *storeFlags) *cobra.Command {
	return newCommand("rewind SESSION [ENTRY]", "Undo a compaction: the model sees again what it hid", `
  winnow session rewind 019a8c1f
  winnow session rewind 019a8c1f 3f2a91bc

Undoes the compaction with that entry, or the last one that is still in force. ENTRY
may also be the id of a plan, or the handle of a single edit. The rewind is itself an
entry and can be rewound.`, cobra.RangeArgs(1, 2), func(cmd *cobra.Command, args []string) error {
		s, _, err := a.openWith(cmd, f, args[0], true, nil, false)
		if err != nil {
			return err
		}
		defer s.Close()
		id, err := s.compactionID(args[1:])
		if err != nil {
			return err
		}
		before, err := s.Context()
		if err != nil {
			return err
		}
		e, err := s.Rewind(cmd.Context(), id)
		if err != nil {
			return err
		}
		after, err := s.Context()
		if err != nil {
			return err
		}
		c := e.Compaction
		doc := map[string]any{
			"session": s.ID(), "rewound": c.Rewinds, "entry": e.ID, "tokens_before": c.TokensBefore, "tokens_after": c.TokensAfter,
			"messages_before": before.View.Len(), "messages_after": after.View.Len(),
		}
		return a.printReport(doc, func() {
			fmt.Fprintf(a.stdout, "undid %s: the model sees %s instead of %d, %s -> %s tokens\n",
				a.styleFor(a.stdout).Bold(c.Rewinds), plural(after.View.Len(), "message"), before.View.Len(), number(c.TokensBefore), number(c.TokensAfter))
		})
	})
}

// compactionID returns the id of the compaction that a person means: the last one
// where none is named.
func (o *opened) compactionID(args []string) (string, error) {
	if len(args) == 0 {
		e, ok := o.LastCompaction()
		if !ok {
			return "", fmt.Errorf("%s: there is no compaction to undo on the path to the leaf; winnow tree %s --list lists the entries", o.name, o.name)
		}
		return e.ID, nil
	}
	if id, err := findByPrefix(o.Compactions(), entryIDOf, args[0], "compaction"); err == nil {
		return id, nil
	} else if strings.Contains(err.Error(), "several") {
		return "", err
	}
	return args[0], nil // a plan's id or an edit's handle
}
