package replay

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"

	"github.com/winnow-llm/winnow/internal/plot"
	"github.com/winnow-llm/winnow/internal/text"
)

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Parse(reportPage))

// HTML writes the board as one page that needs nothing else: tables and plots.
func (b *Board) HTML(w io.Writer, m Made) error {
	type table struct {
		Title, Note string
		Head        []string
		Rows        [][]string
		Right       int
	}
	put := func(title, note string, g grid) table { return table{title, note, g.head, g.rows, g.right} }
	data := struct {
		Style  template.CSS
		Made   Made
		Board  *Board
		Front  template.HTML
		Lives  []template.HTML
		LifeOf string
		Tables []table
	}{Style: plot.Style, Made: m, Board: b, Front: b.frontPlot()}
	if n := b.Next; n != nil {
		data.Tables = append(data.Tables,
			put("Are the next edits ready?", fmt.Sprintf("%s at %s; views of the same size beside ours", counted(n.Edits, "edit"), counted(n.Cuts, "cut")), n.grid()),
			put("What else the same views hold", "", n.besideGrid()))
	}
	for _, window := range b.Windows {
		data.Tables = append(data.Tables, put(fmt.Sprintf("Whole sessions in a window of %s tokens, with re-reads", text.Number(window)),
			"* simulated LLM; † invalid views or overflows: does not compete", b.leadGrid(All, window)))
	}
	data.Tables = append(data.Tables, put("What is asked for", "", barGrid(b.Bars())))
	for _, window := range b.Windows {
		data.Tables = append(data.Tables, put(fmt.Sprintf("The same sessions without re-reads: %s tokens", text.Number(window)),
			"* a stand-in takes the place of an LLM: simulated", b.replayGrid(All, window)))
	}
	data.Tables = append(data.Tables, put("When to compact", "generated sessions of 400 requests: means", b.costGrid()))
	data.Tables = slices.DeleteFunc(data.Tables, func(t table) bool { return len(t.Rows) == 0 })
	for i := range b.Lives {
		data.Lives = append(data.Lives, b.lifePlot(&b.Lives[i]))
		data.LifeOf = b.Lives[i].File
	}
	return reportTemplate.Execute(w, data)
}

// frontPlot is dollars with re-reads against V; a mark's area is the
// time lost.
func (b *Board) frontPlot() template.HTML {
	if len(b.Windows) == 0 {
		return ""
	}
	var rows []*Row
	lo, hi, most := math.Inf(1), 0.0, int64(1)
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.File != All || r.Window != b.Windows[0] || r.EditsReady == nil || r.DollarsAgain <= 0 {
			continue
		}
		rows = append(rows, r)
		lo, hi, most = math.Min(lo, r.DollarsAgain), math.Max(hi, r.DollarsAgain), max(most, r.LostMS)
	}
	if len(rows) == 0 {
		return ""
	}
	// Who spends much more than others stands at the edge, so that the others can
	// be told apart.
	edge := math.Min(hi*1.1, lo*2.5)
	p := plot.New(420, "dollars with re-reads", "V: next edits ready after a rewrite", lo*0.95, edge, 0, 1.02)
	p.LogX = true
	p.Axes(dollarMarks(p.X0, p.X1), plot.Steps(0, 1, 5), func(v float64) string { return "$" + plot.TrimZero(v) })
	for _, r := range rows {
		how := class(r.Policy)
		if !r.Competes && how == "peer" {
			how = "limit"
		}
		p.Dot(mark(r), how, math.Min(r.DollarsAgain, edge), *r.EditsReady, 3+11*math.Sqrt(float64(r.LostMS)/float64(most)),
			fmt.Sprintf("%s: $%.2f, %.3f of the edits ready, %d re-reads, %s lost", mark(r), r.DollarsAgain, *r.EditsReady, r.Rereads, hours(r.LostMS)))
	}
	return p.SVG()
}

// dollarMarks returns round sums between two.
func dollarMarks(from, to float64) []float64 {
	var xs []float64
	for _, v := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 150, 200, 300, 500, 1000, 2000, 5000} {
		if v >= from && v <= to {
			xs = append(xs, v)
		}
	}
	return xs
}

// lifePlot is the prompt's size over a session.
func (b *Board) lifePlot(l *Life) template.HTML {
	top := float64(l.Window) * 1.25
	p := plot.New(150, "request ("+l.Policy+")", "tokens", 0, float64(max(1, len(l.Sizes)-1)), 0, top)
	p.Axes(plot.Steps(0, p.X1, 8), []float64{0, float64(l.Window)}, plot.TrimZero)
	p.Rule(float64(l.Window), "window")
	xs, ys := make([]float64, len(l.Sizes)), make([]float64, len(l.Sizes))
	for i, n := range l.Sizes {
		xs[i], ys[i] = float64(i), math.Min(float64(n), top)
	}
	for _, m := range l.Marks {
		p.Mark(float64(m), fmt.Sprintf("rewrite at request %d", m+1))
	}
	p.Line(fmt.Sprintf("%s, %d rewrites", l.Policy, len(l.Marks)), class(l.Policy), xs, ys, p.Y(top)+12)
	return p.SVG()
}

// class says how a row is painted.
func class(policy string) string {
	switch {
	case IsOurs(policy):
		return "ours"
	case policy == "none":
		return "limit"
	}
	return "peer"
}
