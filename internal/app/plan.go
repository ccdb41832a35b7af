package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/plan"
)

func (a *app) planCommand() *cobra.Command {
	return groupCommand("plan", "Show, apply, undo and compare plans", "  winnow plan show session.jsonl.plan.json session.jsonl",
		a.planShowCommand(), a.planApplyCommand(), a.planUndoCommand(), a.planDiffCommand())
}

// readPlan reads a plan file.
func (a *app) readPlan(path string) (*plan.Plan, error) {
	in, err := a.openInput(path)
	if err != nil {
		return nil, err
	}
	if !isPlan(in.Data) {
		return nil, fmt.Errorf("%s: this is not a plan file; winnow compact writes one, by default FILE.plan.json beside the conversation", in.Name)
	}
	p, err := plan.Decode(in.Data)
	if err != nil {
		return nil, fmt.Errorf("%s: %s; make one with winnow compact", in.Name, strings.ReplaceAll(strings.TrimPrefix(err.Error(), "plan: "), "json: ", ""))
	}
	return p, nil
}

// isPlan reports whether data says that it is a plan, of whatever version and
// however damaged inside.
func isPlan(data []byte) bool {
	var doc struct {
		Version *int `json:"winnow_plan"`
	}
	return json.Unmarshal(data, &doc) == nil && doc.Version != nil
}

// planned is a plan with the session that it was made for, and the session's input.
type planned struct {
	plan    *plan.Plan
	input   *source.Input
	session *source.Session
}

// readPlanned reads a plan, and where there is a path the session that it was made for.
func (a *app) readPlanned(planPath, path, format string) (r planned, err error) {
	if planPath == "-" && path == "-" {
		return r, usageErrorf("the plan and the conversation cannot both be standard input")
	}
	if r.plan, err = a.readPlan(planPath); err != nil || path == "" {
		return r, err
	}
	if r.input, err = a.loadWithWarnings(path, format); err == nil {
		r.session, err = r.input.Covered(r.plan)
	}
	return r, err
}

func (a *app) planShowCommand() *cobra.Command {
	var format string
	cmd := newCommand("show PLAN [FILE]", "Show a plan like a patch; with FILE, beside what it replaces", `
  winnow plan show session.jsonl.plan.json
  winnow plan show session.jsonl.plan.json session.jsonl

Shows each edit: where it is, what it does and why, how much it saves, the original
text (-) and the text in its place (+).

winnow numbers messages from 0, not counting the system prompt, in all its output
and in --pin. Only the text of a summary, which the model reads, numbers them from
1: its "messages 1-148" are messages 0-147.`, cobra.RangeArgs(1, 2), func(_ *cobra.Command, args []string) error {
		path, history := append(args, "")[1], (*chat.History)(nil)
		r, err := a.readPlanned(args[0], path, format)
		if err != nil {
			return err
		}
		if r.session != nil {
			history = &r.session.Request.History
		}
		return a.planShow(r.plan, args[0], path, history)
	})
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT` of FILE instead of detecting it")
	return cmd
}

func (a *app) planShow(p *plan.Plan, planPath, path string, h *chat.History) error {
	if a.asJSON {
		return a.printJSON(shownPlan{ID: p.ID(), Parent: p.Parent, Prefix: p.Prefix, Len: p.Len, Saved: p.Saved(), Edits: editDocuments(p), Strip: p.Strip})
	}
	st, out := a.styleFor(a.stdout), a.stdout
	saved := p.Saved()
	fmt.Fprintf(out, "%s\nsaves %s tokens, %s bytes\n", st.Bold(p.String()), number(saved.Tokens), number(saved.Bytes))
	if p.Parent != "" {
		fmt.Fprintf(out, "grew from plan %s\n", p.Parent)
	}
	for i := range p.Edits {
		showEdit(out, st, &p.Edits[i], h)
	}
	if a.quiet || len(p.Edits) == 0 || planPath == "-" || path == "-" {
		return nil
	}
	path, planPath = cmp.Or(a.pathAsTyped(path), "FILE"), a.pathAsTyped(planPath)
	fmt.Fprintf(out, "\n%s\n%s\n", st.Dim("one original:  winnow recall "+path+" HANDLE --plan "+planPath), st.Dim("everything:    winnow plan undo "+planPath+" "+path))
	return nil
}

// shownPlan is the JSON document of plan show.
type shownPlan struct {
	ID     plan.ID     `json:"id"`
	Parent plan.ID     `json:"parent,omitempty"`
	Prefix chat.Hash   `json:"prefix"`
	Len    int         `json:"len"`
	Saved  chat.Size   `json:"saved"`
	Edits  []shownEdit `json:"edits"`
	Strip  []plan.Span `json:"strip,omitempty"`
}

// shownEdit is an edit with all the keys that scripts may ask for, empty or not.
type shownEdit struct {
	plan.Edit
	Why    string `json:"why"`
	Handle string `json:"handle"`
}

func editDocuments(p *plan.Plan) []shownEdit {
	all := make([]shownEdit, len(p.Edits))
	for i := range p.Edits {
		all[i] = editDocument(&p.Edits[i])
	}
	return all
}

func editDocument(e *plan.Edit) shownEdit { return shownEdit{*e, e.Why, e.Handle} }

// outFlags are the flags of commands that write a view.
type outFlags struct {
	out, to string

	// next is how an agent goes on from the view, once that is written.
	next *show.Continued
}

func (f *outFlags) addTo(cmd *cobra.Command, standard string) {
	cmd.Flags().StringVar(&f.out, "out", "", "write the view to `FILE`, which is overwritten, and compressed if its name ends in .gz; "+standard)
	cmd.Flags().StringVar(&f.to, "to", "", viewFormats)
}

// reportWriter returns where people are told of a view: not where the view goes.
func (a *app) reportWriter(o *outFlags) io.Writer {
	if o.out == "-" {
		return a.stderr
	}
	return a.stdout
}

// checkOut refuses places for a view and a plan that make no sense, and formats
// that views cannot be written in.
func (a *app) checkOut(o *outFlags, planPath string) error {
	switch {
	case o.out == "-" && a.asJSON:
		return usageErrorf("--json and --out - both want standard output; write the view to a file")
	case planPath == "-":
		return usageErrorf("--plan -: the plan goes to a file; name one")
	}
	return checkFormat(o.to)
}

func (a *app) planApplyCommand() *cobra.Command {
	var format string
	var o outFlags
	cmd := newCommand("apply PLAN FILE", "Write the view: the conversation with a plan applied", `
  winnow plan apply session.jsonl.plan.json session.jsonl --out view.json

Applies a plan to the conversation that it was made for, or to one that has
grown since, and writes the view.`,
		cobra.ExactArgs(2), func(_ *cobra.Command, args []string) error { return a.planApply(args[0], args[1], format, &o) })
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT` of FILE instead of detecting it")
	o.addTo(cmd, "the default is standard output, or with --json no view at all")
	return cmd
}

