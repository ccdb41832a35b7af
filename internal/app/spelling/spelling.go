// Package spelling finds the word that somebody probably meant.
package spelling

import "strings"

// Distance returns how many letters must change to make b of a.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Nearest returns the name that was probably meant, or "".
func Nearest(name string, names []string) string {
	best, least := "", 1+max(1, min(len(name)/2, 3))
	for _, n := range names {
		d := Distance(strings.ToLower(name), n)
		if len(name) > 2 && strings.HasPrefix(n, strings.ToLower(name)) {
			d = min(d, 1) // the beginning of a name is as good as one slip
		}
		if d < least {
			best, least = n, d
		}
	}
	return best
}

// Meant says which of the names was meant, or which there are.
func Meant(name string, names []string) string {
	if best := Nearest(name, names); best != "" {
		return "did you mean " + best + "?"
	}
	return "there are " + strings.Join(names, ", ")
}
