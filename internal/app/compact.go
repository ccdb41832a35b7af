package app

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/plan"
)

// compactFlags are the flags of compact.
type compactFlags struct {
	inputFlags
	modelFlags
	outFlags
	plan, target  string
	pins          []string
	force, dryRun bool
}

func (a *app) compactCommand() *cobra.Command {
	f := &compactFlags{}
	cmd := newCommand("compact FILE", "Make a conversation fit: plan what to leave out, and report it", `
  winnow compact session.jsonl
  winnow compact body.json --out view.json --target 0.5
  winnow compact latest --to claude-code
  winnow compact body.json --window 32000 --dry-run --json

Makes a plan: a list of edits that make the conversation fit the window. The input
is never changed. The plan goes to FILE.plan.json beside the input; the view, which
is the conversation with the plan applied, goes to --out. FILE may be "latest" or
"latest:AGENT": the newest session of any agent on this machine, or of that one; its
plan goes into the current folder.

The view of a request body keeps the format of the body. The view of an agent's
session file is an OpenAI array of messages, or has the format that --to names.

--to claude-code, codex or pi writes a new session that the agent can continue, and
prints the command that continues it. Without --out the session goes where the agent
keeps its own. The agent's old session stays as it is.

--out overwrites an existing file, and compresses it if the name ends in .gz. A plan
overwrites an existing plan, but never another kind of file.

Below the threshold nothing happens unless you give --force or --target.`,
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error { return a.runCompact(cmd, args[0], f) })
	f.inputFlags.addTo(cmd)
	f.modelFlags.addTo(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.out, "out", "", "write the view to `FILE`; - is standard output")
	fl.StringVar(&f.plan, "plan", "", "write the plan to `FILE` (default FILE.plan.json beside the input)")
	fl.StringVar(&f.to, "to", "", viewFormats)
	fl.StringVar(&f.target, "target", "", "size to aim for: a share of the room beside system prompt and tools, or the tokens of the whole prompt (`N|RATIO`)")
	fl.Float64("threshold", 0, "compact once this `SHARE` of the room beside system prompt and tools is used")
	fl.StringSlice("stages", nil, "`STAGES` to run, comma-separated")
	fl.String("focus", "", "`TEXT` that summaries should pay attention to")
	fl.StringArrayVar(&f.pins, "pin", nil, "message that no edit may touch, by `ID` or index (repeatable)")
	fl.String("summarizer", "", "what writes summaries: builtin (the default) or a model, as `PROVIDER/MODEL`")
	fl.BoolVar(&f.force, "force", false, "compact to the target even below the threshold")
	fl.BoolVar(&f.dryRun, "dry-run", false, "write no file")
	return cmd
}

func (a *app) runCompact(cmd *cobra.Command, path string, f *compactFlags) error {
	if err := a.checkOut(&f.outFlags, f.plan); err != nil {
		return err
	}
	l, err := a.loadSettings()
	if err != nil {
		return err
	}
	planPath := f.plan
	if _, err := os.Lstat(path); isLatest(path) && err != nil {
		newest, err := a.findNewestSession(cmd.Context(), path)
		if err != nil {
			return err
		}
		if newest.InPieces() {
			return fmt.Errorf("%s: OpenCode stores this session in pieces; run opencode export and compact the file that it writes", a.shortPath(newest.Path))
		}
		path = newest.Path
		// The agent's folder is the agent's: the plan stays in the current one.
		planPath = cmp.Or(planPath, filepath.Base(path)+".plan.json")
	}
	outs := newOutputs("")
	if path != "-" {
		outs, planPath = newOutputs(path), cmp.Or(planPath, path+".plan.json")
	}
	// Paths that cannot be written are refused before the work.
	if planPath != "" && !f.dryRun {
		if err := outs.addPlan(planPath, nil); err != nil {
			return err
		}
	}
	if f.out != "" && f.out != "-" && !f.dryRun {
		if err := outs.add(f.out, nil); err != nil {
			return err
		}
	}
	outs.files = nil
	input, s, err := a.loadOne(&agents.File{Path: path}, &f.inputFlags)
	if err != nil {
		return err
	}
	if err := f.applyToSettings(l, s); err != nil {
		return err
	}
	registry, err := l.modelRegistry()
	if err != nil {
		return err
	}
	l.writer, err = a.newSummarizer(cmd.Context(), &l.File, registry)
	if err != nil {
		return err
	}
	w, err := l.newEngine()
	if err != nil {
		return err
	}
	state := s.Known(w)
	sent := f.to
	if isAgentFormat(sent) {
		sent = "" // such a view is not sent as it stands
	}
	state.Ask = winnow.Ask{Force: f.force, Close: true, Encoded: s.Size(sent)}
	target, err := f.setTarget(w, s, &state)
	if err != nil {
		return err
	}
	for _, name := range f.pins {
		i, err := s.Find(name)
		if err != nil {
			return usageErrorf("--pin: %v", err)
		}
		state.Pins = append(state.Pins, winnow.Pin{Message: i, Part: -1})
	}
	doc := &compacted{Own: ownCompactions(w.Meter(), s, lastUsage(s.Request.History)), File: path, Format: string(s.Format), Model: l.Model, Target: target, DryRun: f.dryRun, Forced: state.Force}
	doc.Window, doc.WindowSource = w.Window().Tokens, w.Window().Source
	if len(input.Sessions) > 1 {
		doc.Session = s.ID
	}
	what := "planning over " + plural(s.Request.History.Len(), "message")
	r, err := awaitShown(cmd.Context(), a, what, func(p *progress) (winnow.Result, error) {
		r, err := w.Fit(cmd.Context(), s.Request, state)
		if err == nil {
			p.set(0, 0, "writing the report")
			doc.Describe(s, &r)
		}
		return r, err
	})
	if err != nil {
		return a.cannotFit(doc, w, s, err)
	}
	a.doubtModel(l.Model, r.Before.Doubt)
	if r.Plan != nil && planPath != "" && !f.dryRun {
		doc.Plan = &planPath
		if err := outs.addPlan(planPath, r.Plan); err != nil {
			return err
		}
	}
	if !f.dryRun {
		if err := a.writeView(input, s, r.View, &f.outFlags, outs); err != nil {
			return err
		}
		doc.Out, doc.Continue = f.out, f.next
	}
	if l.Remembers() && !l.Redact && r.Plan != nil && !f.dryRun && path != "-" {
		names := []string{path}
		if isAgentFormat(f.to) && f.out != "-" {
			names = append(names, f.out)
		}
		if err := a.keepFiles(cmd.Context(), names, l.Model, s.Request.History, r.Plan); err != nil {
			a.say("%s; handles of this view are found with winnow recall FILE HANDLE only", oneLine(plansPrefix(err)))
		}
	}
	if doc.Pending > 0 {
		a.say("%s: it ends with %s still waiting for a result; the view has a placeholder there", path, plural(doc.Pending, "call"))
	}
	return a.printReport(doc, func() {
		out := a.reportWriter(&f.outFlags)
		a.showCompacted(out, doc, w, s, &r)
		a.showNext(out, &f.outFlags)
	})
}