// applied is the JSON document of plan apply and plan undo.
type applied struct {
	ID             plan.ID         `json:"id"`
	Plan           string          `json:"plan,omitempty"`
	Out            string          `json:"out,omitempty"`
	Continue       *show.Continued `json:"continue,omitempty"`
	TakenBack      plan.ID         `json:"taken_back,omitempty"`
	MessagesBefore int             `json:"messages_before"`
	MessagesAfter  int             `json:"messages_after"`
	Before         int             `json:"tokens_before"`
	After          int             `json:"tokens_after"`
	Edits          []shownEdit     `json:"edits"`
}

// describeView measures a view for a document.
func (a *app) describeView(s *source.Session, v plan.View) (*applied, error) {
	l, err := a.loadSettings()
	if err != nil {
		return nil, err
	}
	l.Model = cmp.Or(l.Model, s.Model)
	w, err := l.newEngine()
	if err != nil {
		return nil, err
	}
	state := knownState(w, s)
	before, err := w.Check(s.Request, state)
	if err != nil {
		return nil, err
	}
	state.Plan = v.Plan()
	after, err := w.Check(s.Request, state)
	if err != nil {
		return nil, err
	}
	return &applied{
		ID: v.Plan().ID(), MessagesBefore: v.History().Len(), MessagesAfter: v.Len(),
		Before: before.Tokens.Total, After: after.Tokens.Total, Edits: editDocuments(v.Plan()),
	}, nil
}

func (a *app) planApply(planPath, path, format string, o *outFlags) error {
	if err := a.checkOut(o, ""); err != nil {
		return err
	}
	if o.out == "" && !a.asJSON && !isAgentFormat(o.to) {
		o.out = "-"
	}
	r, err := a.readPlanned(planPath, path, format)
	if err != nil {
		return err
	}
	v, err := plan.Apply(r.session.Request.History, r.plan)
	if err != nil {
		return fmt.Errorf("%s: %w", planPath, err)
	}
	doc, err := a.describeView(r.session, v)
	if err != nil {
		return err
	}
	outs := newOutputs(r.input.Path)
	outs.plan = planPath
	if err := a.writeView(r.input, r.session, v, o, outs); err != nil {
		return err
	}
	doc.Plan, doc.Out, doc.Continue = planPath, o.out, o.next
	return a.printResult(doc, func() {
		a.say("%s: %s -> %s messages, %s -> %s tokens", r.plan, number(doc.MessagesBefore), number(doc.MessagesAfter), number(doc.Before), number(doc.After))
		a.showNext(a.stderr, o)
	})
}

