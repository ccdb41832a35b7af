// Package follow tells when a session that an agent is writing has grown.
//
// [Sessions] looks at the file several times a second, which costs next to nothing and
// also works on network drives. After a reading that took long the next one waits in
// proportion, which bounds the work on a session that grows.
package follow

import (
	"context"
	"os"
	"time"
)

const (
	// glance is how often the file is looked at, search how often the newest session is
	// looked for.
	glance = 200 * time.Millisecond
	search = 5 * time.Second

	// share is how many times as long as the last reading took is waited before
	// the next, so that a large session does not keep a processor busy.
	share = 4
)

// Sessions calls read with the path that find returns: at once, after each change
// of the file, and when find returns another path. It ends with the context, then
// without an error, or with the first error of find or read.
func Sessions(ctx context.Context, find func(context.Context) (string, error), read func(path string) error) error {
	f := follower{find: find, read: read}
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		err := f.look(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the end was asked for
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

type follower struct {
	find func(context.Context) (string, error)
	read func(string) error

	path     string
	searched time.Time // when it was found
	seen     string    // the path that was read last, as it was then
	size     int64
	changed  time.Time
	next     time.Time // not read before
}

// look finds the session where it is time to, and reads it where it is another one or
// has changed.
func (f *follower) look(ctx context.Context) error {
	anew := time.Since(f.searched) >= search
	if anew {
		path, err := f.find(ctx)
		if err != nil {
			return err
		}
		f.path, f.searched = path, time.Now()
	}
	info, err := os.Stat(f.path)
	if err != nil && anew {
		return err
	}
	if err != nil { // it went away since it was found
		f.searched = time.Time{}
		return nil //nolint:nilerr // it is looked for anew
	}
	began := time.Now()
	if f.path == f.seen && info.Size() == f.size && info.ModTime().Equal(f.changed) || began.Before(f.next) {
		return nil
	}
	f.seen, f.size, f.changed = f.path, info.Size(), info.ModTime()
	err = f.read(f.path)
	f.next = time.Now().Add(share * time.Since(began))
	return err
}
