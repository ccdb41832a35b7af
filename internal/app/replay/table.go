package replay

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/winnow-llm/winnow/internal/text"
)

// grid is a table: a heading and rows of cells. The first cells are text, those
// from right on are figures.
type grid struct {
	head  []string
	rows  [][]string
	right int
}

// section is a table of a board: its title, a short note for the screen and a long
// one for the page in Markdown.
type section struct {
	Title, Note, long string
	grid
}

// sections are the tables of a board that have rows, in their order, with what is
// asked for among them or not.
func (b *Board) sections(bars bool) []section {
	var all []section
	add := func(g grid, title, note, long string) {
		if len(g.rows) > 0 {
			all = append(all, section{Title: title, Note: note, long: long, grid: g})
		}
	}
	if n := b.Next; n != nil {
		add(n.grid(), "Are the next edits ready?", n.about(), n.about()+". "+nextLong)
		add(n.besideGrid(), "What else the same views hold", "", besideLong)
	}
	for _, window := range b.Windows {
		add(b.leadGrid(window), fmt.Sprintf("Whole sessions in a window of %s tokens", text.Number(window)),
			text.Plural(b.Replayed, "session")+", with re-reads (* simulated LLM, † invalid views or overflows: does not compete)",
			fmt.Sprintf(leadLong, b.Replayed, 100*b.Trigger, llmBlocks))
	}
	if bars {
		add(barGrid(b.Bars()), "What is asked for", "", "")
	}
	for _, window := range b.Windows {
		add(b.replayGrid(window), fmt.Sprintf("The same sessions without re-reads: %s tokens", text.Number(window)), "", fmt.Sprintf(replayLong, b.Replayed, 100*b.Trigger, llmBlocks))
	}
	add(b.costGrid(), "When to compact", "means of generated sessions of 400 requests in a window of 1,000,000 tokens", costLong)
	return all
}

// leadGrid is the table of whole sessions that leads: V right after rewrites,
// what it cost with re-reads, and the time that was lost. Rows marked † have
// invalid views or overflows and do not compete.
func (b *Board) leadGrid(window int) grid {
	g := grid{head: []string{"policy", "V", "95 %", "tail", "naive", "in context", "re-reads"}, right: 1}
	for _, m := range b.Models {
		g.head = append(g.head, "$ "+m, "without")
	}
	g.head = append(g.head, "lost", "view tokens", "V after 2", "3", "5 rewrites", "with search", "stale", "bare lists")
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != window {
			continue
		}
		name := mark(r)
		if !r.Competes {
			name += " †"
		}
		row := []string{name, two(r.EditsReady), interval(r.ReadyBetween), two(r.TailReady), two(r.NaiveReady), two(r.InContext), text.Number(r.Rereads)}
		for k := range r.ByModel {
			row = append(row, fmt.Sprintf("%.2f", r.AgainByModel[k]), fmt.Sprintf("%.2f", r.ByModel[k]))
		}
		g.rows = append(g.rows, append(row, hours(r.LostMS), text.Number(r.ViewTokens), two(r.V2), two(r.V3), two(r.V5), two(r.Recalled), three(r.Stale), three(r.ListShare)))
	}
	return g
}

// replayGrid is the table of whole sessions in one window.
func (b *Board) replayGrid(window int) grid {
	g := grid{head: []string{"policy"}, right: 1}
	for _, m := range b.Models {
		g.head = append(g.head, "$ "+m, "$ timed")
	}
	g.head = append(g.head, "cached", "rewrites", "LLM calls", "invalid", "overflows", "peak", "waited")
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != window {
			continue
		}
		row := []string{mark(r)}
		for k := range r.ByModel {
			row = append(row, fmt.Sprintf("%.2f", r.ByModel[k]), fmt.Sprintf("%.2f", r.Timed[k]))
		}
		g.rows = append(g.rows, append(row, fmt.Sprintf("%.0f %%", 100*r.ReadShare()), text.Number(r.Rewrites), text.Number(r.LLMCalls),
			text.Number(r.Invalid), text.Number(r.Overflows), text.Number(r.Peak), hours(r.BlockedMS)))
	}
	return g
}

// costGrid is the table of the generated session.
func (b *Board) costGrid() grid {
	g := grid{head: []string{"prices", "compacted at", "cold", "tail", "summary", "dollars", "saved", "rewrites", "peak"}, right: 2}
	for i := range b.Costs {
		c := &b.Costs[i]
		saved := ""
		if c.When != atWindow {
			saved = fmt.Sprintf("%.0f %%", 100*c.Saved)
		}
		g.rows = append(g.rows, []string{
			c.Model, c.When, fmt.Sprintf("%.0f %%", 100*c.Cold), text.Number(c.Tail), text.Number(c.Summary),
			fmt.Sprintf("%.2f", c.Dollars), saved, fmt.Sprintf("%.1f", c.Rewrites), text.Number(c.Peak),
		})
	}
	return g
}

// barGrid is the table of what is asked for.
func barGrid(bars []Bar) grid {
	g := grid{head: []string{"what", "asked for", "measured", "met"}, right: 9}
	for _, bar := range bars {
		met := "no"
		if bar.Met {
			met = "yes"
		}
		g.rows = append(g.rows, []string{bar.What, bar.Want, bar.Got, met})
	}
	return g
}

// Table writes the board for a terminal.
func (b *Board) Table(w io.Writer) error {
	p := &page{w: w}
	for _, s := range b.sections(false) {
		p.say("%s", strings.TrimSpace(s.Title+" "+s.Note))
		p.put(s.text)
		p.say("")
	}
	return p.err
}

func (g grid) text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	widths := make([]int, len(g.head))
	for _, row := range append([][]string{g.head}, g.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	for _, row := range append([][]string{g.head}, g.rows...) {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = c
			if i >= g.right {
				cells[i] = strings.Repeat(" ", widths[i]-len([]rune(c))) + c
			}
		}
		if _, err := fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), " \t")); err != nil {
			return err
		}
	}
	return t.Flush()
}

// markdown writes the table as Markdown.
func (g grid) markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| " + strings.Join(g.head, " | ") + " |\n|")
	for i := range g.head {
		if i >= g.right {
			b.WriteString("--:|")
		} else {
			b.WriteString("---|")
		}
	}
	b.WriteByte('\n')
	for _, r := range g.rows {
		b.WriteString("| " + strings.ReplaceAll(strings.Join(r, "\x00"), "|", "\\|") + " |\n")
	}
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "\x00", " | "))
	return err
}

func mark(r *Row) string {
	if r.Simulated {
		return r.Policy + " *"
	}
	return r.Policy
}

// two writes a share with two digits, and a dash for none.
func two(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *x)
}

func interval(x *[2]float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f–%.2f", x[0], x[1])
}

// hours writes how long agents waited.
func hours(ms int64) string {
	switch {
	case ms == 0:
		return "0"
	case ms < 3600_000:
		return fmt.Sprintf("%d min", ms/60_000)
	}
	return fmt.Sprintf("%.1f h", float64(ms)/3600_000)
}
