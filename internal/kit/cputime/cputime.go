// Package cputime measures work in tests. A clock on the wall also counts the
// time in which other programs had the processors, so that a test with a bar
// fails where the machine is busy. What the process itself used does not grow
// with that.
package cputime

import "time"

// Of returns how long f takes: by the clock or by what the process used of the
// processors while it ran, whichever is less. Work that is spread over several
// processors is not counted twice, and waiting for one is not counted at all.
func Of(f func()) time.Duration {
	start, used := time.Now(), Used()
	f()
	return min(time.Since(start), Used()-used)
}

// Best returns the least of n measurements, for what takes so little that
// whatever else the process does would show.
func Best(n int, f func()) time.Duration {
	best := Of(f)
	for range n - 1 {
		best = min(best, Of(f))
	}
	return best
}
