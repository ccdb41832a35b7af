//go:build !unix

package cputime

import "time"

var start = time.Now()

// Used returns the clock, where the system does not tell.
func Used() time.Duration { return time.Since(start) }
