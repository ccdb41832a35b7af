package pgtest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// SmallDisk gives a server a tablespace named small, on a disk of its own of
// such a size, such as 2m. Grow makes it larger. The test skips where nothing can
// be mounted.
func (s *Server) SmallDisk(t *testing.T, size string) (grow func(size string) error) {
	t.Helper()
	dir := filepath.Join(s.dir, "small")
	must(t, os.Mkdir(dir, 0o700))
	mount := func(flags uintptr, size string) error {
		return syscall.Mount("tmpfs", dir, "tmpfs", flags, "mode=0755,size="+size)
	}
	if err := mount(0, size); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	inner := filepath.Join(dir, "space")
	must(t, os.Mkdir(inner, 0o700))
	must(t, s.giveToUser(inner))
	s.Exec(t, s.Admin(), "create tablespace small location '"+inner+"'")
	return func(size string) error { return mount(syscall.MS_REMOUNT, size) }
}
