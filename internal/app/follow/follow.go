// Package follow tells when a session that an agent is writing has grown.
//
// [Sessions] waits for the file system to report a change, so a session at rest
// costs nothing. Two things bound the work on a session that grows: changes that
// come close together count as one, and after a reading that took long the next
// one waits in proportion.
package follow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long a file must be at rest before it is read: agents write a
	// record in several pieces.
	settle = 150 * time.Millisecond

	// look is how often the newest session is looked for, and how late a change is
	// noticed where the file system reports none, as on network drives.
	look = 5 * time.Second

	// share is how many times as long as the last reading took is waited before
	// the next, so that a large session does not keep a processor busy.
	share = 4
)

// Sessions calls read with the path that find returns: at once, after each change
// of the file, and when find returns another path. It ends with the context, then
// without an error, or with the first error of find or read.
func Sessions(ctx context.Context, find func(context.Context) (string, error), read func(path string) error) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	f := follower{watcher: w, find: find, read: read}
	if err := f.look(ctx); err != nil {
		return ended(ctx, err)
	}
	timer := time.NewTimer(look)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Events:
			if !ok {
				return errors.New("the file system stopped reporting changes")
			}
			if filepath.Clean(e.Name) == f.path && !f.due {
				f.due = true
				timer.Reset(max(settle, time.Until(f.next)))
			}
		case <-w.Errors: // a queue that ran over: the timer looks again anyway
		case <-timer.C:
			f.due = false
			if err := f.look(ctx); err != nil {
				return ended(ctx, err)
			}
			timer.Reset(look)
		}
	}
}

// ended hides the error of work that the context's end broke off.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the end was asked for
	}
	return err
}

type follower struct {
	watcher *fsnotify.Watcher
	find    func(context.Context) (string, error)
	read    func(string) error

	path, dir string
	size      int64
	changed   time.Time
	due       bool      // a change was reported and not read yet
	next      time.Time // not read before
}

// look finds the session and reads it where it is another one or has changed.
func (f *follower) look(ctx context.Context) error {
	path, err := f.find(ctx)
	if err != nil {
		return err
	}
	path = filepath.Clean(path)
	if dir := filepath.Dir(path); dir != f.dir {
		if f.dir != "" {
			_ = f.watcher.Remove(f.dir) // it may be gone
		}
		if err := f.watcher.Add(dir); err != nil {
			return err
		}
		f.dir = dir
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if path == f.path && info.Size() == f.size && info.ModTime().Equal(f.changed) {
		return nil
	}
	f.path, f.size, f.changed = path, info.Size(), info.ModTime()
	began := time.Now()
	err = f.read(path)
	f.next = time.Now().Add(share * time.Since(began))
	return err
}
