package app

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
)

// showEdit prints one edit as a hunk: where and what, how much it saves, why,
// then what stood there (-) and what stands there now (+).
func showEdit(out io.Writer, st style, e *plan.Edit, h *chat.History) {
	width := st.Columns()
	head := fmt.Sprintf("@@ %s %s @@ %s  %s -> %s tokens", e.Kind, describePlace(e), e.Stage, number(e.Before.Tokens), number(e.After.Tokens))
	if e.Handle != "" {
		head += "  [" + e.Handle + "]"
	}
	fmt.Fprintf(out, "\n%s\n", st.Paint("36", head))
	var about []string
	if h != nil && e.Part >= 0 && e.Part < len(h.At(e.From).Parts) {
		about = append(about, string(h.At(e.From).Role)+" "+strings.TrimPrefix(h.At(e.From).Parts[e.Part].Kind.String(), "tool_"))
		if what := brief(conview.About(*h, e.From, e.Part), width-30); h.At(e.From).Parts[e.Part].Kind == chat.ToolResult {
			about = append(about, what)
		}
	}
	if e.Why != "" {
		about = append(about, e.Why)
	}
	if len(about) > 0 {
		fmt.Fprintf(out, "   %s\n", st.Dim(brief(strings.Join(about, " · "), width-3)))
	}
	if len(e.Keep) > 0 {
		fmt.Fprintf(out, "   %s\n", st.Dim(brief("keeps messages "+strings.Trim(fmt.Sprint(e.Keep), "[]"), width-3)))
	}
	if h != nil {
		for _, line := range originalLines(*h, e, width-2) {
			fmt.Fprintln(out, st.Red("- "+line))
		}
	}
	for _, line := range show.HeadLines(e.Text, 6, width-2) {
		fmt.Fprintln(out, st.Green("+ "+line))
	}
}

// describePlace names the messages of an edit for people.
func describePlace(e *plan.Edit) string {
	switch {
	case e.Part >= 0:
		return fmt.Sprintf("message %d part %d", e.From, e.Part)
	case e.From == e.To:
		return fmt.Sprintf("before message %d", e.From)
	case e.To-e.From == 1:
		return fmt.Sprintf("message %d", e.From)
	}
	return fmt.Sprintf("messages %d-%d", e.From, e.To-1)
}

// originalLines shows the beginning of what an edit replaces.
func originalLines(h chat.History, e *plan.Edit, width int) []string {
	if e.Part >= 0 {
		if parts := h.At(e.From).Parts; e.Part < len(parts) && e.CallID == "" {
			p := &parts[e.Part]
			if p.Kind == chat.ToolCall {
				return show.HeadLines(p.Name+" "+p.Args, 4, width)
			}
			if p.Text == "" {
				return []string{"(" + brief(conview.About(h, e.From, e.Part), width-2) + ")"}
			}
			return show.HeadLines(p.Text, 4, width)
		}
		return nil
	}
	var lines []string
	for i := e.From; i < e.To; i++ {
		if len(lines) == 4 && e.To-i > 1 {
			return append(lines, fmt.Sprintf("… %s more", plural(e.To-i, "message")))
		}
		m := h.At(i)
		what := ""
		if len(m.Parts) > 0 {
			what = brief(conview.About(h, i, 0), width)
		}
		lines = append(lines, brief(fmt.Sprintf("%d %s: %s", i, m.Role, what), width))
	}
	return lines
}

func (a *app) planDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "diff PLAN PLAN",
		Short:   "Compare two plans, edit by edit",
		Example: "  winnow plan diff before.plan.json after.plan.json",
		Long: `Shows how two plans differ, and what each stage saves in either. On a terminal of
100 columns or more they are side by side: - marks what only the first does, + what
only the second does, ~ a place that they edit differently. Edits that they share
are only counted.`,
		Args: cobra.ExactArgs(2),
		RunE: a.asRunE(func(_ *cobra.Command, args []string) error { return a.planDiff(args[0], args[1]) }),
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

	// Apart says that the plans were certainly made for different histories, so
	// that the numbers of messages mean different ones. Plans over histories of
	// different lengths may belong together: one may have grown into the other.
	Apart bool `json:"different_histories"`

	// Stages says what each stage saves in either plan.
	Stages []stagePair `json:"stages"`
}

// stagePair is one stage in two plans.
type stagePair struct {
	Name   string `json:"name"`
	EditsA int    `json:"edits_a"`
	EditsB int    `json:"edits_b"`
	SavedA int    `json:"saved_a"`
	SavedB int    `json:"saved_b"`
}

