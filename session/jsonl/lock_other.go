//go:build !unix && !windows

package jsonl

// removesOpen says that a file can be removed while it is open.
const removesOpen = false

// tryLock does nothing on systems without locks: there one process at a time may
// write to a session.
func tryLock(uintptr, bool) (func(), error) { return func() {}, nil }

func isDiskFull(error) bool { return false }
func isReadOnly(error) bool { return false }
func isInvalid(error) bool  { return true }
