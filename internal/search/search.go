// Package search ranks texts by the words of a query: one search for all that looks
// into what is hidden.
//
// A word weighs the more the fewer texts have it, as ln(1 + texts / (1 + texts with
// it)), and twice that where it looks like a name: with a dot, a slash, an underscore or
// a digit. A text scores what its words weigh together. Looking for "retry.go backoff of
// the client" in a thousand texts, of which 3 have retry.go, 5 backoff and 400 client, a
// text with retry.go and client scores 2 * 5.5 + 1.3, one with backoff and client
// 5.1 + 1.3. The line that has most of it is where a reader begins.
package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// maxWords is how many words of a query count: it may be a paragraph.
const maxWords = 48

// Words returns the words of a query to look for: in lower case, each once, without
// the punctuation around them, and without words of one or two letters unless there
// are only such.
func Words(query string) []string {
	var all, short []string
	fields := strings.Fields(strings.ToLower(query))
	for _, w := range fields { // a file may stand there under another path
		if at := strings.LastIndexAny(w, `/\`); at >= 0 {
			fields = append(fields, w[at+1:])
		}
	}
	for _, w := range fields {
		w = strings.Trim(w, ".,:;!?()[]{}<>\"'`*")
		switch {
		case w == "" || slices.Contains(all, w) || len(all) == maxWords:
		case len(w) < 3:
			short = append(short, w)
		default:
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return short
	}
	return all
}

// Found is a text that has words of a query.
type Found struct {
	Text  int // its place in the list
	Line  int // the line that has most, from 0
	Words int // how many of the words it has
	Score float64
}

// Rank returns the texts that have words, best first, and of equal ones the last of the
// list. It leaves out those that score less than half of the best, and returns at
// most that number.
func Rank(words, texts []string, most int) []Found {
	lower := make([]string, len(texts))
	has := make([][]bool, len(texts))
	weight := make([]float64, len(words))
	for i, t := range texts {
		lower[i] = strings.ToLower(t)
		has[i] = make([]bool, len(words))
		for k, w := range words {
			if strings.Contains(lower[i], w) {
				has[i][k] = true
				weight[k]++
			}
		}
	}
	for k, n := range weight {
		weight[k] = math.Log(1 + float64(len(texts))/(1+n))
		if strings.ContainsAny(words[k], "._/0123456789") {
			weight[k] *= 2
		}
	}
	var all []Found
	best := 0.0
	for i := range texts {
		f := Found{Text: i}
		for k := range words {
			if has[i][k] {
				f.Words++
				f.Score += weight[k]
			}
		}
		if f.Words > 0 {
			best = max(best, f.Score)
			all = append(all, f)
		}
	}
	all = slices.DeleteFunc(all, func(f Found) bool { return 2*f.Score < best })
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Or(cmp.Compare(b.Score, a.Score), b.Text-a.Text) })
	all = all[:min(len(all), most)]
	for i := range all {
		all[i].Line = bestLine(lower[all[i].Text], words, weight, has[all[i].Text])
	}
	return all
}

// bestLine returns the line of a text whose words weigh most.
func bestLine(text string, words []string, weight []float64, has []bool) int {
	at, n, most := 0, 0, 0.0
	for line := range strings.SplitSeq(text, "\n") {
		sum := 0.0
		for k, w := range words {
			if has[k] && strings.Contains(line, w) {
				sum += weight[k]
			}
		}
		if sum > most {
			at, most = n, sum
		}
		n++
	}
	return at
}
