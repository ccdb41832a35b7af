package app

import (
	"errors"
	"syscall"
)

// pipeClosed reports whether writing failed because nobody reads any more, as behind
// "| more" that was left. Elsewhere a signal ends the program then.
func pipeClosed(err error) bool {
	const (
		noData       syscall.Errno = 232
		notConnected syscall.Errno = 233
	)
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, noData) || errors.Is(err, notConnected)
}
