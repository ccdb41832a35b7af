//go:build unix

package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// tighten is [Tighten] for one file and a user. A file of another user's is his
// to tighten, even where we could.
func tighten(path string, user int) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return nil //nolint:nilerr // what is not there is not open to others
	}
	owner := user
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = int(s.Uid)
	}
	why := fmt.Sprintf("it belongs to user %d", owner)
	if owner == user {
		err := os.Chmod(path, info.Mode().Perm()&0o700)
		if err == nil {
			return nil
		}
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		why = err.Error()
	}
	return fmt.Errorf("%s can be used by others too (mode %04o), and that cannot be changed: %s; run chmod 600 on it as its owner, or move it", path, info.Mode().Perm(), why)
}
