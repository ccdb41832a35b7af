//go:build unix

package app

import (
	"os"
	"path/filepath"
	"syscall"
)

// rootOwns reports whether a folder and all above it belong to root, and nobody
// else may write to them.
func rootOwns(dir string) bool {
	for {
		info, err := os.Lstat(dir)
		if err != nil {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || stat.Uid != 0 || info.Mode().Perm()&0o022 != 0 || !info.IsDir() {
			return false
		}
		above := filepath.Dir(dir)
		if above == dir {
			return true
		}
		dir = above
	}
}
