package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/summary"
	"go.yaml.in/yaml/v3"
)

// settings are the engine's settings and the command's own.
type settings struct {
	winnow.Settings `yaml:",inline"`

	// ModelsFile is a JSON file that overrides facts of the model registry.
	ModelsFile string `json:"models_file,omitempty" yaml:"models_file,omitempty"`

	// Summarizer writes summaries: "builtin" (the default), which needs no
	// model, or PROVIDER/MODEL. SummarizerURL is the provider's address where it
	// is not the usual one. SummarizerTimeout is for one summary with all its calls, such as
	// 90s (default 5m); then the built-in one is used. Keys are not settings: they
	// come from the provider's own variables, such as OPENAI_API_KEY.
	Summarizer        string `json:"summarizer,omitempty" yaml:"summarizer,omitempty"`
	SummarizerURL     string `json:"summarizer_url,omitempty" yaml:"summarizer_url,omitempty"`
	SummarizerTimeout string `json:"summarizer_timeout,omitempty" yaml:"summarizer_timeout,omitempty"`
}

// loaded is settings with where each came from.
type loaded struct {
	settings
	from  map[string]string // by key: a file with its line, or a variable
	files []string          // that were read
	stray []string          // variables that look like settings and are none

	writer summary.Summarizer // of summaries; nil is the built-in one
}

// settingKey is one setting: its name in files and its place in settings.
type settingKey struct {
	name  string
	index []int
	kind  reflect.Type
}

// settingKeys lists all settings in the order in which they are declared.
func settingKeys() []settingKey {
	var keys []settingKey
	for _, f := range reflect.VisibleFields(reflect.TypeFor[settings]()) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.Anonymous || name == "" {
			continue
		}
		keys = append(keys, settingKey{name, f.Index, f.Type})
	}
	return keys
}

// settingError is one wrong setting in a file or the environment.
type settingError struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

func (e *settingError) Error() string {
	s := e.File
	if e.Line > 0 {
		s += ":" + strconv.Itoa(e.Line)
	}
	if e.Key != "" {
		s += ": setting " + e.Key
	}
	return s + ": " + e.Message
}

// loadSettings reads the settings files and the environment. Flags come later.
func (a *app) loadSettings() (*loaded, error) {
	l := &loaded{from: make(map[string]string)}
	paths := []string{a.userSettings(), projectSettings()}
	if a.config != "" {
		paths = []string{a.config}
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && a.config == "" {
			continue
		}
		if err != nil {
			return nil, &settingError{File: path, Message: "the settings cannot be read: " + cause(err) + "; check the path"}
		}
		if err := l.readFile(path, data); err != nil {
			return nil, err
		}
		l.files = append(l.files, path)
	}
	if err := l.readEnvironment(a.environ()); err != nil {
		return nil, err
	}
	for _, name := range l.stray {
		a.say("%s is no setting and is ignored; see winnow config print", name)
	}
	return l, l.validate()
}

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

