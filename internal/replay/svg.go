package replay

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// plot draws one diagram as SVG. Coordinates are the data's; the diagram scales.
type plot struct {
	width, height  int
	xName, yName   string
	x0, x1, y0, y1 float64
	logX           bool
	b              strings.Builder
	labels         []label // of points
}

// label is where a point's name stands.
type label struct{ left, right, y float64 }

const (
	plotWidth    = 760
	marginLeft   = 56
	marginRight  = 190
	marginTop    = 12
	marginBottom = 38
)

func newPlot(height int, xName, yName string, x0, x1, y0, y1 float64) *plot {
	return &plot{width: plotWidth, height: height, xName: xName, yName: yName, x0: x0, x1: x1, y0: y0, y1: y1}
}

func (p *plot) x(v float64) float64 {
	a, b := p.x0, p.x1
	if p.logX {
		a, b, v = math.Log(a), math.Log(b), math.Log(v)
	}
	return marginLeft + (v-a)/(b-a)*float64(p.width-marginLeft-marginRight)
}

func (p *plot) y(v float64) float64 {
	return float64(p.height-marginBottom) - (v-p.y0)/(p.y1-p.y0)*float64(p.height-marginTop-marginBottom)
}

// axes draws the frame with marks at these values.
func (p *plot) axes(xs, ys []float64, label func(float64) string) {
	left, right, bottom := float64(marginLeft), float64(p.width-marginRight), float64(p.height-marginBottom)
	for _, v := range ys {
		fmt.Fprintf(&p.b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><text class="tick" x="%.1f" y="%.1f" text-anchor="end">%s</text>`,
			left, p.y(v), right, p.y(v), left-6, p.y(v)+4, trimZero(v))
	}
	for _, v := range xs {
		fmt.Fprintf(&p.b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%.1f"/><text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`,
			p.x(v), marginTop, p.x(v), bottom, p.x(v), bottom+15, label(v))
	}
	fmt.Fprintf(&p.b, `<text class="name" x="%.1f" y="%d" text-anchor="middle">%s</text>`, (left+right)/2, p.height-6, template.HTMLEscapeString(p.xName))
	fmt.Fprintf(&p.b, `<text class="name" transform="translate(13 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, bottom/2, template.HTMLEscapeString(p.yName))
}

// line draws a line with a title and its name at the end.
func (p *plot) line(name, class string, xs, ys []float64, labelY float64) {
	var pts []string
	for i := range xs {
		pts = append(pts, fmt.Sprintf("%.1f,%.1f", p.x(xs[i]), p.y(ys[i])))
	}
	n := template.HTMLEscapeString(name)
	fmt.Fprintf(&p.b, `<g class="%s"><title>%s</title><polyline points="%s"/>`, class, n, strings.Join(pts, " "))
	if len(xs) < 20 {
		for i := range xs {
			fmt.Fprintf(&p.b, `<circle cx="%.1f" cy="%.1f" r="3"><title>%s: %s</title></circle>`, p.x(xs[i]), p.y(ys[i]), n, trimZero(ys[i]))
		}
	}
	if labelY >= 0 {
		fmt.Fprintf(&p.b, `<text class="label" x="%d" y="%.1f">%s</text>`, p.width-marginRight+8, labelY, n)
	}
	p.b.WriteString("</g>")
}

// point draws a dot with its name beside it, moved up or down where another
// point's name stands already.
func (p *plot) point(name, class string, x, y float64, title string) {
	p.dot(name, class, x, y, 5, title)
}

// dot is point with a radius.
func (p *plot) dot(name, class string, x, y, radius float64, title string) {
	const height, letter = 14, 7
	at := label{p.x(x) + radius + 3, p.x(x) + radius + 3 + letter*float64(len(name)), p.y(y) + 4}
	taken := func(l label) bool {
		return slices.ContainsFunc(p.labels, func(o label) bool {
			return l.left < o.right && o.left < l.right && math.Abs(l.y-o.y) < height
		})
	}
	for step := 1; step < 10 && taken(at); step++ {
		at.y = p.y(y) + 4 + height*float64(step/2+step%2)*float64(1-2*(step%2))
	}
	p.labels = append(p.labels, at)
	n := template.HTMLEscapeString(name)
	fmt.Fprintf(&p.b, `<g class="%s"><circle cx="%.1f" cy="%.1f" r="%.1f"><title>%s</title></circle><text class="label" x="%.1f" y="%.1f">%s</text></g>`,
		class, p.x(x), p.y(y), radius, template.HTMLEscapeString(title), at.left, at.y, n)
}

// rule draws a line across the diagram.
func (p *plot) rule(y float64, class string) {
	fmt.Fprintf(&p.b, `<line class="%s" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`, class, marginLeft, p.y(y), p.width-marginRight, p.y(y))
}

func (p *plot) svg() template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s against %s">%s</svg>`,
		p.width, p.height, template.HTMLEscapeString(p.yName), template.HTMLEscapeString(p.xName), p.b.String()))
}

func trimZero(v float64) string {
	s := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
	if v >= 1000 {
		return fmt.Sprintf("%gk", math.Round(v/100)/10)
	}
	return s
}

// steps returns about n round marks between two values.
func steps(from, to float64, n int) []float64 {
	if to <= from {
		return []float64{from}
	}
	raw := (to - from) / float64(n)
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if unit*m >= raw {
			unit *= m
			break
		}
	}
	var out []float64
	for v := math.Ceil(from/unit) * unit; v <= to+unit/1000; v += unit {
		out = append(out, v)
	}
	return out
}
