//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package console

import "golang.org/x/sys/unix"

// typedAhead returns how many bytes wait to be read. Just after the terminal
// was taken over these are what was typed before, when it still turned Enter
// into the end of a line.
func typedAhead(fd uintptr) int {
	n, err := unix.IoctlGetInt(int(fd), howMany)
	if err != nil {
		return 0
	}
	return n
}
