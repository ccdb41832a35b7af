//go:build unix

package jsonl

import (
	"errors"
	"syscall"
)

// removesOpen says that a file can be removed while it is open.
const removesOpen = true

// tryLock takes a file's lock and returns how to give it back, or nil where
// another process has it.
func tryLock(fd uintptr, alone bool) (func(), error) {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(fd), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = syscall.Flock(int(fd), syscall.LOCK_UN) }, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS):
			return func() {}, nil // a file system without locks: one process at a time
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, nil
		}
		return nil, err
	}
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

func isInvalid(err error) bool { return errors.Is(err, syscall.EINVAL) }
