//go:build !windows

package app

import (
	"errors"
	"syscall"
)

// pipeClosed reports whether writing failed because nobody reads any more. A signal
// ends the program then, unless its parent has that signal ignored.
func pipeClosed(err error) bool { return errors.Is(err, syscall.EPIPE) }
