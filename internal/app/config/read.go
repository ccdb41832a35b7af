package config

import (
	"bytes"
	"cmp"
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
	"time"

	"github.com/winnow-llm/winnow/internal/text"
	"go.yaml.in/yaml/v3"
)

// SettingError is one wrong setting: where it stands, which it is, and why.
type SettingError struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	Err     error  `json:"-"` // the cause; may be nil

	// Others are further mistakes that the same reading found, in order.
	Others []*SettingError `json:"-"`
}

// Error returns everything in one line.
func (e *SettingError) Error() string {
	s := cmp.Or(e.File, "settings")
	if e.Line > 0 {
		s += ":" + strconv.Itoa(e.Line)
	}
	if e.Key != "" {
		s += ": setting " + e.Key
	}
	return s + ": " + e.Message
}

// Unwrap returns the cause.
func (e *SettingError) Unwrap() error { return e.Err }

// Loaded is settings with where each came from.
type Loaded struct {
	File

	// From says, by key, which file and line or which variable a setting comes
	// from; what is not there has its default.
	From map[string]string

	// Files are those that were read, Stray the variables that look like
	// settings and are none, Untrusted the settings of the project's file that
	// do not count, because nobody said that it is to be trusted. Passed are the
	// project's files that were not read at all, each with the reason.
	Files, Stray, Untrusted, Passed []string

	// Project is the project's file, "" where there is none or it was not read.
	// Trusted says that it may set everything, Changed that it could until
	// somebody changed it. Mistake is what is wrong with one that nobody trusts:
	// then it is left out as a whole.
	Project          string
	Trusted, Changed bool
	Mistake          error

	wrong []*SettingError // the mistakes found so far
}

// Read reads settings files and variables once. The error is a
// [*SettingError] that names file and line, with all the others that there are.
// See [Watch] for following them.
func Read(o Options) (*Loaded, error) {
	l := &Loaded{From: make(map[string]string)}
	var found *project
	for _, path := range o.Files {
		if path == "" {
			continue
		}
		if filepath.Base(path) == ProjectFile && !o.Required {
			if p := openProject(path, os.Geteuid()); p.passed != "" {
				l.Passed = append(l.Passed, path+": "+p.passed)
			} else if p.there || p.err != nil {
				found = &p
			}
			continue
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && !o.Required {
			continue
		}
		if err != nil {
			return nil, cannotRead(path, err)
		}
		l.readFile(path, data)
		l.Files = append(l.Files, path)
	}
	if found != nil {
		return l.addProject(found, &o)
	}
	l.readEnviron(o.Environ)
	return l, l.addFlagsAndCheck(o.Flags)
}

// addFlagsAndCheck adds what flags say and checks everything.
func (l *Loaded) addFlagsAndCheck(flags func(*File)) error {
	if flags != nil {
		l.Override(flags)
	}
	l.checkValues()
	if len(l.wrong) == 0 {
		return nil
	}
	first := l.wrong[0]
	first.Others = l.wrong[1:]
	return first
}

// checkValues checks the values that were read. It notes a value that makes no
// sense and takes it out, so that it finds the next one too.
func (l *Loaded) checkValues() {
	if l.Summarize != nil && !*l.Summarize {
		l.leaveOutSummaries()
		l.From["systems.stages"] = l.From["summarize"]
	}
	rest := Loaded{File: l.File, From: l.From}
	for range allKeys {
		e := rest.check()
		if e == nil {
			return
		}
		if !slices.ContainsFunc(l.wrong, func(w *SettingError) bool { return strings.HasPrefix(w.Key, e.Key) }) { // else it follows from that
			l.wrong = append(l.wrong, l.withPlace(e))
		}
		i := slices.IndexFunc(allKeys, func(k Key) bool { return k.Name == e.Key })
		if i < 0 {
			return // part of a group, of which only the first is told
		}
		allKeys[i].fieldIn(&rest.File).SetZero()
	}
}

// withPlace says where a wrong value comes from.
func (l *Loaded) withPlace(e *SettingError) *SettingError {
	where := l.From[e.Key]
	for key := e.Key; where == "" && key != ""; where = l.From[key] { // the group that it belongs to
		key = key[:max(0, strings.LastIndexByte(key, '.'))]
	}
	e.File = where
	if i := strings.LastIndexByte(where, ':'); i > 0 {
		if n, err := strconv.Atoi(where[i+1:]); err == nil {
			e.File, e.Line = where[:i], n
		}
	}
	return e
}

// readFile adds the settings of a file to those that are there.
func (l *Loaded) readFile(path string, data []byte) {
	r := fileReader{l: l, path: path}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err == io.EOF {
		return
	} else if err != nil {
		line, message := splitYAMLError(err)
		r.note("", line, message+"; this is not valid YAML")
		return
	}
	var second yaml.Node
	if err := dec.Decode(&second); err != io.EOF {
		r.note("", second.Line, "a second document follows the first; keep one")
		return
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		r.note("", top.Line, "settings are lines of the form key: value")
		return
	}
	r.readGroup(top, reflect.ValueOf(&l.File).Elem(), "")
}

// splitYAMLError returns the line number in an error, 0 for none, and the error
// without it.
func splitYAMLError(err error) (int, string) {
	text := strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				return n, message
			}
		}
	}
	return 0, text
}

