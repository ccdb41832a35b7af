//go:build !unix

package jsonl

import (
	"context"
	"time"
)

// lock does nothing on systems without flock: there one process at a time may
// write to a session.
func lock(context.Context, interface{ Fd() uintptr }, bool, time.Duration) (func(), error) {
	return func() {}, nil
}

func isFull(error) bool     { return false }
func isReadOnly(error) bool { return false }
func isInvalid(error) bool  { return true }
