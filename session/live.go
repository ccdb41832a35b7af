package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/winnow-llm/winnow"
	"go.yaml.in/yaml/v3"
)

// File is what a settings file may hold: the engine's settings, and the
// session's own. Two files, the user's and the project's, are merged key by key.
type File struct {
	winnow.Settings `yaml:",inline"`

	// ModelsFile is a JSON file that overrides facts of the model registry.
	ModelsFile string `json:"models_file,omitempty" yaml:"models_file,omitempty"`

	// AutoCompact switches compaction before calls and after turns; the default
	// is on.
	AutoCompact *bool `json:"auto_compact,omitempty" yaml:"auto_compact,omitempty"`

	// Models are settings for single models, by "provider/model" or "model".
	// What one sets goes before the rest of the file.
	Models map[string]winnow.Settings `json:"models,omitempty" yaml:"models,omitempty"`

	// Hooks are commands that are run at events.
	Hooks []Command `json:"hooks,omitempty" yaml:"hooks,omitempty"`

	// Keep says how long sessions are kept.
	Keep Retention `json:"keep,omitempty" yaml:"keep,omitempty"`

	// Redact takes secrets out of messages before they are written.
	Redact bool `json:"redact,omitempty" yaml:"redact,omitempty"`
}

// For returns the settings for a model: those of the file, with the ones for
// this model on top.
func (f *File) For(provider, model string) winnow.Settings {
	set := f.Settings
	for _, key := range []string{model, provider + "/" + model} {
		if over, ok := f.Models[key]; ok {
			overlay(&set, over)
		}
	}
	return set
}

// overlay puts what is not zero in over in place of what is in set.
func overlay(set *winnow.Settings, over winnow.Settings) {
	from, to := reflect.ValueOf(over), reflect.ValueOf(set).Elem()
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// validate checks everything that can be wrong.
func (f *File) validate() error {
	if err := f.Settings.Validate(); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(f.Models)) {
		set := f.Settings
		overlay(&set, f.Models[key])
		if err := set.Validate(); err != nil {
			return fmt.Errorf("for model %s: %w", key, err)
		}
	}
	for i := range f.Hooks {
		if err := f.Hooks[i].validate(); err != nil {
			return err
		}
	}
	return f.Keep.validate()
}

// LiveOptions say where settings come from. Later ones win.
type LiveOptions struct {
	// Files are settings files, the user's before the project's. A file that is
	// not there counts as empty, and is read when it appears.
	Files []string

	// Environ holds variables, WINNOW_ and a setting's name in capitals; nil
	// takes none.
	Environ []string

	// Flags, where it is set, has the last word.
	Flags func(*File)

	// Problem is told when an edit makes no sense, and with nil when the files
	// are good again.
	Problem func(error)

	// Quiet is how long files must rest after a change before they are read;
	// the default is 50 milliseconds.
	Quiet time.Duration
}

// Live is settings that follow their files while a program runs. A bad edit
// changes nothing: the last good settings stay in force, and the problem is told.
type Live struct {
	o       LiveOptions
	current atomic.Pointer[state]

	watcher *fsnotify.Watcher
	done    chan struct{}
	wg      sync.WaitGroup
	close   sync.Once
}

type state struct {
	file    File
	version int
	err     error
}

// Watch reads the settings and follows them until Close. It fails when they
// make no sense at the start.
func Watch(o LiveOptions) (*Live, error) {
	if o.Quiet <= 0 {
		o.Quiet = 50 * time.Millisecond
	}
	l := &Live{o: o, done: make(chan struct{})}
	f, err := l.read()
	if err != nil {
		return nil, err
	}
	l.current.Store(&state{file: f, version: 1})
	if len(o.Files) == 0 {
		return l, nil
	}
	if l.watcher, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("session: settings cannot be watched: %w", err)
	}
	// Editors replace files, so it is their folders that are watched.
	for _, path := range o.Files {
		if err := l.watcher.Add(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.watcher.Close()
			return nil, fmt.Errorf("session: settings in %s cannot be watched: %w", filepath.Dir(path), err)
		}
	}
	l.wg.Go(l.follow)
	// What changed between reading and watching; a bad edit is told to whoever listens.
	_ = l.Reload()
	return l, nil
}

