//go:build !windows

package app

import (
	"errors"
	"syscall"
)

// pipeClosed reports whether writing failed because nobody reads any more. A signal
// ends the program then, unless whoever started it ignores that one.
func pipeClosed(err error) bool { return errors.Is(err, syscall.EPIPE) }
