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

// tableSections returns the tables of a board that have rows, in their order, with what is
// asked for among them or not.
func (b *Board) tableSections(bars bool) []section {
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
			text.Plural(b.Replayed, "session")+", with re-reads (* simulated LLM, † with the number of invalid views and overflows: does not compete)",
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

// leadGrid returns the table of whole sessions that leads: V right after rewrites,
// what it cost with re-reads, and the time that was lost. Rows marked † have
// as many invalid views and overflows as it says, and do not compete.
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
		name := markSimulated(r)
		if !r.Competes {
			name += " †" + text.Number(r.Invalid+r.Overflows+r.Failed)
		}
		row := []string{name, twoDigits(r.EditsReady), formatInterval(r.ReadyBetween), twoDigits(r.TailReady), twoDigits(r.NaiveReady), twoDigits(r.InContext), text.Number(r.Rereads)}
		for k := range r.ByModel {
			row = append(row, fmt.Sprintf("%.2f", r.AgainByModel[k]), fmt.Sprintf("%.2f", r.ByModel[k]))
		}
		g.rows = append(g.rows, append(row, formatHours(r.LostMS), text.Number(r.ViewTokens), twoDigits(r.V2), twoDigits(r.V3), twoDigits(r.V5), twoDigits(r.Recalled), threeDigits(r.Stale), threeDigits(r.ListShare)))
	}
	return g
}

// replayGrid returns the table of whole sessions in one window.
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
		row := []string{markSimulated(r)}
		for k := range r.ByModel {
			row = append(row, fmt.Sprintf("%.2f", r.ByModel[k]), fmt.Sprintf("%.2f", r.Timed[k]))
		}
		g.rows = append(g.rows, append(row, fmt.Sprintf("%.0f %%", 100*r.ReadShare()), text.Number(r.Rewrites), text.Number(r.LLMCalls),
			text.Number(r.Invalid), text.Number(r.Overflows), text.Number(r.Peak), formatHours(r.BlockedMS)))
	}
	return g
}

// costGrid returns the table of the generated session.
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

// barGrid returns the table of what is asked for.
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
	for _, s := range b.tableSections(false) {
		p.say("%s", strings.TrimSpace(s.Title+" "+s.Note))
		p.put(s.writeText)
		p.say("")
	}
	return p.err
}

func (g grid) writeText(w io.Writer) error {
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

// writeMarkdown writes the table as Markdown.
func (g grid) writeMarkdown(w io.Writer) error {
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

func markSimulated(r *Row) string {
	if r.Simulated {
		return r.Policy + " *"
	}
	return r.Policy
}

// twoDigits writes a share with two digits, and a dash for none.
func twoDigits(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *x)
}

func formatInterval(x *[2]float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f–%.2f", x[0], x[1])
}

// formatHours writes how long agents waited.
func formatHours(ms int64) string {
	switch {
	case ms == 0:
		return "0"
	case ms < 3600_000:
		return fmt.Sprintf("%d min", ms/60_000)
	}
	return fmt.Sprintf("%.1f h", float64(ms)/3600_000)
}
