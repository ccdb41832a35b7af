package config

import (
	"fmt"
	"os"
	"strings"
	"sync"

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
}

// Live holds settings that follow their files while a program runs: they are read again
// when somebody asks for them after the files changed. A bad edit changes nothing: the
// last good settings stay in force, and the problem is told.
type Live struct {
	o Options

	mu     sync.Mutex
	stamp  string // of the files when they were read
	loaded *Loaded
	err    error // what is wrong with the files as they are now
}

// Watch reads the settings and follows them. It fails when they make no sense at the
// start; a project's file that makes none, and that nobody trusts, is left out until it
// does.
func Watch(o Options) (*Live, error) {
	l := &Live{o: o, stamp: stampFiles(o.Files)}
	r, err := Read(o)
	if err != nil {
		return nil, err
	}
	l.loaded, l.err = r, r.Mistake
	return l, nil
}

// inForce returns the settings in force, after a look at the files. That also works on
// network drives, and for folders that are not there yet.
func (l *Live) inForce() *Loaded {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stampFiles(l.o.Files) != l.stamp {
		_ = l.reload() // it is told
	}
	return l.loaded
}

// Current returns the settings in force.
func (l *Live) Current() File { return l.inForce().File }

// FromUntrusted reports whether a setting in force comes from a project's file that
// nobody trusts.
func (l *Live) FromUntrusted(key string) bool {
	r := l.inForce()
	return r.Project != "" && !r.Trusted && strings.HasPrefix(r.From[key], r.Project+":")
}

// Session returns what a session under the model needs now, for
// [session.Options].Live.
func (l *Live) Session(provider, model string) session.Live {
	return l.inForce().Session(provider, model)
}

// Reload reads the files now. It returns what is wrong with them.
func (l *Live) Reload() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reload()
}

func (l *Live) reload() error {
	l.stamp = stampFiles(l.o.Files)
	r, err := Read(l.o)
	before, next := l.err, l.loaded
	if l.err = err; err == nil {
		next, l.err = r.after(l.loaded)
	}
	l.loaded = next
	if l.o.Problem != nil && fmt.Sprint(before) != fmt.Sprint(l.err) {
		l.o.Problem(l.err)
	}
	if next == r {
		return nil
	}
	return l.err
}

// after returns the settings in force when files that could be read follow earlier ones,
// and what is wrong with them. An edit of the project's file that makes no sense, or that
// loses the trust which it had, is like any bad edit: the settings in force stay. A file
// that did not count before leaves nothing to keep.
func (r *Loaded) after(old *Loaded) (*Loaded, error) {
	switch {
	case r.Mistake != nil && old.Mistake == nil:
		return old, r.Mistake
	case r.Changed && old.Trusted:
		return old, &SettingError{File: r.Project, Message: "it has changed since you trusted it; read it, then run winnow config trust"}
	}
	return r, r.Mistake
}

// stampFiles returns a text that is another one after a change of the files.
func stampFiles(paths []string) string {
	stamp := ""
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
		}
		stamp += "\n"
	}
	return stamp
}