// fileReader puts the nodes of a file into their fields.
type fileReader struct {
	l    *Loaded
	path string
}

// readGroup reads a mapping into a struct. What is wrong is noted and left out.
func (r *fileReader) readGroup(n *yaml.Node, to reflect.Value, prefix string) {
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := prefix + k.Value
		field, ok := fieldOf(to, k.Value)
		switch {
		case !ok:
			r.note(name, k.Line, "there is no such setting"+suggestSetting(k.Value, to.Type(), prefix == ""))
		case seen[k.Value]:
			r.note(name, k.Line, "it is here twice; keep one")
		default:
			seen[k.Value] = true
			r.readValue(v, field, name, k.Line)
		}
	}
}

// note notes a mistake.
func (r *fileReader) note(name string, line int, message string) {
	r.l.wrong = append(r.l.wrong, &SettingError{File: r.path, Line: line, Key: name, Message: message})
}

// readValue reads the value of a setting: a group or a list of groups into what an
// earlier file has under the same names, anything else in its place.
func (r *fileReader) readValue(n *yaml.Node, to reflect.Value, name string, line int) {
	n = cmp.Or(n.Alias, n)
	t := to.Type()
	isGroups := t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
	switch {
	case t == durationType && n.Kind == yaml.ScalarNode:
		d, err := parseDuration(n.Value)
		if err != nil {
			r.noteKind(n, t, name, line)
			return
		}
		to.SetInt(int64(d))
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		r.readGroup(n, to, name+".")
	case t.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		r.readMapping(n, to, name)
	case isGroups && n.Kind == yaml.SequenceNode:
		all := reflect.MakeSlice(t, len(n.Content), len(n.Content))
		for i, v := range n.Content {
			r.readValue(v, all.Index(i), fmt.Sprintf("%s.%d", name, i), v.Line)
		}
		to.Set(all)
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map, isGroups, t == durationType,
		n.Decode(to.Addr().Interface()) != nil, n.Tag == "!!null":
		r.noteKind(n, t, name, line)
		return
	case t.Kind() == reflect.String && (name == "models_file" || name == "store"):
		to.SetString(r.resolvePath(to.String()))
	}
	r.l.From[name] = fmt.Sprintf("%s:%d", r.path, line)
}

// noteKind notes a value that is not of the kind that its setting wants.
func (r *fileReader) noteKind(n *yaml.Node, t reflect.Type, name string, line int) {
	kind := kindOfType(t)
	r.note(name, line, fmt.Sprintf("%s is not %s%s", describeNode(n), kind, exampleOfKind(kind)))
}

// readMapping reads groups, or texts, by name.
func (r *fileReader) readMapping(n *yaml.Node, to reflect.Value, name string) {
	all := reflect.MakeMap(to.Type())
	for _, k := range to.MapKeys() {
		all.SetMapIndex(k, to.MapIndex(k))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, one := reflect.ValueOf(n.Content[i].Value), reflect.New(to.Type().Elem()).Elem()
		if old := all.MapIndex(key); old.IsValid() {
			one.Set(old)
		}
		r.readValue(n.Content[i+1], one, name+"."+key.String(), n.Content[i].Line)
		all.SetMapIndex(key, one)
	}
	to.Set(all)
}

// resolvePath returns a path from the folder of the file that names it. An address
// stays as it is.
func (r *fileReader) resolvePath(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"+string(filepath.Separator)); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return joinPath(home, rest)
		}
	}
	if path == "" || filepath.IsAbs(path) || strings.Contains(path, "://") {
		return path
	}
	return joinPath(filepath.Dir(r.path), path)
}

// joinPath returns a path in a folder. A separator at its end stays: it says that a
// folder is meant.
func joinPath(dir, path string) string {
	out := filepath.Join(dir, path)
	if strings.HasSuffix(path, string(filepath.Separator)) {
		out += string(filepath.Separator)
	}
	return out
}

// fieldOf returns the field of a struct with that key.
func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	for name, f := range fieldsOf(v.Type()) {
		if name == key {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}

// describeNode says what stands in the file for a value.
func describeNode(v *yaml.Node) string {
	switch {
	case v.Kind == yaml.SequenceNode:
		return "a list"
	case v.Kind == yaml.MappingNode:
		return "a group of settings"
	case v.Tag == "!!null":
		return "nothing"
	case v.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		return strconv.Quote(text.Brief(v.Value, 40)) + " in quotes"
	}
	return text.Brief(v.Value, 40)
}

// parseDuration reads a duration, in days too.
func parseDuration(text string) (time.Duration, error) {
	if text == "-1" { // off, as in every number
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n > 100000 || n < 0 {
			return 0, strconv.ErrSyntax
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if d < 0 {
		return 0, strconv.ErrSyntax
	}
	return d, err
}