// setTarget puts the target that was asked for into the state, and returns the target in
// force in tokens.
func (f *compactFlags) setTarget(w *winnow.Winnow, s *source.Session, state *winnow.State) (int, error) {
	now, err := w.Check(s.Request, *state)
	if err != nil || f.target == "" {
		return w.Target(now.Limits), err
	}
	share, err := strconv.ParseFloat(f.target, 64)
	if n, asTokens := parseTokens(f.target); asTokens == nil && n > 1 {
		share, err = float64(n), nil
	}
	if err != nil || share <= 0 || share != share || share > 1 && share != math.Trunc(share) {
		return 0, usageErrorf("--target %s: give a share such as 0.5, or a number of tokens", f.target)
	}
	target := now.Limits.At(share)
	if share > 1 {
		target = int(min(share, 1<<40))
	}
	if target >= now.Limits.Available {
		return 0, usageErrorf("--target %s: it must be below the %s tokens that are available; a larger --window makes more available", f.target, number(now.Limits.Available))
	}
	if threshold, _ := f.flags.GetFloat64("threshold"); threshold > 0 && target >= now.Limits.At(threshold) {
		return 0, usageErrorf("--target %s: it must be below the threshold of %s tokens, or every message would trigger a rewrite", f.target, number(now.Limits.At(threshold)))
	}
	state.TargetTokens = target
	state.Force = state.Force || now.Tokens.Total > target // a target that is reached already asks for nothing
	return target, nil
}

// cannotFit writes the document of a conversation that cannot be made to fit.
func (a *app) cannotFit(doc *compacted, w *winnow.Winnow, s *source.Session, err error) error {
	var cannot *winnow.CannotFitError
	if !errors.As(err, &cannot) {
		return fmt.Errorf("%s: %w", doc.File, err)
	}
	wrapped := fmt.Errorf("%s: %w", doc.File, cannot)
	if status, err := w.Check(s.Request, winnow.State{}); err == nil {
		doc.Before, doc.After, doc.Available = status.Tokens.Total, status.Tokens.Total, status.Limits.Available
		doc.Ratio, doc.Upper = show.Ratio(doc.After, doc.Available), status.Ratio
	}
	doc.MessagesBefore, doc.MessagesAfter = s.Request.History.Len(), s.Request.History.Len()
	doc.Stages = []plan.StageReport{}
	doc.Report = show.NewPlanReport(&plan.Report{})
	doc.Error = &show.Failure{Code: cannot.Code(), Message: oneLine(wrapped.Error()), Floor: cannot.Items}
	if err := a.printReport(doc, func() {
		fmt.Fprintln(a.stderr, "what must stay, largest first:")
		for _, it := range cannot.Items[:min(10, len(cannot.Items))] {
			fmt.Fprintf(a.stderr, "  %9s  %s\n", number(it.Tokens), it.What)
		}
	}); err != nil {
		return err
	}
	return wrapped
}
