//go:build unix

package config

import (
	"fmt"
	"os"
	"syscall"
)

// notOurs says why the project's file is not read: it, or the link that leads to
// it, belongs to somebody else. The superuser's files are read: root can change ours
// anyway. It returns "" for a file that may be read or is not there.
func notOurs(path string, user int) string {
	for _, look := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
		info, err := look(path)
		if err != nil {
			return ""
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != user && s.Uid != 0 {
			return fmt.Sprintf("it belongs to another user (%d), so it is not read; take ownership of it, or name it with --config", s.Uid)
		}
	}
	return ""
}
