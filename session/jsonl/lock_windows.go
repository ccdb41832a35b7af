package jsonl

import (
	"errors"
	"syscall"
	"unsafe"
)

// removesOpen says that a file can be removed while it is open.
const removesOpen = false

// lockedAt is the upper half of the offset of the one byte that is locked. It is
// far behind the end of every file, because nobody can read what is locked here.
const lockedAt = 1 << 30

// The two functions of Windows, with their flags and errors, by which a file is
// locked: package syscall does not have them, and a module for them alone would be
// one that every program with winnow requires.
var (
	kernel       = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx   = kernel.NewProc("LockFileEx")
	unlockFileEx = kernel.NewProc("UnlockFileEx")
)

const (
	failImmediately = 1
	exclusiveLock   = 2

	errInvalidFunction = syscall.Errno(1)
	errWriteProtect    = syscall.Errno(19)
	errLockViolation   = syscall.Errno(33)
	errHandleDiskFull  = syscall.Errno(39)
	errNotSupported    = syscall.Errno(50)
	errDiskFull        = syscall.Errno(112)
)

// tryLock takes a file's lock and returns how to give it back, or nil where
// another process has it.
func tryLock(fd uintptr, alone bool) (func(), error) {
	how := uintptr(failImmediately)
	if alone {
		how |= exclusiveLock
	}
	done, _, err := lockFileEx.Call(fd, how, 0, 1, 0, uintptr(unsafe.Pointer(&syscall.Overlapped{OffsetHigh: lockedAt})))
	switch {
	case done != 0:
		return func() {
			_, _, _ = unlockFileEx.Call(fd, 0, 1, 0, uintptr(unsafe.Pointer(&syscall.Overlapped{OffsetHigh: lockedAt})))
		}, nil
	case errors.Is(err, errLockViolation), errors.Is(err, syscall.ERROR_IO_PENDING):
		return nil, nil
	case errors.Is(err, errNotSupported), errors.Is(err, errInvalidFunction):
		return func() {}, nil // a file system without locks: one process at a time
	}
	return nil, err
}

func isDiskFull(err error) bool {
	return errors.Is(err, errDiskFull) || errors.Is(err, errHandleDiskFull)
}

func isReadOnly(err error) bool { return errors.Is(err, errWriteProtect) }

// isInvalid is true of every error: folders are not flushed here.
func isInvalid(error) bool { return true }
