package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/config"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/summary"
)

// loaded is the settings of one run of the command.
type loaded struct {
	config.Loaded

	writer summary.Summarizer // of summaries; nil is the built-in one
	agent  model.Window       // of the agent whose session is looked at; zero is the model's
}

// settingsFiles says which settings files there are, and whether they must be.
func (a *app) settingsFiles() (paths []string, required bool) {
	if a.config != "" {
		return []string{a.config}, true
	}
	file, _ := config.Project()
	return []string{config.User(), file}, false
}

// loadSettings reads the settings files and the environment. Flags come later.
func (a *app) loadSettings() (*loaded, error) {
	files, required := a.settingsFiles()
	l, err := readSettings(config.Options{Files: files, Required: required, Environ: a.environ()})
	if err != nil {
		return nil, err
	}
	if _, above := config.Project(); above != "" && !required {
		l.Passed = append(l.Passed, above+": it is not read, because it is above the current folder, which is not in a repository; name it with --config")
	}
	for _, why := range l.Passed {
		a.sayOnce(why)
	}
	for _, name := range l.Stray {
		a.say("%s is not a setting and is ignored; see winnow config print", name)
	}
	if len(l.Untrusted) > 0 {
		a.sayOnce(strings.Join(l.Untrusted, ", ") + " in the project's settings is ignored, because it could do harm; trust_project: true in your own settings allows it")
	}
	return l, nil
}

// readSettings reads settings once.
func readSettings(o config.Options) (*loaded, error) {
	r, err := config.Read(o)
	if err != nil {
		return nil, err
	}
	r.Stray = slices.DeleteFunc(r.Stray, noSetting)
	return &loaded{Loaded: *r}, nil
}

// noSetting reports whether a variable is for something else: the project's
// tests, or recall.
func noSetting(name string) bool {
	return strings.HasPrefix(name, "WINNOW_TEST_") || slices.Contains(variablesOfTests, name) || slices.Contains(variablesOfRecall, name)
}

// variablesOfTests are read by the project's tests, not by the command.
var variablesOfTests = []string{"WINNOW_CORPUS", "WINNOW_HISTORIES", "WINNOW_LARGE"}

func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}

// words splits a comma-separated list.
func words(text string) []string {
	var out []string
	for w := range strings.SplitSeq(text, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// registry returns the models, with the user's overrides.
func (l *loaded) registry() (*model.Registry, error) {
	if l.ModelsFile == "" {
		return model.Default(), nil
	}
	path := l.ModelsFile
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: the models file cannot be read: %s; check the setting models_file", path, cause(err))
	}
	r, err := model.Default().WithOverrides(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
