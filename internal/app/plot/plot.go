// Package plot draws small diagrams as SVG for pages that need nothing else:
// [New], then [Plot.Axes] and what stands in it, then [Plot.SVG]. The classes of
// what is drawn are those of [Style]: ours, peer and limit.
package plot

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// Style is the sheet of pages with plots and tables, in light and dark.
//
//go:embed style.css
var Style template.CSS

// Plot draws one diagram as SVG. Coordinates are the data's; the diagram scales.
type Plot struct {
	X0, X1, Y0, Y1 float64
	LogX           bool // marks stand at equal ratios

	width, height int
	xName, yName  string
	b             strings.Builder
	labels        []label // of points
}

// label is where a point's name stands.
type label struct{ left, right, y float64 }

// Width of every diagram, and what of it is kept free at the right for names.
const (
	Width       = 760
	MarginRight = 190
)

const (
	marginLeft   = 56
	marginTop    = 12
	marginBottom = 38
)

// New returns a diagram of a height with the names of its axes and what they
// span.
func New(height int, xName, yName string, x0, x1, y0, y1 float64) *Plot {
	return &Plot{width: Width, height: height, xName: xName, yName: yName, X0: x0, X1: x1, Y0: y0, Y1: y1}
}

// X is where a value stands from left to right.
func (p *Plot) X(v float64) float64 {
	a, b := p.X0, p.X1
	if p.LogX {
		a, b, v = math.Log(a), math.Log(b), math.Log(v)
	}
	return marginLeft + (v-a)/(b-a)*float64(p.width-marginLeft-MarginRight)
}

// Y is where a value stands from the top.
func (p *Plot) Y(v float64) float64 {
	return float64(p.height-marginBottom) - (v-p.Y0)/(p.Y1-p.Y0)*float64(p.height-marginTop-marginBottom)
}

// Axes draws the frame with marks at these values.
func (p *Plot) Axes(xs, ys []float64, label func(float64) string) {
	left, right, bottom := float64(marginLeft), float64(p.width-MarginRight), float64(p.height-marginBottom)
	for _, v := range ys {
		fmt.Fprintf(&p.b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><text class="tick" x="%.1f" y="%.1f" text-anchor="end">%s</text>`,
			left, p.Y(v), right, p.Y(v), left-6, p.Y(v)+4, TrimZero(v))
	}
	for _, v := range xs {
		fmt.Fprintf(&p.b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%.1f"/><text class="tick" x="%.1f" y="%.1f" text-anchor="middle">%s</text>`,
			p.X(v), marginTop, p.X(v), bottom, p.X(v), bottom+15, label(v))
	}
	fmt.Fprintf(&p.b, `<text class="name" x="%.1f" y="%d" text-anchor="middle">%s</text>`, (left+right)/2, p.height-6, template.HTMLEscapeString(p.xName))
	fmt.Fprintf(&p.b, `<text class="name" transform="translate(13 %.1f) rotate(-90)" text-anchor="middle">%s</text>`, bottom/2, template.HTMLEscapeString(p.yName))
}

// Dot draws a dot with its name beside it, moved up or down where another dot's name
// stands already.
func (p *Plot) Dot(name, class string, x, y, radius float64, title string) {
	const height, letter = 14, 7
	at := label{p.X(x) + radius + 3, p.X(x) + radius + 3 + letter*float64(len(name)), p.Y(y) + 4}
	taken := func(l label) bool {
		return slices.ContainsFunc(p.labels, func(o label) bool {
			return l.left < o.right && o.left < l.right && math.Abs(l.y-o.y) < height
		})
	}
	for step := 1; step < 10 && taken(at); step++ {
		at.y = p.Y(y) + 4 + height*float64(step/2+step%2)*float64(1-2*(step%2))
	}
	p.labels = append(p.labels, at)
	n := template.HTMLEscapeString(name)
	fmt.Fprintf(&p.b, `<g class="%s"><circle cx="%.1f" cy="%.1f" r="%.1f"><title>%s</title></circle><text class="label" x="%.1f" y="%.1f">%s</text></g>`,
		class, p.X(x), p.Y(y), radius, template.HTMLEscapeString(title), at.left, at.y, n)
}

// SVG returns the diagram.
func (p *Plot) SVG() template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s against %s">%s</svg>`,
		p.width, p.height, template.HTMLEscapeString(p.yName), template.HTMLEscapeString(p.xName), p.b.String()))
}

// TrimZero writes a figure with at most two places, thousands as k.
func TrimZero(v float64) string {
	s := strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
	if v >= 1000 {
		return fmt.Sprintf("%gk", math.Round(v/100)/10)
	}
	return s
}

// Steps returns about n round marks between two values.
func Steps(from, to float64, n int) []float64 {
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
