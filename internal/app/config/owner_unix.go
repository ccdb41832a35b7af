//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// ownerOf returns the number of the user to whom a file belongs.
func ownerOf(info fs.FileInfo) (int, bool) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), true
	}
	return 0, false
}

// openAtOnce opens a file for reading and does not wait for the other end of a
// pipe.
func openAtOnce(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
