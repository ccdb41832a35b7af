package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/config"
)

// A project's file that nobody trusts and that makes no sense is left out from the
// start, and counts once it does; flags keep the last word meanwhile.
func TestLiveMistakeAtStart(t *testing.T) {
	dir := t.TempDir()
	own, project := filepath.Join(dir, "winnow.yaml"), filepath.Join(dir, config.ProjectFile)
	write(t, own, "window: 5000\n")
	write(t, project, "window: 9000\nno_such_setting: 1\n")
	told, tail := []string{}, 5
	live, err := config.Watch(config.Options{
		Files: []string{own, project}, Flags: func(f *config.File) { f.Tail = tail },
		Problem: func(err error) {
			if err == nil {
				told = append(told, "good")
				return
			}
			told = append(told, err.Error())
		},
	})
	must(t, err)
	if f := live.Current(); f.Window != 5000 || f.Tail != 5 {
		t.Errorf("window %d, tail %d", f.Window, f.Tail)
	}
	tail = 6
	must(t, live.Reload())
	if f := live.Current(); f.Window != 5000 || f.Tail != 6 || len(told) != 0 {
		t.Errorf("window %d, tail %d; told %q", f.Window, f.Tail, told)
	}
	write(t, project, "window: 9000\n")
	must(t, live.Reload())
	if f := live.Current(); f.Window != 9000 || strings.Join(told, "|") != "good" {
		t.Errorf("window %d; told %q", f.Window, told)
	}
	// From now on a bad edit changes nothing.
	write(t, project, "window: many\n")
	if err := live.Reload(); err == nil || live.Current().Window != 9000 || len(told) != 2 || !strings.Contains(told[1], "many is not a whole number") {
		t.Errorf("%v, window %d; told %q", err, live.Current().Window, told)
	}
}

// A project's file that changes after it was trusted changes nothing until it is
// trusted again.
func TestLiveChangedAfterTrust(t *testing.T) {
	dir := t.TempDir()
	project, trust := filepath.Join(dir, config.ProjectFile), &config.Trust{Dir: filepath.Join(dir, "trusted")}
	write(t, project, "store: first.db\n")
	set, err := trust.Add(project)
	must(t, err)
	if strings.Join(set, " ") != "store" {
		t.Errorf("trusted for %q", set)
	}
	live, err := config.Watch(config.Options{Files: []string{project}, Trust: trust})
	must(t, err)
	if f := live.Current(); filepath.Base(f.Store) != "first.db" || live.FromUntrusted("store") {
		t.Errorf("the store is %q", f.Store)
	}
	write(t, project, "store: second.db\nwindow: 9000\n")
	if err := live.Reload(); err == nil || !strings.Contains(err.Error(), "changed since you trusted it") {
		t.Errorf("the change was told as %v", err)
	}
	if f := live.Current(); filepath.Base(f.Store) != "first.db" || f.Window != 0 {
		t.Errorf("the store is %q, the window %d", f.Store, f.Window)
	}
	_, err = trust.Add(project)
	must(t, err)
	must(t, live.Reload())
	if f := live.Current(); filepath.Base(f.Store) != "second.db" || f.Window != 9000 {
		t.Errorf("the store is %q, the window %d", f.Store, f.Window)
	}
	// Who starts with the changed file does without what needs trust.
	write(t, project, "store: third.db\nwindow: 7000\n")
	live, err = config.Watch(config.Options{Files: []string{project}, Trust: trust})
	must(t, err)
	if f := live.Current(); f.Store != "" || f.Window != 7000 || !live.FromUntrusted("window") {
		t.Errorf("the store is %q, the window %d", f.Store, f.Window)
	}
}
