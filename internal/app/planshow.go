package app

import (
	"fmt"
	"io"
	"strings"

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
