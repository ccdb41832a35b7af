package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/app/config"
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

// loadSettings reads the settings files and the environment, and tells what does not
// count. Flags come later.
func (a *app) loadSettings() (*loaded, error) {
	l, err := a.findSettings()
	if err != nil {
		return nil, err
	}
	a.tellSettings(l)
	return l, nil
}

// findSettings reads the settings files and the environment.
func (a *app) findSettings() (*loaded, error) {
	files, required := a.settingsFiles()
	l, err := readSettings(config.Options{Files: files, Required: required, Environ: a.environ(), Trust: a.trustStore()})
	if err != nil {
		return nil, err
	}
	if _, above := config.Project(); above != "" && !required {
		l.Passed = append(l.Passed, above+": it is not read, because it is above the current folder, which is not in a repository; name it with --config")
	}
	for _, name := range []string{"winnow.yaml", "winnow.yml", ".winnow.yml"} {
		at, _ := filepath.Abs(name)
		if _, err := os.Stat(name); err == nil && !required && !slices.Contains(files, at) {
			l.Passed = append(l.Passed, name+": it is not read; a project's settings are in "+config.ProjectFile)
		}
	}
	return l, nil
}

// tellSettings tells people what of their settings does not count.
func (a *app) tellSettings(l *loaded) {
	for _, why := range l.Passed {
		a.sayOnce(why)
	}
	for _, name := range l.Stray {
		a.say("%s is not a setting and is ignored; %s", name, config.HintFor(name))
	}
	if l.Mistake != nil {
		a.sayOnce(l.ignoredNotice())
	}
	if len(l.Untrusted) > 0 {
		a.sayOnce(l.distrustedNotice() + "; " + l.trustHint())
	}
}

// trustStore returns the memory of the projects' files that the person trusts; nil
// where the machine has no place for it.
func (a *app) trustStore() *config.Trust {
	dir, err := a.dataDir()
	if err != nil {
		return nil
	}
	return &config.Trust{Dir: filepath.Join(dir, "trusted")}
}

// ignoredNotice says that the project's file does not count, and what is wrong with it.
func (l *loaded) ignoredNotice() string {
	var wrong *config.SettingError
	which, more := "", ""
	if !errors.As(l.Mistake, &wrong) || wrong.File != l.Project {
		which = " (" + l.Project + ")"
	}
	if wrong != nil && len(wrong.Others) > 0 {
		more = fmt.Sprintf("; %s more, see winnow config validate", number(len(wrong.Others)))
	}
	return "the project's settings" + which + " are ignored, because of a mistake: " + oneLine(l.Mistake.Error()) + more
}

// distrustedNotice says which settings of the project's file do not count.
func (l *loaded) distrustedNotice() string {
	why := "it could do harm"
	if l.Changed {
		why = "the file has changed since you trusted it"
	}
	return strings.Join(l.Untrusted, ", ") + " in the project's settings is ignored, because " + why
}

// trustHint says how they would.
func (l *loaded) trustHint() string {
	return "read " + l.Project + ", then winnow config trust allows it"
}

// readSettings reads settings once.
func readSettings(o config.Options) (*loaded, error) {
	r, err := config.Read(o)
	if err != nil {
		return nil, err
	}
	r.Stray = slices.DeleteFunc(r.Stray, func(name string) bool { // for the project's tests, or recall
		return strings.HasPrefix(name, "WINNOW_TEST_") || slices.Contains(variablesOfTests, name) || slices.Contains(variablesOfRecall, name)
	})
	return &loaded{Loaded: *r}, nil
}

// variablesOfTests are read by the project's tests, not by the command.
var variablesOfTests = []string{"WINNOW_CORPUS", "WINNOW_HISTORIES", "WINNOW_LARGE", "WINNOW_LONG"}

func causeText(err error) string { return config.Cause(err).Error() }

// modelRegistry returns the models, with the user's overrides. They reserve at most the
// flags' tokens of their window for the answer, if there are any: "TOKENS" for all
// models, or "MODEL=TOKENS" for one.
func (l *loaded) modelRegistry(reserves ...string) (*model.Registry, error) {
	data, path := []byte("{}"), l.ModelsFile
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("%s: the models file cannot be read: %s; check the setting models_file", path, causeText(err))
		}
	}
	if path == "" && len(reserves) == 0 {
		return model.Default(), nil
	}
	r, err := model.Default().WithOverrides(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(reserves) == 0 {
		return r, nil
	}
	var file struct {
		Models map[string]map[string]any `json:"models"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if file.Models == nil {
		file.Models = map[string]map[string]any{}
	}
	if err := addReserves(file.Models, reserves); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(file); err != nil {
		return nil, err
	}
	return model.Default().WithOverrides(data)
}

// addReserves puts the flags' reserves into what a models file says.
func addReserves(models map[string]map[string]any, reserves []string) error {
	for _, text := range reserves {
		name, tokens, ok := strings.Cut(text, "=")
		if !ok {
			name, tokens = "*", text
		}
		n, err := parseTokens(tokens)
		if err != nil || n <= 0 || name == "" {
			return usageErrorf("--output-reserve %s: write TOKENS, or MODEL=TOKENS, for example gpt-5=16000", text)
		}
		if models[name] == nil {
			models[name] = map[string]any{}
		}
		models[name]["output"] = n
		for _, one := range models {
			// A pattern says nothing about models that have an entry of their own.
			if _, set := one["output"]; name == "*" && !set {
				one["output"] = n
			}
		}
	}
	return nil
}