// Current returns the settings in force and a number that changes with them.
func (l *Live) Current() (File, int) {
	s := l.current.Load()
	return s.file, s.version
}

// Err returns what is wrong with the files as they are now; nil when the
// settings in force are theirs.
func (l *Live) Err() error { return l.current.Load().err }

// Close stops following. The last settings stay in force.
func (l *Live) Close() error {
	var err error
	l.close.Do(func() {
		close(l.done)
		if l.watcher != nil {
			err = l.watcher.Close()
		}
		l.wg.Wait()
	})
	return err
}

// Reload reads the files now. It returns what is wrong with them.
func (l *Live) Reload() error {
	f, err := l.read()
	for {
		old := l.current.Load()
		next := &state{file: old.file, version: old.version, err: err}
		if err == nil && !reflect.DeepEqual(f, old.file) {
			next.file, next.version = f, old.version+1
		}
		if !l.current.CompareAndSwap(old, next) {
			continue
		}
		if l.o.Problem != nil && text1(old.err) != text1(err) {
			l.o.Problem(err)
		}
		return err
	}
}

func text1(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (l *Live) follow() {
	names := make(map[string]bool)
	for _, p := range l.o.Files {
		names[filepath.Clean(p)] = true
	}
	rest := time.NewTimer(time.Hour)
	rest.Stop()
	for {
		select {
		case <-l.done:
			rest.Stop()
			return
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
				l.o.Problem(fmt.Errorf("session: settings: %w", err))
			}
			rest.Reset(l.o.Quiet)
		case <-rest.C:
			_ = l.Reload()
		}
	}
}

func (l *Live) read() (File, error) {
	var f File
	for _, path := range l.o.Files {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return f, fmt.Errorf("session: settings: %w; check the path and its mode", err)
		}
		if err := f.merge(data); err != nil {
			return f, fmt.Errorf("session: settings in %s: %w", path, err)
		}
	}
	if err := f.environ(l.o.Environ); err != nil {
		return f, err
	}
	if l.o.Flags != nil {
		l.o.Flags(&f)
	}
	if err := f.validate(); err != nil {
		return f, fmt.Errorf("session: settings: %w", err)
	}
	return f, nil
}

// merge puts a file's keys over those that are there. Models are merged one by
// one; lists are replaced.
func (f *File) merge(data []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	models := f.Models
	f.Models = nil
	hooks := f.Hooks
	f.Hooks = nil
	err := dec.Decode(f)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err != nil {
		return errors.New(strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	if f.Hooks == nil {
		f.Hooks = hooks
	}
	for key, set := range models {
		if over, ok := f.Models[key]; ok {
			overlay(&set, over)
		}
		if f.Models == nil {
			f.Models = make(map[string]winnow.Settings)
		}
		f.Models[key] = set
	}
	return nil
}

// environ takes settings from variables. Variables that are no settings are
// left to others.
func (f *File) environ(environ []string) error {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		key, ok := strings.CutPrefix(name, "WINNOW_")
		if !ok || value == "" {
			continue
		}
		field, ok := settingField(f, strings.ToLower(key))
		if !ok {
			continue
		}
		if err := setField(field, value); err != nil {
			return fmt.Errorf("session: variable %s: %q is no value for this setting", name, value)
		}
	}
	return nil
}

func settingField(f *File, key string) (reflect.Value, bool) {
	v := reflect.ValueOf(f).Elem()
	for _, t := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(t.Tag.Get("yaml"), ","); name == key && name != "" {
			return v.FieldByIndex(t.Index), true
		}
	}
	return reflect.Value{}, false
}

func setField(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(text)
		v.SetInt(int64(n))
		return err
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		v.SetFloat(x)
		return err
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		v.SetBool(b)
		return err
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		b, err := strconv.ParseBool(text)
		v.Set(reflect.ValueOf(&b))
		return err
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.String {
			return errors.ErrUnsupported
		}
		var list []string
		for w := range strings.SplitSeq(text, ",") {
			if w = strings.TrimSpace(w); w != "" {
				list = append(list, w)
			}
		}
		v.Set(reflect.ValueOf(list))
	default:
		return errors.ErrUnsupported
	}
	return nil
}
