package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/config"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/summary"
)

// loaded is the settings of one run of the command, with where each came from.
type loaded struct {
	config.File
	from  map[string]string // by key: a file with its line, or a variable
	files []string          // that were read
	stray []string          // variables that look like settings and are none

	untrusted []string // settings of the project's file that do not count
	passed    []string // projects' files that were not read, with the reason

	writer summary.Summarizer // of summaries; nil is the built-in one
	agent  model.Window       // of the agent whose session is looked at; zero is the model's
}

// settingsFiles says which settings files there are, and whether they must be.
func (a *app) settingsFiles() (paths []string, required bool) {
	if a.config != "" {
		return []string{a.config}, true
	}
	file, _ := projectSettings()
	return []string{a.userSettings(), file}, false
}

// loadSettings reads the settings files and the environment. Flags come later.
func (a *app) loadSettings() (*loaded, error) {
	files, required := a.settingsFiles()
	l, err := readSettings(config.Options{Files: files, Required: required, Environ: a.environ()})
	if err != nil {
		return nil, err
	}
	if _, above := projectSettings(); above != "" && !required {
		l.passed = append(l.passed, above+": it is above the current folder, which is in no repository, so it is not read; name it with --config")
	}
	for _, why := range l.passed {
		a.sayOnce(why)
	}
	for _, name := range l.stray {
		a.say("%s is no setting and is ignored; see winnow config print", name)
	}
	if len(l.untrusted) > 0 {
		a.sayOnce(strings.Join(l.untrusted, ", ") + " of the project's settings is ignored, because it could do harm; trust_project: true in your own settings allows it")
	}
	return l, nil
}

// readSettings reads settings once.
func readSettings(o config.Options) (*loaded, error) {
	r, err := config.Read(o)
	if err != nil {
		return nil, err
	}
	return &loaded{File: r.File, from: r.From, files: r.Files, stray: slices.DeleteFunc(r.Stray, ofTests), untrusted: r.Untrusted, passed: r.Passed}, nil
}

// ofTests reports whether a variable is for the project's tests.
func ofTests(name string) bool {
	return strings.HasPrefix(name, "WINNOW_TEST_") || slices.Contains(variablesOfTests, name)
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

// userSettings is winnow/winnow.yaml, or winnow.yaml, in the user's
// configuration folder.
func (a *app) userSettings() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	path := filepath.Join(dir, "winnow", "winnow.yaml")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return filepath.Join(dir, "winnow.yaml")
}

// projectSettings is the project's file: the nearest .winnow.yaml from here up to
// the root of the repository, which is the folder with .git; where there is no
// repository, that of the current folder alone. It never looks beyond the user's
// home: folders above belong to others. A file above the current folder that
// does not count is returned as passed.
func projectSettings() (file, passed string) {
	here, err := os.Getwd()
	if err != nil {
		return "", ""
	}
	var home fs.FileInfo
	if dir, err := os.UserHomeDir(); err == nil {
		home, _ = os.Stat(dir) // a home that is not there ends nothing
	}
	nearest := ""
	for dir := here; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, config.ProjectFile)
		if _, err := os.Lstat(path); err == nil && nearest == "" {
			nearest = path
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return nearest, ""
		}
		info, err := os.Stat(dir)
		if dir == filepath.Dir(dir) || err == nil && home != nil && os.SameFile(info, home) {
			break
		}
	}
	if filepath.Dir(nearest) == here {
		return nearest, ""
	}
	return "", nearest
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
		return nil, fmt.Errorf("%s: the models cannot be read: %s; check the setting models_file", path, cause(err))
	}
	r, err := model.Default().WithOverrides(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}
