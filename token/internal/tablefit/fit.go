package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/winnow-llm/winnow/token/internal/boundary"
)

// ridge says how strongly corrections are drawn to zero. Chosen by
// cross-validation, by texts and by whole classes of text.
const ridge = 0.1

// groups of entries are corrected together: by the coarse classes of the three bytes.
const (
	coarse = 16
	groups = coarse * coarse * coarse
)

// coarseClass puts classes that behave alike together.
func coarseClass(c uint8) int {
	switch {
	case c < 26:
		return 0 // lower case
	case c < 34:
		return 1 // upper case
	case c == 34:
		return 2 // digit
	case c == 35:
		return 3 // space
	case c < 38:
		return 4 // line end, tab
	case c < 51:
		return 5 // other ASCII
	case c < 55:
		return 6 // inside a character
	}
	return 7 + int(c) - 55 // the scripts by their first byte
}

func groupOf(prev, cur, next uint8) int {
	return (coarseClass(prev)*coarse+coarseClass(cur))*coarse + coarseClass(next)
}

// Each group has two corrections: one of its doubtful entries, by how doubtful
// they are, and one of all its entries alike.
func doubtOf(entry byte) float64 { p := boundary.Likelihood(entry); return 2 * p * (1 - p) }

const alike = 0.3

// fit is a ridge regression in its dual form: there are fewer texts than groups.
type fit struct {
	texts    []text
	family   string
	table    *boundary.Table
	features [][]float64 // by text, relative to its true count
	missing  []float64   // what the table lacks, relative too
	gram     [][]float64
}

func newFit(texts []text, family string, t *boundary.Table) *fit {
	f := &fit{texts: texts, family: family, table: t}
	for i := range texts {
		s, truth := texts[i].Text, float64(texts[i].Tokens[family])
		x := make([]float64, 2*groups)
		boundary.Each(s, func(prev, cur, next uint8) {
			g := groupOf(prev, cur, next)
			x[g] += doubtOf(t[boundary.Index(prev, cur, next)]) / truth
			x[groups+g] += alike / truth
		})
		f.features = append(f.features, x)
		f.missing = append(f.missing, 1-estimateText(t, family, s)/truth)
	}
	f.gram = make([][]float64, len(texts))
	for i := range texts {
		f.gram[i] = make([]float64, len(texts))
		for j := 0; j <= i; j++ {
			f.gram[i][j] = dot(f.features[i], f.features[j])
			f.gram[j][i] = f.gram[i][j]
		}
	}
	return f
}

// estimateText counts a text as package token does.
func estimateText(t *boundary.Table, family, s string) float64 {
	n, _ := t.Estimate(s, boundary.DigitsInThrees(family))
	return n
}

// solve returns the weights of the chosen texts.
func (f *fit) solve(chosen []int) []float64 {
	n := len(chosen)
	a, b := make([][]float64, n), make([]float64, n)
	for r, i := range chosen {
		a[r] = make([]float64, n)
		for c, j := range chosen {
			a[r][c] = f.gram[i][j]
		}
		a[r][r] += ridge
		b[r] = f.missing[i]
	}
	return gauss(a, b)
}

// crossValidate scores each text by a correction that was found without it.
func (f *fit) crossValidate(folds int) quality {
	errors := make([]float64, len(f.texts))
	for fold := range folds {
		var chosen []int
		for i := range f.texts {
			if i%folds != fold {
				chosen = append(chosen, i)
			}
		}
		w := f.solve(chosen)
		for i := fold; i < len(f.texts); i += folds {
			e := -f.missing[i]
			for r, j := range chosen {
				e += w[r] * f.gram[i][j]
			}
			errors[i] = math.Abs(e)
		}
	}
	return qualityOf(f.texts, errors)
}

// correctedTable returns the table with the correction that all texts give.
func (f *fit) correctedTable() *boundary.Table {
	all := make([]int, len(f.texts))
	for i := range all {
		all[i] = i
	}
	w := f.solve(all)
	by := make([]float64, 2*groups)
	for i := range all {
		for k, x := range f.features[i] {
			by[k] += w[i] * x
		}
	}
	t := *f.table
	for prev := range uint8(64) {
		for cur := range uint8(64) {
			for next := range uint8(64) {
				i, g := boundary.Index(prev, cur, next), groupOf(prev, cur, next)
				t[i] = boundary.Entry(boundary.Likelihood(t[i]) + by[g]*doubtOf(t[i]) + by[groups+g]*alike)
			}
		}
	}
	return &t
}

// quality is how far estimates are from the truth.
type quality struct{ mean, p95 float64 }

func (q quality) String() string { return fmt.Sprintf("  %5.2f / %5.2f", 100*q.mean, 100*q.p95) }

func scoreTexts(texts []text, family string, estimate func(string) float64) quality {
	errors := make([]float64, len(texts))
	for i := range texts {
		errors[i] = math.Abs(estimate(texts[i].Text)/float64(texts[i].Tokens[family]) - 1)
	}
	return qualityOf(texts, errors)
}

func qualityOf(texts []text, errors []float64) quality {
	var q quality
	var long []float64
	for i, e := range errors {
		q.mean += e / float64(len(errors))
		if len(texts[i].Text) > 1024 {
			long = append(long, e)
		}
	}
	slices.Sort(long)
	q.p95 = long[int(math.Ceil(0.95*float64(len(long))))-1]
	return q
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, x := range a {
		s += x * b[i]
	}
	return s
}

// gauss solves a*x = b and destroys both. The matrix is positive definite.
func gauss(a [][]float64, b []float64) []float64 {
	for i := range b {
		for j := i + 1; j < len(b); j++ {
			m := a[j][i] / a[i][i]
			for k := i; k < len(b); k++ {
				a[j][k] -= m * a[i][k]
			}
			b[j] -= m * b[i]
		}
	}
	for i := len(b) - 1; i >= 0; i-- {
		for k := i + 1; k < len(b); k++ {
			b[i] -= a[i][k] * b[k]
		}
		b[i] /= a[i][i]
	}
	return b
}
