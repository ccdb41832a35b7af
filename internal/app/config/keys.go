package config

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/internal/text"
)

// VariablePrefix is how the variables start that hold settings.
const VariablePrefix = "WINNOW_"

// Key is one setting: its place in [File] under the name that people write.
type Key struct {
	// Name is the key in files; the key of a group has a point, as in
	// keep.sessions. Variable holds it in the environment, "" where only files
	// can.
	Name, Variable string

	// Kind says in words what kind of value it has.
	Kind string

	index []int
}

// Value returns the setting's value in a File.
func (k Key) Value(f *File) any { return k.fieldIn(f).Interface() }

func (k Key) fieldIn(f *File) reflect.Value { return reflect.ValueOf(f).Elem().FieldByIndex(k.index) }

// Keys returns all settings, in the order in which they are documented.
func Keys() []Key { return slices.Clone(allKeys) }

var allKeys = sortedKeys()

// sortedKeys returns the settings in the order of [Groups].
func sortedKeys() []Key {
	var order []string
	for _, g := range Groups {
		order = append(order, g.Keys...)
	}
	all := keysOf(reflect.TypeFor[File](), "", nil)
	slices.SortStableFunc(all, func(a, b Key) int {
		return slices.Index(order, keyGroup(a.Name)) - slices.Index(order, keyGroup(b.Name))
	})
	return all
}

// keyGroup returns the first part of a key, which is a group of keys or the key itself.
func keyGroup(key string) string {
	first, _, _ := strings.Cut(key, ".")
	return first
}

func keysOf(t reflect.Type, prefix string, at []int) []Key {
	var keys []Key
	for name, f := range fieldsOf(t) {
		index := append(slices.Clone(at), f.Index...)
		if f.Type.Kind() == reflect.Struct {
			keys = append(keys, keysOf(f.Type, prefix+name+".", index)...)
			continue
		}
		k := Key{Name: prefix + name, Kind: kindOfType(f.Type), index: index}
		if hasText(f.Type) {
			k.Variable = VariablePrefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
		}
		keys = append(keys, k)
	}
	return keys
}

// fieldsOf returns the fields of a struct by the names that they have in files.
func fieldsOf(t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case option == "inline":
				for name, inner := range fieldsOf(f.Type) {
					inner.Index = append([]int{i}, inner.Index...)
					if !yield(name, inner) {
						return
					}
				}
			case name != "" && name != "-" && !yield(name, f):
				return
			}
		}
	}
}

// hasText reports whether values of a type can stand in a variable.
func hasText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Map, reflect.Struct:
		return false
	case reflect.Slice:
		return t.Elem().Kind() == reflect.String
	}
	return true
}

var durationType = reflect.TypeFor[time.Duration]()

// kindOfType says what kind of value a type is.
func kindOfType(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a duration such as 90s, 12h or 30d"
	case t.Kind() == reflect.Pointer:
		return kindOfType(t.Elem())
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.String:
		return "a list of groups of settings"
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of words"
	case reflect.Map, reflect.Struct:
		return "a group of settings"
	}
	return "a text"
}

// exampleOfKind says how a value of a kind is written, for those who wrote another.
func exampleOfKind(kind string) string {
	return map[string]string{
		"a whole number": " such as 8000", "a number": " such as 0.8", "a list of words": " such as [limit, fold]",
	}[kind]
}

// readEnviron adds the settings that variables hold.
func (l *Loaded) readEnviron(environ []string) {
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, VariablePrefix) || value == "" {
			continue
		}
		i := slices.IndexFunc(allKeys, func(k Key) bool { return k.Variable == name })
		if i < 0 {
			l.Stray = append(l.Stray, name)
			continue
		}
		if err := allKeys[i].set(&l.File, value); err != nil {
			l.wrong = append(l.wrong, &SettingError{File: "environment variable " + name, Message: err.Error()})
			continue
		}
		l.From[allKeys[i].Name] = name
	}
}

// set sets the setting from a text as a variable holds it.
func (k *Key) set(f *File, value string) error {
	if setText(k.fieldIn(f), value) != nil {
		return fmt.Errorf("%s is not %s%s", text.Brief(value, 40), k.Kind, exampleOfKind(k.Kind))
	}
	return nil
}

// Set sets one setting by name, from a text as a variable holds it. The error says
// what is wrong with the name or the text.
func (f *File) Set(name, value string) error {
	i := slices.IndexFunc(allKeys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return fmt.Errorf("there is no such setting%s", suggestSetting(name, reflect.TypeFor[File](), true))
	}
	if allKeys[i].Variable == "" {
		return errors.New("it can only be set in a file")
	}
	return allKeys[i].set(f, value)
}

