package config_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/stage"
)

// A key that stands in a file wins over the preset's value, also where it is 0:
// that is the default then, as it is without a preset.
func TestWrittenWinsOverPreset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "winnow.yaml")
	standard := config.File{}.WithDefaults()
	standard.SummaryMax = 1 << 30 // its default is no limit
	kept := map[string]any{       // where no ladder decides what is kept
		"keep_recent":     stage.Defaults().KeepRecent,
		"recent_messages": stage.Defaults().RecentMessages,
	}
	for _, name := range winnow.PresetNames() {
		p, err := winnow.Preset(name)
		must(t, err)
		of := config.File{Settings: p}
		written := "preset: " + name + "\n"
		var keys []config.Key
		for _, k := range config.Keys() {
			zero := map[reflect.Kind]string{reflect.Int: "0", reflect.Float64: "0", reflect.String: `""`}[reflect.TypeOf(k.Value(&of)).Kind()]
			if v := reflect.ValueOf(k.Value(&of)); zero != "" && !v.IsZero() {
				written += k.Name + ": " + zero + "\n"
				keys = append(keys, k)
			}
		}
		write(t, path, written)
		l, err := config.Read(config.Options{Files: []string{path}})
		must(t, err)
		full := l.WithDefaults()
		for _, k := range keys {
			want := k.Value(&standard)
			if kept, ok := kept[k.Name]; ok && !slices.Contains(p.Stages, stage.Ladder{}.Name()) {
				want = kept
			}
			if got := k.Value(&full); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: 0 gives %v, want the default %v", name, k.Name, got, want)
			}
		}
	}
}

// Every way of naming a preset reaches the engine's settings, for a model too.
func TestPresetOfModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "winnow.yaml")
	write(t, path, "preset: thrifty\ntail: 7\nmodels:\n  m:\n    preset: umbra\n    target: 0.5\n")
	l, err := config.Read(config.Options{Files: []string{path}})
	must(t, err)
	if s := l.For("", "other").WithDefaults(); s.Preset != "thrifty" || s.Tail != 7 || s.Target != 0.32 || s.CommitFloor != 48_000 || strings.Join(s.Stages, " ") != "limit ladder" {
		t.Errorf("other models: %+v", s)
	}
	if s := l.Session("", "m").Settings.WithDefaults(); s.Preset != "umbra" || s.Tail != 7 || s.Target != 0.5 || s.Threshold != 1 || strings.Join(s.Stages, " ") != "split-turn truncate" {
		t.Errorf("the model: %+v", s)
	}
}
