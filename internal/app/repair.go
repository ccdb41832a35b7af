package app

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
)

func (a *app) repairCommand() *cobra.Command {
	var in inputFlags
	var o outFlags
	var planPath string
	cmd := newCommand("repair FILE", "Repair calls without results and results without calls", `
  winnow repair body.json --out mended.json

Adds a placeholder result to every call that never got one, and turns results
without a call into quoted text. It leaves a valid conversation alone and never
writes the input. Without --out and --plan it only prints counts.`,
		cobra.ExactArgs(1), func(_ *cobra.Command, args []string) error { return a.runRepair(args[0], planPath, &in, &o) })
	in.addTo(cmd)
	o.addTo(cmd, "- is standard output")
	cmd.Flags().StringVar(&planPath, "plan", "", "write the repair as a plan to `FILE`")
	return cmd
}

// repaired is the JSON document of repair.
type repaired struct {
	Repaired      bool            `json:"repaired"`
	OrphanCalls   int             `json:"orphan_calls"`
	OrphanResults int             `json:"orphan_results"`
	Others        int             `json:"others"`
	File          string          `json:"file"`
	Format        string          `json:"format"`
	Out           string          `json:"out,omitempty"`
	Continue      *show.Continued `json:"continue,omitempty"`
	Plan          string          `json:"plan,omitempty"`
	Edits         []shownEdit     `json:"edits"`
}

func (a *app) runRepair(path, planPath string, in *inputFlags, o *outFlags) error {
	if err := a.checkOut(o, planPath); err != nil {
		return err
	}
	input, s, err := a.loadOne(&agents.File{Path: path}, in)
	if err != nil {
		return err
	}
	h, rules := s.Request.History, s.Request.Rules
	doc := repaired{File: path, Format: string(s.Format), Edits: []shownEdit{}}
	for _, p := range rules.OrDefault().Check(h) {
		switch p.Rule {
		case chat.RuleUnanswered:
			doc.OrphanCalls++
		case chat.RuleOrphan:
			doc.OrphanResults++
		default:
			doc.Others++
		}
	}
	edits, err := stage.Repair(h, rules, true)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var p *plan.Plan
	if len(edits) > 0 {
		if p, err = plan.Compose(nil, h, rules, nil, edits...); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		doc.Repaired, doc.Edits = true, editDocuments(p)
	}
	v, err := plan.Apply(h, p)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	outs := newOutputs(input.Path)
	if p != nil && planPath != "" {
		if err := outs.addPlan(planPath, p); err != nil {
			return err
		}
		doc.Plan = planPath
	}
	if err := a.writeView(input, s, v, o, outs); err != nil {
		return err
	}
	doc.Out, doc.Continue = o.out, o.next
	return a.printReport(doc, func() { showRepaired(a.reportWriter(o), &doc) })
}

func showRepaired(out io.Writer, doc *repaired) {
	if !doc.Repaired {
		fmt.Fprintf(out, "%s: nothing to repair\n", doc.File)
		return
	}
	var found []string
	for _, f := range []struct {
		n          int
		noun, rest string
	}{{doc.OrphanCalls, "call", " without a result"}, {doc.OrphanResults, "result", " without a call"}, {doc.Others, "other problem", ""}} {
		if f.n > 0 {
			found = append(found, plural(f.n, f.noun)+f.rest)
		}
	}
	fmt.Fprintf(out, "%s: %s: repaired by %s\n", doc.File, joinWords(found), plural(len(doc.Edits), "edit"))
	if doc.Out == "" {
		fmt.Fprintln(out, "nothing was written; --out names a file for the repaired conversation")
	}
}
