package app

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/config"
	"go.yaml.in/yaml/v3"
)

func (a *app) configCommand() *cobra.Command {
	show := newCommand("print", "Print the settings in force and where each comes from", `
  winnow config print

Prints every setting as a line of a settings file, followed by its source.

winnow reads settings from winnow/winnow.yaml in your configuration folder (or
winnow.yaml directly in it), then from .winnow.yaml in the project, then from WINNOW_
variables, then from flags; the last one wins. The project's file is in the current
folder or, inside a repository, in a folder above it, up to the one with .git; a file
that belongs to another user is not read, and one with a mistake is left out with a
warning. What could do harm counts only when you trust it: winnow config trust. A
preset fills in what none of them sets; --preset shows what one does.`,
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return a.configPrint(cmd) })
	addPreset(show)
	check := newCommand("validate [FILE]", "Check the settings, or those of one file", `
  winnow config validate .winnow.yaml

Reports every mistake, with its file and line or its variable.`,
		cobra.MaximumNArgs(1), func(_ *cobra.Command, args []string) error { return a.configValidate(args) })
	return groupCommand("config", "Print, check or trust the settings", "  winnow config print", show, check, a.configTrustCommand(), a.configImportCommand())
}

func (a *app) configImportCommand() *cobra.Command {
	var from string
	cmd := newCommand("import FILE", "Translate the settings file of another system", `
  winnow config import ~/.pi/agent/settings.json > .winnow.yaml
  winnow config import neurolink.json --from neurolink

Prints the settings of pi, PicoClaw, operator-use or NeuroLink as a winnow
settings file, with the preset of that system for what the file leaves out. Keys
that winnow has no equivalent for are named on standard error.`,
		cobra.ExactArgs(1), func(_ *cobra.Command, args []string) error { return a.configImport(args[0], from) })
	cmd.Flags().StringVar(&from, "from", "", "`SYSTEM` that wrote the file: pi, picoclaw, operator-use or neurolink (default: detected by its keys)")
	return cmd
}

func (a *app) configImport(path, from string) error {
	in, err := a.openInput(path)
	if err != nil {
		return err
	}
	f, err := config.ReadForeign(in.Data, from)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	keys := slices.DeleteFunc(config.Keys(), func(k config.Key) bool { return f.From[k.Name] == "" })
	doc := map[string]any{"system": f.Preset, "unmatched": append([]string{}, f.Unmatched...)}
	err = a.printSettings(doc, keys, func(k config.Key) any { return k.Value(&f.File) }, func(k config.Key) string { return f.From[k.Name] })
	for _, key := range f.Unmatched {
		a.say("%s has no equivalent in winnow and is left out", key)
	}
	return err
}

func (a *app) configPrint(cmd *cobra.Command) error {
	l, err := a.loadSettings()
	if err != nil {
		return err
	}
	if err := setFlags(cmd.Flags(), &l.File); err != nil {
		return err
	}
	if cmd.Flags().Changed("preset") {
		l.From["preset"] = "--preset"
	}
	full := l.WithDefaults()
	if full.Store == "" {
		if dir, err := a.dataDir(); err == nil {
			full.Store = filepath.Join(dir, "sessions.db")
		}
	}
	doc := map[string]any{"files": append([]string{}, l.Files...)}
	return a.printSettings(doc, config.Keys(), func(k config.Key) any { return l.shownValue(k, &full) }, l.sourceOf)
}

// printSettings prints settings as a settings file has them, each with its source, or
// as part of a JSON document.
func (a *app) printSettings(doc map[string]any, keys []config.Key, valueOf func(config.Key) any, sourceOf func(config.Key) string) error {
	if a.asJSON {
		values, sources := map[string]any{}, map[string]any{}
		for _, k := range keys {
			setNestedKey(values, k.Name, valueOf(k))
			setNestedKey(sources, k.Name, sourceOf(k))
		}
		doc["settings"], doc["sources"] = values, sources
		return a.printJSON(doc)
	}
	group, question := "", ""
	for _, k := range keys {
		if q := config.QuestionOf(k.Name); q != question {
			question = q
			fmt.Fprintf(a.stdout, "\n# %s\n", q)
		}
		value, err := yamlValue(valueOf(k))
		if err != nil {
			return err
		}
		name := k.Name
		if g, rest, ok := strings.Cut(k.Name, "."); ok {
			if g != group {
				group = g
				fmt.Fprintln(a.stdout, g+":")
			}
			name = "  " + rest
		}
		fmt.Fprintf(a.stdout, "%-44s # %s\n", name+": "+value, sourceOf(k))
	}
	return nil
}

// setNestedKey sets a key, one of a group inside it.
func setNestedKey(doc map[string]any, key string, value any) {
	group, rest, ok := strings.Cut(key, ".")
	if !ok {
		doc[key] = value
		return
	}
	inner, _ := doc[group].(map[string]any)
	if inner == nil {
		inner = map[string]any{}
		doc[group] = inner
	}
	setNestedKey(inner, rest, value)
}

