package config

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	// the default is a quarter of a second.
	Quiet time.Duration
}

// Live holds settings that follow their files while a program runs. A bad edit
// changes nothing: the last good settings stay in force, and the problem is told.
type Live struct {
	o       Options
	current atomic.Pointer[state]

	reloading sync.Mutex // one reading after the other

	stop context.CancelFunc
	wg   sync.WaitGroup
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
		o.Quiet = 250 * time.Millisecond
	}
	l := &Live{o: o}
	known := l.stampFiles()
	r, err := Read(o)
	if err != nil {
		return nil, err
	}
	l.current.Store(&state{loaded: r, err: r.Mistake})
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.wg.Go(func() { l.followFiles(ctx, known) })
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
	l.stop()
	l.wg.Wait()
	return nil
}

// Reload reads the files now. It returns what is wrong with them.
func (l *Live) Reload() error {
	if len(l.o.Files) == 0 && l.o.Environ == nil && l.o.Flags == nil {
		return nil
	}
	l.reloading.Lock()
	defer l.reloading.Unlock()
	r, err := Read(l.o)
	old := l.current.Load()
	next := &state{loaded: old.loaded, err: err}
	if err == nil {
		next = r.stateAfter(old)
	}
	l.current.Store(next)
	if l.o.Problem != nil && errorText(old.err) != errorText(next.err) {
		l.o.Problem(next.err)
	}
	if next.loaded == r {
		return nil
	}
	return next.err
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

// followFiles reads the files again when they have changed and come to rest. It looks
// at them instead of being told: that also works on network drives, and for folders that
// are not there yet.
func (l *Live) followFiles(ctx context.Context, known string) {
	tick := time.NewTicker(l.o.Quiet)
	defer tick.Stop()
	for last := known; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := l.stampFiles()
			if now == last && now != known {
				known = now
				_ = l.Reload() // listeners hear of a bad edit
			}
			last = now
		}
	}
}

// stampFiles returns a text that is another one after a change of the files.
func (l *Live) stampFiles() string {
	stamp := ""
	for _, path := range l.o.Files {
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
		}
		stamp += "\n"
	}
	return stamp
}
