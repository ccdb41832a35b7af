package gateway_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// TestReadyOnFullDisk fills a real disk under the store: the gateway is not
// ready as long as it is full, and ready again once it is not.
func TestReadyOnFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("no file system can be mounted, so no disk can be filled: %v", err)
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	var c clock
	store, err := sqlite.Open(filepath.Join(dir, "plans.db"), transport.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // the disk goes with it
	_, url := start(t, gateway.Options{Upstreams: everywhere("http://127.0.0.1:1"), Transport: transport.Options{Store: store, Now: c.now}})
	ask := func(want int, text string) {
		t.Helper()
		c.add(2 * time.Second)
		if status, got := get(t, url+"/readyz"); status != want || !strings.Contains(got, text) {
			t.Errorf("%d %s, want %d %q", status, got, want, text)
		}
	}
	ask(200, "ready")
	filler := filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	ask(503, "plans cannot be stored: the disk is full")
	ask(503, "full")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	ask(200, "ready")
}
