package insights

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/app/plot"
	"github.com/winnow-llm/winnow/internal/text"
)

//go:embed page.html
var page string

var pageTemplate = template.Must(template.New("insights").Funcs(template.FuncMap{
	"number":  text.Number,
	"base":    shortName,
	"place":   func(i int) int { return i + 1 },
	"dollars": dollars,
	"minutes": minutes,
	"day":     func(t time.Time) string { return t.Format(time.DateOnly) },
}).Parse(page))

// shortName is enough of a path to recognise the session; the whole is in the
// cell's title.
func shortName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".jsonl"), ".json")
	if runes := []rune(name); len(runes) > 30 {
		name = string(runes[:14]) + "…" + string(runes[len(runes)-12:])
	}
	return name
}

// HTML writes the report as one page that needs nothing else.
func (r *Report) HTML(w io.Writer, made time.Time) error {
	return pageTemplate.Execute(w, struct {
		*Report
		Style               template.CSS
		Made                string
		Weekly, Kept, Money template.HTML
		Lines               []string
	}{r, plot.Style, made.Format(time.DateOnly), r.weekPlot(), r.readyPlot(), r.worstPlot(), r.Lines()})
}

// weekPlot is minutes lost week by week.
func (r *Report) weekPlot() template.HTML {
	if len(r.Weeks) == 0 {
		return ""
	}
	top := 1.0
	for i := range r.Weeks {
		top = math.Max(top, r.Weeks[i].Minutes)
	}
	n := float64(len(r.Weeks))
	p := plot.New(240, "week", "minutes waited", 0, n, 0, top*1.1)
	var xs []float64
	every := max(1, len(r.Weeks)/8)
	for i := 0; i < len(r.Weeks); i += every {
		xs = append(xs, float64(i)+0.5)
	}
	p.Axes(xs, plot.Steps(0, top*1.1, 5), func(v float64) string { return r.Weeks[int(v)].Monday[5:] })
	for i := range r.Weeks {
		w, at := &r.Weeks[i], float64(i)
		p.Bar("peer", at+0.12, at+0.48, w.Minutes, fmt.Sprintf("week of %s: %s compactions, %s, $%.2f", w.Monday, text.Number(w.Compactions), minutes(w.Minutes), w.Spent))
		p.Bar("ours", at+0.52, at+0.88, w.OurMinutes, fmt.Sprintf("week of %s: winnow, %s", w.Monday, minutes(w.OurMinutes)))
	}
	p.Label("peer", "as it was", 24)
	p.Label("ours", "with winnow", 42)
	return p.SVG()
}

// readyPlot is the share of edits that were ready after a compaction, by agent.
func (r *Report) readyPlot() template.HTML {
	var with []*Agent
	for i := range r.Agents {
		if r.Agents[i].Ready.Of > 0 {
			with = append(with, &r.Agents[i])
		}
	}
	if len(with) == 0 {
		return ""
	}
	p := plot.New(240, "agent", "edits ready after a compaction", 0, float64(len(with)), 0, 1)
	var xs []float64
	for i := range with {
		xs = append(xs, float64(i)+0.5)
	}
	p.Axes(xs, plot.Steps(0, 1, 5), func(v float64) string { return with[int(v)].Agent })
	for i, a := range with {
		at := float64(i)
		p.Bar("peer", at+0.2, at+0.48, a.Ready.Share(), fmt.Sprintf("%s: %d of %d", a.Agent, a.Ready.Hit, a.Ready.Of))
		p.Bar("ours", at+0.52, at+0.8, a.OursReady.Share(), fmt.Sprintf("winnow: %d of %d", a.OursReady.Hit, a.OursReady.Of))
	}
	p.Label("peer", "as it was", 24)
	p.Label("ours", "with winnow", 42)
	return p.SVG()
}

// worstPlot is minutes against dollars for the sessions that suffered most.
func (r *Report) worstPlot() template.HTML {
	if len(r.Worst) == 0 {
		return ""
	}
	top, cost := 1.0, 0.01
	for i := range r.Worst {
		top, cost = math.Max(top, r.Worst[i].Minutes), math.Max(cost, r.Worst[i].Spent)
	}
	p := plot.New(320, "minutes waited", "dollars for summaries and re-reads", 0, top*1.15, 0, cost*1.15)
	p.Axes(plot.Steps(0, top*1.15, 6), plot.Steps(0, cost*1.15, 5), plot.TrimZero)
	for i := range r.Worst {
		s := &r.Worst[i]
		p.Dot(fmt.Sprint(i+1), "peer", s.Minutes, s.Spent, 3+math.Sqrt(float64(s.Rereads)),
			fmt.Sprintf("%d: %s, %d compactions, %s, $%.2f, %d re-reads", i+1, s.Agent, s.Compactions, minutes(s.Minutes), s.Spent, s.Rereads))
	}
	return p.SVG()
}
