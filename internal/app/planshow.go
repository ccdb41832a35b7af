package app

import (
	"cmp"
	"fmt"
	"io"
	"maps"
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
	return newCommand("diff PLAN PLAN", "Compare two plans, edit by edit", `
  winnow plan diff before.plan.json after.plan.json

Shows how two plans differ, and what each stage saves in either. On a terminal of
100 columns or more they are side by side: - marks what only the first does, + what
only the second does, ~ a place that they edit differently. Edits that they share
are only counted.`, cobra.ExactArgs(2), func(_ *cobra.Command, args []string) error {
		if args[0] == "-" && args[1] == "-" {
			return usageErrorf("the two plans cannot both be standard input")
		}
		p, err := a.readPlan(args[0])
		if err != nil {
			return err
		}
		q, err := a.readPlan(args[1])
		if err != nil {
			return err
		}
		d := diffPlans(p, q)
		return a.printResult(d, func() { a.showDiff(d, args[0], args[1], p, q) })
	})
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
		showChange(out, st, &d.Edits[i])
	}
}

// showChange shows a change on one line, the first plan on the left, or where that has no
// room on a line for each plan that has it.
func showChange(out io.Writer, st style, c *change) {
	was, is := c.Was, &c.Edit
	if c.Op == "-" {
		was, is = is, nil
	}
	if width := st.Columns(); width < sideBySide {
		if was != nil {
			fmt.Fprintln(out, st.Red(editLine("-", was, width)))
		}
		if is != nil {
			fmt.Fprintln(out, st.Green(editLine("+", is, width)))
		}
		return
	}
	room := (st.Columns() - 3) / 2
	left, right := strings.Repeat(" ", room), ""
	if was != nil {
		left = st.Red(show.Pad(editLine(c.Op, was, room), room))
	}
	if is != nil {
		right = st.Green(editLine(c.Op, is, room))
	}
	fmt.Fprintln(out, strings.TrimRight(left+st.Dim(" | ")+right, " "))
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
	pairs := map[string]stagePair{}
	for _, e := range p.Edits {
		s := pairs[e.Stage]
		pairs[e.Stage] = stagePair{e.Stage, s.EditsA + 1, s.EditsB, s.SavedA + e.Before.Tokens - e.After.Tokens, s.SavedB}
	}
	for _, e := range q.Edits {
		s := pairs[e.Stage]
		pairs[e.Stage] = stagePair{e.Stage, s.EditsA, s.EditsB + 1, s.SavedA, s.SavedB + e.Before.Tokens - e.After.Tokens}
	}
	order := slices.Concat([]string{"repair"}, winnow.StageNames(), []string{"state"})
	all := slices.AppendSeq([]stagePair{}, maps.Values(pairs))
	slices.SortFunc(all, func(x, y stagePair) int {
		return cmp.Or(slices.Index(order, x.Name)-slices.Index(order, y.Name), strings.Compare(x.Name, y.Name))
	})
	return all
}

// diffPlans walks the two sorted lists side by side.
func diffPlans(p, q *plan.Plan) *diffed {
	d := &diffed{A: p.ID(), B: q.ID(), SavedA: p.Saved().Tokens, SavedB: q.Saved().Tokens, Apart: p.Len == q.Len && p.Prefix != q.Prefix, Edits: []change{}, Stages: stagePairs(p, q)}
	olds, news := p.Edits, q.Edits
	for len(olds)+len(news) > 0 {
		order := cmp.Compare(len(news), len(olds)) // of use where one of them is at its end
		if len(olds) > 0 && len(news) > 0 {
			order = slices.Compare(placeOf(&olds[0]), placeOf(&news[0]))
		}
		switch {
		case order < 0:
			d.Edits = append(d.Edits, change{Op: "-", shownEdit: editDocument(&olds[0])})
			d.Removed++
			olds = olds[1:]
			continue
		case order > 0:
			d.Edits = append(d.Edits, change{Op: "+", shownEdit: editDocument(&news[0])})
			d.Added++
			news = news[1:]
			continue
		}
		x, y := &olds[0], &news[0]
		if x.Kind == y.Kind && x.To == y.To && x.Text == y.Text && slices.Equal(x.Keep, y.Keep) {
			d.Same++
		} else {
			d.Edits = append(d.Edits, change{Op: "~", shownEdit: editDocument(y), Was: x})
			d.Changed++
		}
		olds, news = olds[1:], news[1:]
	}
	return d
}

// placeOf returns an edit's place, by which plans sort: at one message stands a marker
// before it, then the state, then what is done to the message itself.
func placeOf(e *plan.Edit) []int {
	rank, answers := 2, 0
	switch {
	case e.Kind == plan.State:
		rank = 1
	case e.Kind == plan.Drop && e.From == e.To:
		rank = 0
	}
	if e.CallID != "" {
		answers = 1
	}
	return []int{e.From, rank, e.Part, answers}
}
