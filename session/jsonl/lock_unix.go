//go:build unix

package jsonl

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/winnow-llm/winnow/session"
)

// lock takes the lock of a file, shared or for itself alone, and returns how to
// give it back. The system gives it back by itself when the process dies.
func lock(ctx context.Context, f interface{ Fd() uintptr }, alone bool, limit time.Duration) (func(), error) {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	fd := int(f.Fd())
	pause := 100 * time.Microsecond
	start := time.Now()
	for {
		err := syscall.Flock(fd, how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = syscall.Flock(fd, syscall.LOCK_UN) }, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS):
			return func() {}, nil // a file system without locks: one process at a time
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, err
		}
		if waited := time.Since(start); waited > limit {
			return nil, fmt.Errorf("another process has been writing for %v: %w", waited.Round(time.Millisecond), session.ErrBusy)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w while another process was writing: %w", ctx.Err(), session.ErrBusy)
		case <-time.After(pause):
		}
		pause = min(2*pause, 5*time.Millisecond)
	}
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

func isInvalid(err error) bool { return errors.Is(err, syscall.EINVAL) }
