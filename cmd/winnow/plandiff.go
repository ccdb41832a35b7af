package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/plan"
)

func (a *app) planDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "diff PLAN PLAN",
		Short:   "Compare two plans, edit by edit",
		Example: "  winnow plan diff before.plan.json after.plan.json",
		Args:    cobra.ExactArgs(2),
		RunE:    a.work(func(_ *cobra.Command, args []string) error { return a.planDiff(args[0], args[1]) }),
	}
}

// change is an edit that two plans do not share. Op is "-" for one that only
// the first has, "+" for one that only the second has, "~" for one that stands
// in both at the same place and does something else.
type change struct {
	Op string `json:"op"`
	shownEdit
	Was *plan.Edit `json:"was,omitempty"`
}

// diffed is the JSON document of plan diff.
type diffed struct {
	A       plan.ID  `json:"a"`
	B       plan.ID  `json:"b"`
	Same    int      `json:"same"`
	Added   int      `json:"added"`
	Removed int      `json:"removed"`
	Changed int      `json:"changed"`
	SavedA  int      `json:"saved_a"`
	SavedB  int      `json:"saved_b"`
	Edits   []change `json:"edits"`
}

func (a *app) planDiff(pathA, pathB string) error {
	if pathA == "-" && pathB == "-" {
		return usagef("two plans cannot both come from standard input")
	}
	p, err := a.readPlan(pathA)
	if err != nil {
		return err
	}
	q, err := a.readPlan(pathB)
	if err != nil {
		return err
	}
	d := diffPlans(p, q)
	if a.asJSON {
		return a.print(d)
	}
	st := a.style(a.stdout)
	if short := min(p.Len, q.Len); p.Len == q.Len && p.Prefix != q.Prefix {
		fmt.Fprintf(a.stdout, "%s\n", st.warm(fmt.Sprintf("these plans are for different histories of %d messages", short)))
	}
	fmt.Fprintf(a.stdout, "%s\n%s\n", st.red("--- "+p.String()), st.green("+++ "+q.String()))
	fmt.Fprintf(a.stdout, "saves %s tokens against %s; %s the same, %d added, %d removed, %d changed\n",
		number(d.SavedA), number(d.SavedB), plural(d.Same, "edit"), d.Added, d.Removed, d.Changed)
	for i := range d.Edits {
		c := &d.Edits[i]
		paint := st.warm
		switch c.Op {
		case "+":
			paint = st.green
		case "-":
			paint = st.red
		}
		line := editLine(&c.Edit)
		if c.Was != nil {
			line += ", was " + fmt.Sprintf("%s %s -> %s", c.Was.Stage, number(c.Was.Before.Tokens), number(c.Was.After.Tokens))
		}
		fmt.Fprintln(a.stdout, paint(c.Op+" "+line))
	}
	return nil
}

// editLine is an edit in one line.
func editLine(e *plan.Edit) string {
	place := fmt.Sprintf("%d.%d", e.From, e.Part)
	if e.Part < 0 {
		place = fmt.Sprintf("%d-%d", e.From, e.To-1)
	}
	return strings.TrimRight(fmt.Sprintf("%-6s %-11s %-10s %7s -> %-6s %s", e.Kind, place, e.Stage, number(e.Before.Tokens), number(e.After.Tokens), brief(e.Text, 40)), " ")
}

// diffPlans walks the two sorted lists side by side.
func diffPlans(p, q *plan.Plan) *diffed {
	d := &diffed{A: p.ID(), B: q.ID(), SavedA: p.Saved().Tokens, SavedB: q.Saved().Tokens, Edits: []change{}}
	i, k := 0, 0
	for i < len(p.Edits) || k < len(q.Edits) {
		switch {
		case k == len(q.Edits) || i < len(p.Edits) && before(&p.Edits[i], &q.Edits[k]):
			d.Edits = append(d.Edits, change{Op: "-", shownEdit: editDocument(&p.Edits[i])})
			d.Removed++
			i++
		case i == len(p.Edits) || before(&q.Edits[k], &p.Edits[i]):
			d.Edits = append(d.Edits, change{Op: "+", shownEdit: editDocument(&q.Edits[k])})
			d.Added++
			k++
		default:
			if x, y := &p.Edits[i], &q.Edits[k]; x.Kind == y.Kind && x.To == y.To && x.Text == y.Text && fmt.Sprint(x.Keep) == fmt.Sprint(y.Keep) {
				d.Same++
			} else {
				d.Edits = append(d.Edits, change{Op: "~", shownEdit: editDocument(y), Was: x})
				d.Changed++
			}
			i++
			k++
		}
	}
	return d
}

// before orders edits by place as plans do.
func before(x, y *plan.Edit) bool {
	if x.From != y.From {
		return x.From < y.From
	}
	if x.Part != y.Part {
		return x.Part < y.Part
	}
	return x.CallID == "" && y.CallID != ""
}
