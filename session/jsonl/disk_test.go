//go:build unix

package jsonl

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

// openOn opens the session of a file whose appends go through a disk.
func openOn(t *testing.T, path string, disk func(file) file) *session.Session {
	t.Helper()
	log, err := openFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	log.open = func(path string) (file, error) {
		f, err := openAppend(path)
		return disk(f), err
	}
	s, err := session.New(t.Context(), log, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fullDisk takes room bytes and then no more.
type fullDisk struct {
	file
	room int
}

func (f *fullDisk) Write(b []byte) (int, error) {
	if len(b) <= f.room {
		f.room -= len(b)
		return f.file.Write(b)
	}
	n, _ := f.file.Write(b[:f.room])
	f.room = 0
	return n, &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
}

// On a full disk an append fails, the session stays as it was, and goes on when
// there is room again.
func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 1, 50, 100} {
		path := write(t, header+line("a", "", "1")+"\n")
		disk := &fullDisk{room: room}
		s := openOn(t, path, func(f file) file { disk.file = f; return disk })
		_, err := s.Append(t.Context(), chat.TextMessage(chat.User, "two"))
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") {
			t.Errorf("room for %d: %v", room, err)
		}
		if got := texts(t, s); got != "1" || s.Len() != 1 || s.Leaf() != "a" {
			t.Errorf("room for %d: the session has %q", room, got)
		}
		if now, _ := os.ReadFile(path); string(now) != header+line("a", "", "1")+"\n" {
			t.Errorf("room for %d: the file has %q", room, now)
		}
		disk.room = 1 << 20
		if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "three")); err != nil {
			t.Errorf("room for %d: afterwards: %v", room, err)
		}
		if got := texts(t, s); got != "1,three" || len(s.Problems()) > 0 {
			t.Errorf("room for %d: afterwards %q, problems %v", room, got, s.Problems())
		}
		s.Close()
	}
}

// badSync writes and then fails to make it last.
type badSync struct {
	file
	bad bool
}

func (f *badSync) Sync() error {
	if f.bad {
		return syscall.EIO
	}
	return f.file.Sync()
}

// A record that was written but not synced is not acknowledged. It may be there.
func TestFailedSync(t *testing.T) {
	path := write(t, header)
	disk := &badSync{bad: true}
	s := openOn(t, path, func(f file) file { disk.file = f; return disk })
	defer s.Close()
	if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "one")); !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v", err)
	}
	disk.bad = false
	if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "two")); err != nil {
		t.Fatal(err)
	}
	again, err := openSession(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := texts(t, again); got != "two" || len(again.Problems()) > 0 {
		t.Errorf("on the disk: %q, problems %v", got, again.Problems())
	}
}

// A folder or file that may not be written gives a clear error. The system lets
// root write anyway, so root asks a child without rights.
func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	if os.Getenv("WINNOW_READONLY") == "" && os.Geteuid() == 0 {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		exe := filepath.Join(dir, "jsonl.test")
		data, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(exe, data, 0o755); err != nil {
			t.Fatal(err)
		}
		for p := dir; p != "/" && p != os.TempDir(); p = filepath.Dir(p) {
			os.Chmod(p, 0o755)
		}
		home := filepath.Join(dir, "home")
		os.Mkdir(home, 0o777)
		os.Chmod(home, 0o777)
		cmd := exec.Command(exe, "-test.run=^TestReadOnly$")
		cmd.Dir = home
		cmd.Env = []string{"WINNOW_READONLY=1", "TMPDIR=" + home, "HOME=" + home}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil && errors.Is(err, syscall.EPERM) {
			t.Skip("this system lets nobody run as another user")
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	path := filepath.Join(dir, "x.jsonl")
	text := header + line("a", "", "1") + "\n"
	if err := os.WriteFile(path, []byte(text), 0o400); err != nil {
		t.Fatal(err)
	}
	s, err := openSession(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "x")); !errors.Is(err, session.ErrReadOnly) || !strings.Contains(err.Error(), "mode") {
		t.Errorf("appending to a read-only file: %v", err)
	}
	if got := texts(t, s); got != "1" {
		t.Errorf("the session has %q", got)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	store, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(t.Context(), session.Header{ID: "new"}, session.Records()); !errors.Is(err, session.ErrReadOnly) {
		t.Errorf("creating in a read-only folder: %v", err)
	}
	if now, _ := os.ReadFile(path); string(now) != text {
		t.Error("the file was changed")
	}
}

// Who waits for a lock gives up in time, and says for what he waited.
func TestLocked(t *testing.T) {
	path := write(t, header)
	holder, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	unlock, err := lockFile(t.Context(), holder, false, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	log, err := OpenFile(path, &Options{LockTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(t.Context(), log, nil)
	if err != nil {
		t.Fatal(err) // reading is allowed meanwhile
	}
	defer s.Close()
	if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "x")); !errors.Is(err, session.ErrBusy) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("error %v", err)
	}
	unlock()
	if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "y")); err != nil {
		t.Error(err)
	}
	if got := texts(t, s); got != "y" {
		t.Errorf("the session has %q", got)
	}
}

// A file that was deleted under a session is not brought back.
func TestDeletedMeanwhile(t *testing.T) {
	path := write(t, header)
	s, err := openSession(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	os.Remove(path)
	if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "x")); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is back")
	}
}
