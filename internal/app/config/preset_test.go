package config_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/config"
)

// 0 means not set, in a file as in Go: the preset's value holds, and what an earlier
// file says is taken back.
func TestZeroIsNotSet(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.yaml"), filepath.Join(dir, "second.yaml")
	write(t, first, "preset: pi\nthreshold: 0.5\nkeep_recent: 7\nsystems:\n  reserve: 7\n")
	write(t, second, "threshold: 0\nkeep_recent: 0\nsystems:\n  reserve: 0\n")
	l, err := config.Read(config.Options{Files: []string{first, second}})
	must(t, err)
	want, err := winnow.Preset("pi")
	must(t, err)
	want.Preset = "pi"
	if got := l.For("", ""); !reflect.DeepEqual(got.WithDefaults(), want.WithDefaults()) {
		t.Errorf("%+v\nwant the preset's %+v", got, want)
	}
}

// Every setting belongs to a question, most people need five, and at
// most thirty answer the rest.
func TestGroups(t *testing.T) {
	count := map[bool]int{}
	for _, k := range config.Keys() {
		count[strings.HasPrefix(k.Name, "systems.")]++
		if !slices.ContainsFunc(config.Groups, func(g config.Group) bool {
			head, _, _ := strings.Cut(k.Name, ".")
			return slices.Contains(g.Keys, head)
		}) {
			t.Errorf("%s answers no question", k.Name)
		}
	}
	if count[false] > 35 {
		t.Errorf("%d settings besides those of other systems", count[false])
	}
}

// Every way of naming a preset reaches the engine's settings, for a model too.
func TestPresetOfModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "winnow.yaml")
	write(t, path, "preset: thrifty\nsystems:\n  tail: 7\nmodels:\n  m:\n    preset: umbra\n    target: 0.5\n")
	l, err := config.Read(config.Options{Files: []string{path}})
	must(t, err)
	if s := l.For("", "other").WithDefaults(); s.Preset != "thrifty" || s.Tail != 7 || s.Target != 0.32 || s.CommitFloor != 48_000 || strings.Join(s.Stages, " ") != "limit ladder" {
		t.Errorf("other models: %+v", s)
	}
	if s := l.Session("", "m").Settings.WithDefaults(); s.Preset != "umbra" || s.Tail != 7 || s.Target != 0.5 || s.Threshold != 1 || strings.Join(s.Stages, " ") != "split-turn truncate" {
		t.Errorf("the model: %+v", s)
	}
}