// shownValue returns a setting's value in force as a file would have it: what is switched
// off is -1, since 0 means not set there.
func (l *loaded) shownValue(k config.Key, full *config.File) any {
	set := config.File{Settings: l.Settings.Or(l.presetSettings())}
	if v := reflect.ValueOf(k.Value(&set)); v.CanInt() && v.Int() < 0 || v.CanFloat() && v.Float() < 0 {
		return v.Interface()
	}
	return k.Value(full)
}

// presetSettings returns the settings of the preset; none where there is none.
func (l *loaded) presetSettings() winnow.Settings {
	p, _ := winnow.Preset(l.Preset)
	return p
}

// sourceOf says where a setting comes from.
func (l *loaded) sourceOf(k config.Key) string {
	if from := l.From[k.Name]; from != "" {
		return from
	}
	if !reflect.ValueOf(k.Value(&config.File{Settings: l.presetSettings()})).IsZero() {
		return "preset " + l.Preset
	}
	return "default"
}

// yamlValue writes a value on one line.
func yamlValue(v any) (string, error) {
	var n yaml.Node
	if err := n.Encode(v); err != nil {
		return "", err
	}
	n.Style |= yaml.FlowStyle
	b, err := yaml.Marshal(&n)
	return strings.TrimSpace(string(bytes.ReplaceAll(b, []byte("\n"), []byte(" ")))), err
}

func (a *app) configValidate(args []string) error {
	var l *loaded
	var err error
	if len(args) == 1 {
		l, err = readSettings(config.Options{Files: args, Required: true})
	} else if l, err = a.findSettings(); err == nil && l.Mistake != nil {
		err = l.Mistake
	} else if err == nil && len(l.Stray) > 0 {
		var all []*config.SettingError
		for _, v := range l.Stray {
			all = append(all, &config.SettingError{File: "environment variable " + v, Message: "there is no such setting; " + config.HintFor(v)})
		}
		all[0].Others = all[1:]
		err = all[0]
	}
	if err != nil {
		var wrong *config.SettingError
		if !errors.As(err, &wrong) {
			return err
		}
		all := append([]*config.SettingError{wrong}, wrong.Others...)
		if a.asJSON {
			return errors.Join(a.printJSON(map[string]any{"valid": false, "problems": all}), err)
		}
		if len(all) > 1 {
			for _, e := range all {
				fmt.Fprintln(a.stdout, oneLine(e.Error()))
			}
			return fmt.Errorf("the settings have %s; correct them in the places listed above", plural(len(all), "mistake"))
		}
		return err
	}
	a.tellSettings(l)
	if _, err := l.modelRegistry(); err != nil {
		return err
	}
	verdict := "no settings file; the defaults apply"
	if len(l.Files) > 0 {
		verdict = strings.Join(l.Files, ", ") + ": ok"
	}
	return a.printLine(map[string]any{"valid": true, "problems": []any{}, "files": append([]string{}, l.Files...)}, "%s", verdict)
}

func (a *app) configTrustCommand() *cobra.Command {
	var revoke bool
	cmd := newCommand("trust", "Let the project's settings do everything, as they are now", `
  winnow config trust

Trusts the project's .winnow.yaml as it is now. A trusted file may also set hooks,
which run commands; the summariser and the model of the loop, which get the
conversation; the store; how long sessions are kept; and it may switch redact off. Read
the file first. When it changes, with the next pull for example, it is no longer
trusted. winnow does not check the programs that its hooks run. trust_project: true in
your own settings trusts every project instead.`,
		cobra.NoArgs, func(*cobra.Command, []string) error { return a.configTrust(revoke) })
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take the trust back")
	return cmd
}

func (a *app) configTrust(revoke bool) error {
	path, above := config.Project()
	if path == "" {
		if above != "" {
			return fmt.Errorf("%s is above the current folder, which is not in a repository; go to %s", above, filepath.Dir(above))
		}
		return fmt.Errorf("there is no %s in this project", config.ProjectFile)
	}
	t := a.trustStore()
	if t == nil {
		_, err := a.dataDir()
		return err
	}
	if revoke {
		was, err := t.Remove(path)
		if err != nil {
			return err
		}
		told := map[bool]string{true: "is no longer trusted", false: "was not trusted"}[was]
		return a.printLine(map[string]any{"file": path, "trusted": false}, "%s %s", path, told)
	}
	set, err := t.Add(path)
	if err != nil {
		return err
	}
	what := "it sets nothing that needs trust"
	if len(set) > 0 {
		what = "it may set " + strings.Join(set, ", ")
	}
	doc := map[string]any{"file": path, "trusted": true, "settings": append([]string{}, set...)}
	return a.printLine(doc, "%s is trusted as it is now: %s", path, what)
}