// projectSettings is the nearest .winnow.yaml from here up to the folder that
// holds the repository.
func projectSettings() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		path := filepath.Join(dir, ".winnow.yaml")
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return ""
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// readFile adds the settings of a file.
func (l *loaded) readFile(path string, data []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err == io.EOF {
		return nil
	} else if err != nil {
		return &settingError{File: path, Message: strings.TrimPrefix(oneLine(err.Error()), "yaml: ") + "; this is no valid YAML"}
	}
	if err := dec.Decode(new(yaml.Node)); err != io.EOF {
		return &settingError{File: path, Message: "a second document follows the first; keep one"}
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return &settingError{File: path, Line: top.Line, Message: "settings are lines of the form key: value"}
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(top.Content); i += 2 {
		k, v := top.Content[i], top.Content[i+1]
		bad := func(message string) error {
			return &settingError{File: path, Line: k.Line, Key: k.Value, Message: message}
		}
		key, ok := findKey(k.Value)
		switch {
		case !ok:
			return bad("there is no such setting" + suggest(k.Value))
		case seen[k.Value]:
			return bad("it stands here twice; keep one")
		}
		seen[k.Value] = true
		if err := v.Decode(l.field(key).Addr().Interface()); err != nil {
			return bad(fmt.Sprintf("%s is not %s", given(v), wanted(key.kind)))
		}
		l.from[key.name] = fmt.Sprintf("%s:%d", path, k.Line)
	}
	return nil
}

// field is the place of a setting.
func (l *loaded) field(k settingKey) reflect.Value {
	return reflect.ValueOf(&l.settings).Elem().FieldByIndex(k.index)
}

func findKey(name string) (settingKey, bool) {
	keys := settingKeys()
	i := slices.IndexFunc(keys, func(k settingKey) bool { return k.name == name })
	if i < 0 {
		return settingKey{}, false
	}
	return keys[i], true
}

// given says what stands in the file for a value.
func given(v *yaml.Node) string {
	switch {
	case v.Kind == yaml.SequenceNode:
		return "a list"
	case v.Kind == yaml.MappingNode:
		return "a group of settings"
	case v.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return strconv.Quote(brief(v.Value, 40)) + " in quotes"
	}
	return brief(v.Value, 40)
}

// wanted says what kind of value a setting has.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of words"
	}
	return "a text"
}

// suggest names the setting that was probably meant.
func suggest(name string) string {
	best, least := "", 3
	for _, k := range settingKeys() {
		if d := distance(strings.ToLower(name), k.name); d < least {
			best, least = k.name, d
		}
	}
	if best == "" {
		return "; winnow config print lists them"
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance is how many letters must change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

const variablePrefix = "WINNOW_"

// variablesOfTests are read by the project's tests, not by the command.
var variablesOfTests = []string{"WINNOW_CORPUS", "WINNOW_HISTORIES", "WINNOW_LARGE"}

// readEnvironment adds the settings that variables hold: WINNOW_ and the
// setting's name in capitals.
func (l *loaded) readEnvironment(environ []string) error {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, variablePrefix) || slices.Contains(variablesOfTests, name) || value == "" {
			continue
		}
		key, ok := findKey(strings.ToLower(name[len(variablePrefix):]))
		if !ok || strings.ToUpper(name) != name {
			l.stray = append(l.stray, name)
			continue
		}
		if err := setText(l.field(key), value); err != nil {
			return &settingError{File: "environment variable " + name, Message: fmt.Sprintf("%s is not %s", brief(value, 40), wanted(key.kind))}
		}
		l.from[key.name] = name
	}
	return nil
}

// setText sets a field from the text of a variable.
func setText(f reflect.Value, text string) error {
	switch f.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(text)
		f.SetInt(int64(n))
		return err
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		f.SetFloat(x)
		return err
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		f.SetBool(b)
		return err
	case reflect.Slice:
		f.Set(reflect.ValueOf(words(text)))
	default:
		f.SetString(text)
	}
	return nil
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

// validate checks the values and says where a wrong one comes from.
func (l *loaded) validate() error {
	err := l.Settings.Validate()
	var wrong *winnow.SettingsError
	if !errors.As(err, &wrong) {
		return err
	}
	where := l.from[wrong.Field]
	if where == "" {
		where = "settings"
	}
	e := &settingError{File: where, Key: wrong.Field, Message: fmt.Sprintf("%v: %s", wrong.Value, wrong.Problem)}
	if i := strings.LastIndexByte(where, ':'); i > 0 {
		if n, err := strconv.Atoi(where[i+1:]); err == nil {
			e.File, e.Line = where[:i], n
		}
	}
	return e
}

// registry returns the models, with the user's overrides.
func (l *loaded) registry() (*model.Registry, error) {
	if l.ModelsFile == "" {
		return model.Default(), nil
	}
	path := l.ModelsFile
	if at := l.from["models_file"]; !filepath.IsAbs(path) && strings.Contains(at, ":") {
		path = filepath.Join(filepath.Dir(at), path) // relative to the file that names it
	}
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
