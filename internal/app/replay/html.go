package replay

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"github.com/winnow-llm/winnow/internal/app/plot"
)

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Parse(reportPage))

// HTML writes the board as one page that needs nothing else: tables and plots.
func (b *Board) HTML(w io.Writer, m Made) error {
	return reportTemplate.Execute(w, struct {
		Style  template.CSS
		Made   Made
		Board  *Board
		Front  template.HTML
		Tables []section
	}{plot.Style, m, b, b.frontPlot(), b.sections(true)})
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
