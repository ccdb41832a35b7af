// Package text writes things as people read them.
package text

import "strconv"

// Number writes an integer with separators: 258,400.
func Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
