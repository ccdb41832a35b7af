package jsonl

import (
	"errors"

	"golang.org/x/sys/windows"
)

// removesOpen says that a file can be removed while it is open.
const removesOpen = false

// lockedAt is the upper half of the offset of the one byte that is locked. It is
// far behind the end of every file, because nobody can read what is locked here.
const lockedAt = 1 << 30

// tryLock takes a file's lock and returns how to give it back, or nil where
// another process has it.
func tryLock(fd uintptr, alone bool) (func(), error) {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	where := func() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: lockedAt} }
	err := windows.LockFileEx(windows.Handle(fd), how, 0, 1, 0, where())
	switch {
	case err == nil:
		return func() { _ = windows.UnlockFileEx(windows.Handle(fd), 0, 1, 0, where()) }, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return nil, nil
	case errors.Is(err, windows.ERROR_NOT_SUPPORTED), errors.Is(err, windows.ERROR_INVALID_FUNCTION):
		return func() {}, nil // a file system without locks: one process at a time
	}
	return nil, err
}

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// isInvalid is true of every error: folders are not flushed here.
func isInvalid(error) bool { return true }
