//go:build !unix

package sessiontest

import "time"

var start = time.Now()

// processorTime is the clock, where the system does not tell.
func processorTime() time.Duration { return time.Since(start) }