// setText sets a field from the text of a variable.
func setText(v reflect.Value, value string) error {
	if v.Type() == durationType {
		d, err := parseDuration(value)
		v.SetInt(int64(d))
		return err
	}
	switch v.Kind() {
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		v.Set(to)
		return setText(to.Elem(), value)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(value, 10, 64)
		v.SetInt(n)
		return err
	case reflect.Float64:
		x, err := strconv.ParseFloat(value, 64)
		v.SetFloat(x)
		return err
	case reflect.Bool:
		b, err := strconv.ParseBool(value)
		v.SetBool(b)
		return err
	case reflect.Slice:
		var list []string
		for w := range strings.SplitSeq(value, ",") {
			if w = strings.TrimSpace(w); w != "" {
				list = append(list, w)
			}
		}
		v.Set(reflect.ValueOf(list))
	default:
		v.SetString(value)
	}
	return nil
}

// HintFor returns which setting was probably meant by a variable that holds none, or
// what to write in place of one that there was.
func HintFor(variable string) string {
	name := strings.ToLower(strings.TrimPrefix(variable, VariablePrefix))
	_, hint, _ := strings.Cut(suggestSetting(name, reflect.TypeFor[File](), true), "; ")
	return hint
}

// suggestSetting ends a sentence about an unknown setting: what to write instead.
func suggestSetting(name string, t reflect.Type, top bool) string {
	if top || t == reflect.TypeFor[winnow.Settings]() {
		to := instead[name]
		if slices.ContainsFunc(allKeys, func(k Key) bool { return k.Name == "systems."+name }) {
			to = "it is systems." + name + " now"
		}
		if to != "" {
			return " any more; " + to
		}
	}
	var all []string
	for key := range fieldsOf(t) {
		all = append(all, key)
	}
	switch best := spelling.Nearest(name, all); {
	case best != "":
		return fmt.Sprintf("; did you mean %s?", best)
	case !top && len(all) < 10:
		return "; there are " + strings.Join(all, ", ")
	}
	return "; winnow config print lists them"
}

// Group is settings that answer one question.
type Group struct {
	Question string
	Keys     []string
}

// Groups are all settings by the question that they answer, in the order in which
// they are printed and documented. The first have no question: most people need no
// others. The last group is for those who come from another system.
var Groups = []Group{
	{"", []string{"model", "window", "preset", "threshold", "target"}},
	{"When is a conversation cut?", []string{"auto_compact", "threshold_tokens", "economy", "commit_floor"}},
	{"What does the model take?", []string{"output_reserve", "max_bytes", "max_images", "exact", "models_file", "models"}},
	{"What stays?", []string{"keep_recent", "tools"}},
	{"Who writes summaries?", []string{"summarize", "summarizer", "summarizer_url", "summarizer_timeout", "sequential", "focus"}},
	{"How does the model get originals back?", []string{"recall_tool"}},
	{"What is stored, and for how long?", []string{"store", "memory", "keep", "redact"}},
	{"What else runs?", []string{"hooks", "trust_project"}},
	{"Settings of other systems", []string{"systems"}},
}

// QuestionOf returns the question that a setting answers.
func QuestionOf(key string) string {
	i := slices.IndexFunc(Groups, func(g Group) bool { return slices.Contains(g.Keys, keyGroup(key)) })
	return Groups[i].Question
}

const (
	standard = "the default serves every model; take it out"
	inModels = "write it into the models_file, for the model that it is about"
	oneName  = "write summarizer: PROVIDER/MODEL"
)

// instead says what to write in place of keys that were settings. Those of the group
// systems once stood outside of it.
var instead = map[string]string{
	"disabled":      "write auto_compact: false",
	"quality_limit": "write threshold_tokens",
	"max_tokens":    "write output_reserve",
	"input_limit":   inModels + ", as input", "output_limit": inModels + ", as output",
	"read_price": inModels + ", as prices.cache_read", "write_price": inModels + ", as prices.cache_write",
	"output_price": inModels + ", as prices.output", "cache_lifetime": inModels + ", as cache.lifetime_seconds",
	"summarizer_provider": oneName, "summarizer_model": oneName,
	"recent_share":    "a keep_recent that is set is kept whole; take it out",
	"recent_messages": "four stay where systems.recent_ratio is set; write keep_recent for more",
	"snap":            "a cut moves to the start of its turn where that is near, except under the presets pi and operator-use; take it out",
	"overflow_target": standard, "supersede_min": standard, "skeleton_max": standard,
	"summary_share": standard, "fold_share": standard, "summary_max": standard, "user_share": standard,
}
