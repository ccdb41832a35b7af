package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/winnow-llm/winnow/session"
)

// Options say where settings come from. Later ones win.
type Options struct {
	// Files are settings files, the user's before the project's. A file that is
	// not there counts as empty, and is read when it appears.
	Files []string

	// Required says that a file which is not there is an error instead.
	Required bool

	// Environ holds variables, [VariablePrefix] and a setting's name in
	// capitals, a point as _; nil takes none.
	Environ []string

	// Trust knows the projects' files that may set everything; nil knows none.
	Trust *Trust

	// Flags, where it is set, has the last word.
	Flags func(*File)

	// Problem is told when an edit makes no sense, and with nil when the files
	// are good again.
	Problem func(error)

	// Quiet is how long files must rest after a change before they are read;
	// the default is 50 milliseconds.
	Quiet time.Duration
}

// Live holds settings that follow their files while a program runs. A bad edit
// changes nothing: the last good settings stay in force, and the problem is told.
type Live struct {
	o       Options
	current atomic.Pointer[state]

	watcher *fsnotify.Watcher
	wg      sync.WaitGroup
}

// state is the settings in force, and what is wrong with the files as they are now.
type state struct {
	loaded *Loaded
	err    error
}

// Watch reads the settings and follows them until Close. It fails when they
// make no sense at the start; a project's file that makes none, and that nobody
// trusts, is left out until it does.
func Watch(o Options) (*Live, error) {
	if o.Quiet <= 0 {
		o.Quiet = 50 * time.Millisecond
	}
	l := &Live{o: o}
	r, err := Read(o)
	if err != nil {
		return nil, err
	}
	l.current.Store(&state{loaded: r, err: r.Mistake})
	if len(o.Files) == 0 {
		return l, nil
	}
	if l.watcher, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("config: settings cannot be watched: %w", err)
	}
	// Editors replace files, so it is their folders that are watched.
	for _, path := range o.Files {
		if err := l.watcher.Add(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.watcher.Close()
			return nil, fmt.Errorf("config: settings in %s cannot be watched: %w", filepath.Dir(path), err)
		}
	}
	l.wg.Go(l.followFiles)
	// Files may have changed between reading and watching; listeners hear of a bad
	// edit.
	_ = l.Reload()
	return l, nil
}

// Current returns the settings in force.
func (l *Live) Current() File { return l.current.Load().loaded.File }

// FromUntrusted reports whether a setting in force comes from a project's file that
// nobody trusts.
func (l *Live) FromUntrusted(key string) bool {
	r := l.current.Load().loaded
	return r.Project != "" && !r.Trusted && strings.HasPrefix(r.From[key], r.Project+":")
}

// Session returns what a session under the model needs now, for
// [session.Options].Live.
func (l *Live) Session(provider, model string) session.Live {
	return l.current.Load().loaded.Session(provider, model)
}

// Close stops following. The last settings stay in force.
func (l *Live) Close() error {
	if l.watcher == nil {
		return nil
	}
	defer l.wg.Wait()
	return l.watcher.Close()
}

// Reload reads the files now. It returns what is wrong with them.
func (l *Live) Reload() error {
	if len(l.o.Files) == 0 && l.o.Environ == nil && l.o.Flags == nil {
		return nil
	}
	r, err := Read(l.o)
	for {
		old := l.current.Load()
		next := &state{loaded: old.loaded, err: err}
		if err == nil {
			next = r.stateAfter(old)
		}
		if !l.current.CompareAndSwap(old, next) {
			continue
		}
		if l.o.Problem != nil && errorText(old.err) != errorText(next.err) {
			l.o.Problem(next.err)
		}
		if next.loaded == r {
			return nil
		}
		return next.err
	}
}

// stateAfter returns the state when files that could be read follow an earlier state. An
// edit of the project's file that makes no sense, or that loses the trust which it
// had, is like any bad edit: the settings in force stay. A file that did not count
// before leaves nothing to keep.
func (r *Loaded) stateAfter(old *state) *state {
	switch {
	case r.Mistake != nil && old.loaded.Mistake == nil:
		return &state{loaded: old.loaded, err: r.Mistake}
	case r.Changed && old.loaded.Trusted:
		return &state{loaded: old.loaded, err: &SettingError{File: r.Project, Message: "it has changed since you trusted it; read it, then run winnow config trust"}}
	}
	return &state{loaded: r, err: r.Mistake}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (l *Live) followFiles() {
	names := make(map[string]bool)
	for _, p := range l.o.Files {
		names[filepath.Clean(p)] = true
	}
	rest := time.NewTimer(time.Hour)
	rest.Stop()
	defer rest.Stop()
	for {
		select {
		case ev, ok := <-l.watcher.Events:
			if !ok {
				return
			}
			if names[filepath.Clean(ev.Name)] {
				rest.Reset(l.o.Quiet)
			}
		case err, ok := <-l.watcher.Errors:
			if !ok {
				return
			}
			if l.o.Problem != nil {
				l.o.Problem(fmt.Errorf("config: settings: %w", err))
			}
			rest.Reset(l.o.Quiet)
		case <-rest.C:
			_ = l.Reload()
		}
	}
}