func (a *app) planDiff(pathA, pathB string) error {
	if pathA == "-" && pathB == "-" {
		return usageErrorf("the two plans cannot both be standard input")
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
	return a.printResult(d, func() { a.showDiff(d, pathA, pathB, p, q) })
}

// sideBySide is how many columns it takes to show two plans beside each other.
const sideBySide = 100

// showDiff shows the difference to a person.
func (a *app) showDiff(d *diffed, pathA, pathB string, p, q *plan.Plan) {
	st, out := a.styleFor(a.stdout), a.stdout
	switch {
	case d.Apart:
		st.Prose(out, "", "these plans were made for different histories, so their message numbers and savings cannot be compared", st.Warm)
	case p.Len != q.Len && p.Parent != q.ID() && q.Parent != p.ID():
		st.Prose(out, "", fmt.Sprintf("these plans cover %s and %s: comparing them makes sense only if one history grew into the other, which the plans alone do not show",
			plural(p.Len, "message"), plural(q.Len, "message")), st.Warm)
	}
	fmt.Fprintf(out, "%s\n%s\n\n", st.Red(brief("--- "+pathA+"  "+p.String(), st.Columns())), st.Green(brief("+++ "+pathB+"  "+q.String(), st.Columns())))
	fmt.Fprintln(out, st.Dim(fmt.Sprintf("%-11s %8s %12s %10s %12s", "stage", "- edits", "saves", "+ edits", "saves")))
	total := stagePair{Name: "all"}
	for _, s := range d.Stages {
		fmt.Fprintf(out, "%-11s %8s %12s %10s %12s\n", s.Name, number(s.EditsA), number(s.SavedA), number(s.EditsB), number(s.SavedB))
		total.EditsA += s.EditsA
		total.EditsB += s.EditsB
	}
	fmt.Fprintf(out, "%-11s %8s %12s %10s %12s\n\n", total.Name, number(total.EditsA), number(d.SavedA), number(total.EditsB), number(d.SavedB))
	fmt.Fprintf(out, "%s the same, %s only in -, %s only in +, %s changed\n",
		plural(d.Same, "edit"), number(d.Removed), number(d.Added), number(d.Changed))
	if len(d.Edits) > 0 {
		fmt.Fprintln(out)
	}
	for i := range d.Edits {
		if st.Columns() >= sideBySide {
			showBeside(out, st, &d.Edits[i])
		} else {
			showAbove(out, st, &d.Edits[i])
		}
	}
}

// sides returns an edit in the first plan and in the second; nil where it is not.
func (c *change) sides() (was, is *plan.Edit) {
	switch c.Op {
	case "-":
		return &c.Edit, nil
	case "+":
		return nil, &c.Edit
	}
	return c.Was, &c.Edit
}

// showBeside shows a change on one line, the first plan on the left.
func showBeside(out io.Writer, st style, c *change) {
	room := (st.Columns() - 3) / 2
	was, is := c.sides()
	left, right := strings.Repeat(" ", room), ""
	if was != nil {
		left = st.Red(show.Pad(editLine(c.Op, was, room), room))
	}
	if is != nil {
		right = st.Green(editLine(c.Op, is, room))
	}
	fmt.Fprintln(out, strings.TrimRight(left+st.Dim(" | ")+right, " "))
}

// showAbove shows a change on a line for each plan that has it.
func showAbove(out io.Writer, st style, c *change) {
	was, is := c.sides()
	if was != nil {
		fmt.Fprintln(out, st.Red(editLine("-", was, st.Columns())))
	}
	if is != nil {
		fmt.Fprintln(out, st.Green(editLine("+", is, st.Columns())))
	}
}

// editLine returns an edit in one line of at most that many columns.
func editLine(op string, e *plan.Edit, width int) string {
	where := fmt.Sprintf("%d.%d", e.From, e.Part)
	if e.Part < 0 {
		where = fmt.Sprintf("%d-%d", e.From, e.To-1)
	}
	line := fmt.Sprintf("%s %-6s %-9s %-10s %8s -> %-7s ", op, e.Kind, where, e.Stage, number(e.Before.Tokens), number(e.After.Tokens))
	if room := width - ansi.StringWidth(line); room > 12 {
		line += brief(e.Text, room)
	}
	return strings.TrimRight(line, " ")
}

// stagePairs sums up two plans by stage, in the order of the pipeline.
func stagePairs(p, q *plan.Plan) []stagePair {
	pairs := []stagePair{}
	find := func(name string) *stagePair {
		i := slices.IndexFunc(pairs, func(s stagePair) bool { return s.Name == name })
		if i < 0 {
			i = len(pairs)
			pairs = append(pairs, stagePair{Name: name})
		}
		return &pairs[i]
	}
	for i := range p.Edits {
		e := &p.Edits[i]
		s := find(e.Stage)
		s.EditsA++
		s.SavedA += e.Before.Tokens - e.After.Tokens
	}
	for i := range q.Edits {
		e := &q.Edits[i]
		s := find(e.Stage)
		s.EditsB++
		s.SavedB += e.Before.Tokens - e.After.Tokens
	}
	order := slices.Concat([]string{"repair"}, winnow.StageNames(), []string{"state"})
	slices.SortStableFunc(pairs, func(x, y stagePair) int { return slices.Index(order, x.Name) - slices.Index(order, y.Name) })
	return pairs
}

// diffPlans walks the two sorted lists side by side.
func diffPlans(p, q *plan.Plan) *diffed {
	d := &diffed{A: p.ID(), B: q.ID(), SavedA: p.Saved().Tokens, SavedB: q.Saved().Tokens, Apart: p.Len == q.Len && p.Prefix != q.Prefix, Edits: []change{}, Stages: stagePairs(p, q)}
	i, k := 0, 0
	for i < len(p.Edits) || k < len(q.Edits) {
		switch {
		case k == len(q.Edits) || i < len(p.Edits) && orderedBefore(&p.Edits[i], &q.Edits[k]):
			d.Edits = append(d.Edits, change{Op: "-", shownEdit: editDocument(&p.Edits[i])})
			d.Removed++
			i++
		case i == len(p.Edits) || orderedBefore(&q.Edits[k], &p.Edits[i]):
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

// orderedBefore orders edits by place as plans do.
func orderedBefore(x, y *plan.Edit) bool {
	if x.From != y.From {
		return x.From < y.From
	}
	if x, y := standsBefore(x), standsBefore(y); x != y {
		return x < y
	}
	if x.Part != y.Part {
		return x.Part < y.Part
	}
	return x.CallID == "" && y.CallID != ""
}

// standsBefore ranks what stands at one message: a marker before it, then the
// state, then what is done to the message itself.
func standsBefore(e *plan.Edit) int {
	switch {
	case e.Kind == plan.State:
		return 1
	case e.Kind == plan.Drop && e.From == e.To:
		return 0
	}
	return 2
}