// writeView writes a view to a file or standard output, or nowhere where none
// is named, together with the other outputs: all of them or none.
func (a *app) writeView(in *source.Input, s *source.Session, v plan.View, o *outFlags, outs *outputs) error {
	if o.out == "" && !isAgentFormat(o.to) {
		return outs.write()
	}
	data, err := a.renderView(s, v, o)
	if err != nil {
		return fmt.Errorf("%s: the view cannot be written: %w", in.Name, err)
	}
	if o.out != "-" {
		if err := outs.addView(o.out, data); err != nil {
			return err
		}
	}
	if err := outs.write(); err != nil {
		return err
	}
	if o.out == "-" {
		_, err = a.dataWriter().Write(data)
	}
	return err
}

func (a *app) planUndoCommand() *cobra.Command {
	var format, to, id string
	var o outFlags
	cmd := newCommand("undo PLAN FILE", "Undo a plan's edits", `
  winnow plan undo session.jsonl.plan.json session.jsonl --out view.json
  winnow plan undo p.json session.jsonl --id 3f2a… --plan p.json

Undoes the edits of one plan, by default the latest. --out writes the view without
them: what the model sees from now on. The undo is itself a plan, written beside the
old one, so you can show it, compare it and undo it. The old plan file stays, unless
--plan names it.`, cobra.ExactArgs(2), func(_ *cobra.Command, args []string) error {
		return a.planUndo(args[0], args[1], format, to, plan.ID(id), &o)
	})
	o.addTo(cmd, "- is standard output")
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT` of FILE instead of detecting it")
	cmd.Flags().StringVar(&to, "plan", "", "write the new plan to `FILE` (default: PLAN with .undo in its name)")
	cmd.Flags().StringVar(&id, "id", "", "undo what the plan with this `ID` did")
	return cmd
}

func (a *app) planUndo(planPath, path, format, to string, id plan.ID, o *outFlags) error {
	if err := a.checkOut(o, to); err != nil {
		return err
	}
	r, err := a.readPlanned(planPath, path, format)
	if err != nil {
		return err
	}
	p, s := r.plan, r.session
	id = cmp.Or(id, p.ID())
	q, err := plan.Undo(p, id, s.Request.History, s.Request.Rules)
	if err != nil {
		return fmt.Errorf("%s: %s", planPath, strings.TrimPrefix(err.Error(), "plan: "))
	}
	v, err := plan.Apply(s.Request.History, q)
	if err != nil {
		return err
	}
	if to == "" {
		if planPath == "-" {
			return usageErrorf("plan undo -: name a file for the new plan with --plan")
		}
		to = undoName(planPath)
	}
	outs := newOutputs(r.input.Path)
	if err := outs.addPlan(to, q); err != nil {
		return err
	}
	if err := a.writeView(r.input, s, v, o, outs); err != nil {
		return err
	}
	doc, err := a.describeView(s, v)
	if err != nil {
		return err
	}
	doc.Plan, doc.Out, doc.Continue, doc.TakenBack = to, o.out, o.next, id
	was, err := plan.Apply(s.Request.History, p)
	if err != nil {
		return err
	}
	before, err := a.describeView(s, was)
	if err != nil {
		return err
	}
	whole, err := a.sameBytes(s, v, path, o)
	if err != nil {
		return err
	}
	return a.printReport(doc, func() {
		fmt.Fprintf(a.reportWriter(o), "took back %d of %d edits, which restores %s tokens: %s -> %s\n",
			len(p.Edits)-len(q.Edits), len(p.Edits), number(doc.After-before.After), number(before.After), number(doc.After))
		a.showUndone(doc, whole, planPath, path, o)
	})
}

// showUndone says where the view and the plan of an undo are.
func (a *app) showUndone(doc *applied, whole, planPath, path string, o *outFlags) {
	out := a.reportWriter(o)
	switch {
	case o.out == "-":
	case o.out != "":
		fmt.Fprintf(out, "view  %s%s\n", a.pathAsTyped(o.out), whole)
	case path != "-" && planPath != "-":
		fmt.Fprintf(out, "view  winnow plan apply %s %s --out FILE\n", a.pathAsTyped(doc.Plan), a.pathAsTyped(path))
	}
	fmt.Fprintf(out, "plan  %s\n", a.pathAsTyped(doc.Plan))
	a.showNext(out, o)
}

// sameBytes says that a view that was written is the conversation byte for byte, if it
// is.
func (a *app) sameBytes(s *source.Session, v plan.View, path string, o *outFlags) (string, error) {
	if s.Body == nil || o.to != "" || strings.HasSuffix(o.out, ".gz") || strings.HasSuffix(path, ".gz") {
		return "", nil
	}
	data, err := s.Write(v, o.to)
	if err != nil || !bytes.Equal(data, s.Body.Raw()) {
		return "", err
	}
	return ", byte for byte " + a.pathAsTyped(path), nil
}

// undoName returns a name beside the plan that no file has yet.
func undoName(path string) string {
	ext := filepath.Ext(path)
	base := strings.TrimSuffix(path, ext)
	name := base + ".undo" + ext
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s.undo-%d%s", base, n, ext)
	}
}
