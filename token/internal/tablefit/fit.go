package main

import "github.com/winnow-llm/winnow/token/internal/boundary"

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

// correctTable returns the table with the correction that texts of known counts give. It
// is a ridge regression in its dual form: there are fewer texts than groups.
func correctTable(old *boundary.Table, texts []text, family string) *boundary.Table {
	features := make([][]float64, len(texts)) // relative to the true count
	missing := make([]float64, len(texts))    // what the table lacks, relative too
	for i := range texts {
		s, truth := texts[i].Text, float64(texts[i].Tokens[family])
		x := make([]float64, 2*groups)
		boundary.Each(s, func(prev, cur, next uint8) {
			g := groupOf(prev, cur, next)
			x[g] += doubtOf(old[boundary.Index(prev, cur, next)]) / truth
			x[groups+g] += alike / truth
		})
		counted, _ := old.Estimate(s, boundary.DigitsInThrees(family)) // as package token does
		features[i], missing[i] = x, 1-counted/truth
	}
	gram := make([][]float64, len(texts))
	for i := range gram {
		gram[i] = make([]float64, len(texts))
		for j := 0; j <= i; j++ {
			gram[i][j] = dot(features[i], features[j])
			gram[j][i] = gram[i][j]
		}
		gram[i][i] += ridge
	}
	by := make([]float64, 2*groups)
	for i, w := range gauss(gram, missing) {
		for k, x := range features[i] {
			by[k] += w * x
		}
	}
	t := *old
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
