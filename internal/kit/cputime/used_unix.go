//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used returns how long this process has kept processors busy.
func Used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
