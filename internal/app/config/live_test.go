package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/session"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// replace puts a text in a file's place at once, so that nobody finds the file
// empty, however long this program is held up in between.
func replace(t testing.TB, path, text string) {
	t.Helper()
	temp := filepath.Join(t.TempDir(), "new")
	write(t, temp, text)
	must(t, os.Rename(temp, path))
}

func TestLive(t *testing.T) {
	dir := t.TempDir()
	userFile, project := filepath.Join(dir, "winnow.yaml"), filepath.Join(dir, ".winnow.yaml")
	write(t, userFile, "threshold: 0.7\nkeep_recent: 1000\nmodels:\n  small:\n    window: 8000\n  acme/big:\n    keep_recent: 5000\n")
	problems := make(chan error, 10)
	live, err := config.Watch(config.Options{
		Files: []string{userFile, project}, Environ: []string{"WINNOW_SYSTEMS_RESERVE=2000", "WINNOW_CORPUS=x", "HOME=/"},
		Flags: func(f *config.File) { f.Tail = 5 }, Problem: func(err error) { problems <- err },
	})
	must(t, err)
	f := live.Current()
	if f.Threshold != 0.7 || f.KeepRecent != 1000 || f.Reserve != 2000 || f.Tail != 5 {
		t.Errorf("settings %+v", f.Settings)
	}
	if s := f.For("acme", "small"); s.Window != 8000 || s.KeepRecent != 1000 {
		t.Errorf("for small: %+v", s)
	}
	if s := f.For("acme", "big"); s.KeepRecent != 5000 || s.Threshold != 0.7 {
		t.Errorf("for big: %+v", s)
	}
	// The project's file appears and wins; what it does not set stays.
	write(t, project, "keep_recent: 3000\nauto_compact: false\nmodels:\n  small:\n    keep_recent: 77\n")
	if f = live.Current(); f.KeepRecent != 3000 {
		t.Errorf("the project's file: %+v", f.Settings)
	}
	f = live.Current()
	if s := f.For("", "small"); f.Threshold != 0.7 || s.Window != 8000 || s.KeepRecent != 77 || f.AutoCompact == nil || *f.AutoCompact {
		t.Errorf("merged: %+v, for small %+v", f, s)
	}
	// A bad edit changes nothing and is told.
	for _, bad := range []string{"keep_recent: [", "no_such_setting: 1\n", "threshold: 7\n", "hooks:\n  - on: never\n    run: [x]\n", "keep:\n  bytes: many\n", "models:\n  x:\n    target: 0.9\n"} {
		replace(t, project, bad)
		if f := live.Current(); f.KeepRecent != 3000 {
			t.Errorf("%q changed the settings: %+v", bad, f.Settings)
		}
		if len(problems) != 1 {
			t.Fatalf("%q: nothing is told", bad)
		}
		if err := <-problems; err == nil || len(err.Error()) < 20 {
			t.Errorf("%q: told %v", bad, err)
		}
		replace(t, project, "keep_recent: 3000\nauto_compact: false\nmodels:\n  small:\n    keep_recent: 77\n")
		live.Current()
		if err := <-problems; err != nil {
			t.Errorf("after mending: %v", err)
		}
	}
	// Editors write another file and rename it.
	temp := filepath.Join(dir, "x.tmp")
	write(t, temp, "keep_recent: 4000\n")
	must(t, os.Rename(temp, project))
	if f = live.Current(); f.KeepRecent != 4000 {
		t.Errorf("a rename: %+v", f.Settings)
	}
	must(t, os.Remove(project))
	if f = live.Current(); f.KeepRecent != 1000 {
		t.Errorf("a removal: %+v", f.Settings)
	}

	write(t, userFile, "threshold: 7\n")
	if _, err := config.Watch(config.Options{Files: []string{userFile}}); err == nil || !strings.Contains(err.Error(), "threshold") {
		t.Errorf("bad settings at the start: %v", err)
	}
	if _, err := config.Watch(config.Options{Environ: []string{"WINNOW_SYSTEMS_TAIL=many"}}); err == nil || !strings.Contains(err.Error(), "WINNOW_SYSTEMS_TAIL") {
		t.Errorf("a bad variable: %v", err)
	}
}

// FuzzSettings reads arbitrary settings files.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{"", "window: 1", "systems: {stages: [fold]}\nexact: true", "a: &a [*a]", "window: {", "- x", "--- 1\n--- 2", "? [a]\n: b", "hooks: &a [*a]", "models: &a {x: *a}", "keep: {age: 30d}", "hooks:\n  - on: before_call\n    run: [x]\n"} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "f.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		must(t, os.WriteFile(path, data, 0o600))
		if _, err := config.Read(config.Options{Files: []string{path}}); err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("an error of several lines: %q", err)
		}
	})
}

// A project may come from anywhere, so its file deletes no one's sessions unless
// the user trusts it.
func TestProjectKeepsSessions(t *testing.T) {
	dir := t.TempDir()
	mine, project := filepath.Join(dir, "winnow.yaml"), filepath.Join(dir, config.ProjectFile)
	write(t, project, "keep: {sessions: 1, age: 1s, bytes: 1}\n")
	for _, c := range []struct {
		mine string
		want session.Retention
	}{
		{"keep: {sessions: 40}\n", session.Retention{Sessions: 40}},
		{"trust_project: true\n", session.Retention{Sessions: 1, Bytes: 1, Age: time.Second}},
	} {
		write(t, mine, c.mine)
		l, err := config.Read(config.Options{Files: []string{mine, project}})
		must(t, err)
		if got := l.Retention(); got != c.want {
			t.Errorf("%s: %+v is kept, not %+v", strings.TrimSpace(c.mine), got, c.want)
		}
	}
}

// Sessions are kept for ever by default, and where a limit is switched off.
func TestNoRetention(t *testing.T) {
	for _, f := range []config.File{{}, {Keep: session.Retention{Sessions: -1}}} {
		if r := f.Retention(); r != (session.Retention{}) {
			t.Errorf("%+v: %+v is kept", f.Keep, r)
		}
	}
}

// A project's file may have secrets taken out, and not have them left in.
func TestProjectRedacts(t *testing.T) {
	dir := t.TempDir()
	mine, project := filepath.Join(dir, "winnow.yaml"), filepath.Join(dir, config.ProjectFile)
	for _, c := range []struct {
		mine, project string
		want          bool
	}{
		{"redact: true\n", "redact: false\n", true},
		{"redact: false\n", "redact: true\n", true},
		{"target: 0.5\n", "redact: true\n", true},
		{"trust_project: true\nredact: true\n", "redact: false\n", false},
	} {
		write(t, mine, c.mine)
		write(t, project, c.project)
		l, err := config.Read(config.Options{Files: []string{mine, project}})
		must(t, err)
		if l.Redact != c.want {
			t.Errorf("mine %q, the project's %q: redact is %v", c.mine, c.project, l.Redact)
		}
	}
}
