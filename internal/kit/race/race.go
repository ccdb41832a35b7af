// Package race tells tests whether the race detector slows them down and takes
// memory of its own.
package race

import "testing"

// Skip skips a test in which nothing runs beside anything else: the race detector
// finds nothing there, and makes it ten times as slow.
func Skip(t testing.TB) {
	t.Helper()
	if Enabled {
		t.Skip("nothing in it runs beside anything else; the race detector leaves it out")
	}
}

// Fewer returns a fifth of the cases under the race detector, and all of them without.
func Fewer(cases int) int {
	if Enabled {
		return max(1, cases/5)
	}
	return cases
}
