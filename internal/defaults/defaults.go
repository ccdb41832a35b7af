// Package defaults fills in options that nobody set.
package defaults

import "time"

// Set sets a number that is not positive.
func Set[T int | int32 | int64 | time.Duration](v *T, standard T) {
	if *v <= 0 {
		*v = standard
	}
}
