// Package config reads what can be set: settings files, variables and flags, in
// one table of keys that the command and the documents go by.
//
// [File] has everything that can be set. [Read] reads it once, with where each
// value comes from; [Watch] follows the files while a program runs. A project's
// file may come from anywhere, so it sets what could do harm only where the user
// trusts it.
package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/session"
)

// File is everything that can be set: the engine's settings, and those of the
// programs around it. Its fields are the one table of keys: files, variables,
// the command and the documents all go by it. Two files, the user's and the
// project's, are merged key by key.
type File struct {
	winnow.Settings `yaml:",inline"`

	// ModelsFile is a JSON file that overrides facts of the model registry, by model:
	// {"models": {"gpt-5": {"context": 200000, "input": 180000, "output": 32000,
	// "prices": {"input": 2, "output": 8, "cache_read": 0.2, "cache_write": 2},
	// "cache": {"lifetime_seconds": 300}}}}. A relative path starts at the folder of
	// the file that names it.
	ModelsFile string `json:"models_file,omitempty" yaml:"models_file,omitempty"`

	// Models are settings for single models, by "provider/model" or "model".
	// They override the rest of the file.
	Models map[string]winnow.Settings `json:"models,omitempty" yaml:"models,omitempty"`

	// Tools says what a tool does, by its name: read, write, edit, delete, search,
	// shell or other. They override the built-in table of tools.
	Tools map[string]string `json:"tools,omitempty" yaml:"tools,omitempty"`

	// AutoCompact switches compaction before calls and after turns on or off (default
	// true). When it is off, requests are only measured and repaired; you can still
	// compact by hand.
	AutoCompact *bool `json:"auto_compact,omitempty" yaml:"auto_compact,omitempty"`

	// Summarize switches summaries on or off (default true). Without them the stages
	// ladder and fold do not run: older turns are shortened and dropped instead.
	Summarize *bool `json:"summarize,omitempty" yaml:"summarize,omitempty"`

	// Summarizer writes summaries: "builtin" (the default), which needs no
	// model, or PROVIDER/MODEL; in serve and wrap also "same", the agent's own
	// model on its own credential.
	// SummarizerURL is the provider's address, if it is not the usual one.
	// SummarizerTimeout limits one summary with all its calls, such as 90s
	// (default 5m); after that the built-in one is used. Keys are not settings: they
	// come from the provider's own variables, such as OPENAI_API_KEY.
	Summarizer        string `json:"summarizer,omitempty" yaml:"summarizer,omitempty"`
	SummarizerURL     string `json:"summarizer_url,omitempty" yaml:"summarizer_url,omitempty"`
	SummarizerTimeout string `json:"summarizer_timeout,omitempty" yaml:"summarizer_timeout,omitempty"`

	// Sequential makes the calls of a summary one after the other, for providers
	// that allow one at a time (default false). A turn that is cut in two takes
	// two calls, one for the messages before it and one for its first part; a
	// conversation that is too long for the summariser's window takes more.
	Sequential bool `json:"sequential,omitempty" yaml:"sequential,omitempty"`

	// Store is where sessions are kept: a database, a folder of session files, or
	// postgres://USER@HOST/DATABASE without a password. The default is sessions.db in
	// the user's data folder. A relative path starts at the folder of the file that
	// names it. Memory says whether conversations are stored at all (default true):
	// without it they end with the program, and nothing of them is written.
	Store  string `json:"store,omitempty" yaml:"store,omitempty"`
	Memory *bool  `json:"memory,omitempty" yaml:"memory,omitempty"`

	// Keep says how long sessions are kept; by default nothing is ever deleted.
	// Sessions beyond these limits are deleted when a new one is begun, the least
	// recently used first.
	Keep session.Retention `json:"keep,omitzero" yaml:"keep,omitempty"`

	// Redact takes secrets out of messages before they are written to a session,
	// and out of the plans and conversations that the gateway stores.
	Redact bool `json:"redact,omitempty" yaml:"redact,omitempty"`

	// Hooks are commands that run at events: on is the event (before_compact,
	// after_compact, compact_failed, before_navigate, after_navigate or
	// before_call), run the program and its arguments, timeout how long it may
	// take (default 10s), dir where it runs. It gets JSON on standard input and may
	// answer with JSON: {"cancel": true} or {"summary": "…"} before a compaction or
	// a move in the tree, {"append": "…"} before a call.
	Hooks []session.Command `json:"hooks,omitempty" yaml:"hooks,omitempty"`

	// TrustProject lets every project's own file, .winnow.yaml, set Hooks,
	// Summarizer, SummarizerURL, Store and Keep too, switch Redact off and name the
	// model that answers in the loop (default false). A project may come from
	// anywhere, and these could do harm: Hooks run commands, a model gets the conversation,
	// its address gets the provider's key, the store holds every word, and Keep
	// deletes sessions of every project. It counts only in the user's file, in the
	// file of --config and as a variable. "winnow config trust" is better: it trusts
	// one project's file until that file changes.
	TrustProject bool `json:"trust_project,omitempty" yaml:"trust_project,omitempty"`
}

// WithDefaults returns the settings with every default filled in, for showing
// them to people.
func (f File) WithDefaults() File {
	f.Settings = f.Settings.WithDefaults()
	for _, b := range []**bool{&f.AutoCompact, &f.Summarize, &f.Memory} {
		if *b == nil {
			*b = new(true)
		}
	}
	f.Summarizer = cmp.Or(f.Summarizer, "builtin")
	f.SummarizerTimeout = cmp.Or(f.SummarizerTimeout, "5m")
	return f
}

// Session returns what a session under the model needs, for
// [session.Options].Live.
func (f *File) Session(provider, model string) session.Live {
	return session.Live{Settings: f.For(provider, model), Auto: f.AutoCompact, Redact: f.Redact, Keep: f.Retention(), Hooks: f.Hooks}
}

// Kinds returns what tools do: the built-in table with Tools on top; nil is the
// table alone.
func (f *File) Kinds() *winnow.ToolKinds {
	if len(f.Tools) == 0 {
		return nil
	}
	kinds, _ := winnow.NewToolKinds(f.Tools) // they were checked when they were read
	return kinds
}

// Retention returns how long sessions are kept.
func (f *File) Retention() session.Retention {
	r := f.Keep
	r.Age, r.Bytes, r.Sessions = max(r.Age, 0), max(r.Bytes, 0), max(r.Sessions, 0)
	return r
}

// Remembers reports whether conversations are to be kept in a store.
func (f *File) Remembers() bool { return f.Memory == nil || *f.Memory }

// Auto reports whether compaction comes by itself.
func (f *File) Auto() bool { return f.AutoCompact == nil || *f.AutoCompact }

// For returns the settings for a model: those of the file, with the ones for
// this model on top.
func (f *File) For(provider, model string) winnow.Settings {
	set := f.Settings
	for _, key := range []string{model, provider + "/" + model} {
		set = f.Models[key].Or(set)
	}
	return set
}

// Override changes settings from a place that has the last word, a program's
// flags for example: what it changes wins over Models too.
func (f *File) Override(change func(*File)) {
	before := *f
	change(f)
	models := make(map[string]winnow.Settings, len(f.Models))
	for name, set := range f.Models {
		of := File{Settings: set}
		for _, k := range allKeys {
			if !reflect.DeepEqual(k.Value(&before), k.Value(f)) {
				k.fieldIn(&of).SetZero()
			}
		}
		models[name] = of.Settings
	}
	if f.Models != nil {
		f.Models = models
	}
}

// leaveOutSummaries takes the stages out that write summaries.
func (f *File) leaveOutSummaries() {
	stages := f.Settings.WithDefaults().Stages
	if at := slices.Index(stages, "ladder"); at >= 0 {
		stages = slices.Concat(stages[:at], []string{"supersede", "prune", "split-turn", "truncate"}, stages[at+1:])
	}
	f.Stages = slices.DeleteFunc(slices.Clone(stages), func(s string) bool { return s == "fold" })
}

// check finds what makes no sense. The key says which setting it is.
func (f *File) check() *SettingError {
	if e := wrongSetting("", f.Settings); e != nil {
		return e
	}
	for _, name := range slices.Sorted(maps.Keys(f.Models)) {
		if e := wrongSetting("models."+name+".", f.Models[name].Or(f.Settings)); e != nil {
			return e
		}
	}
	if _, err := winnow.NewToolKinds(f.Tools); err != nil {
		return settingError("", err)
	}
	if f.Keep.Bytes < -1 || f.Keep.Sessions < -1 {
		key := "keep.bytes"
		if f.Keep.Bytes >= -1 {
			key = "keep.sessions"
		}
		return &SettingError{Key: key, Message: "must not be negative; -1 switches it off, 0 means not set"}
	}
	for i := range f.Hooks {
		if err := f.Hooks[i].Validate(); err != nil {
			return &SettingError{Key: fmt.Sprintf("hooks.%d", i), Message: err.Error()}
		}
	}
	if _, err := f.SummaryTime(); err != nil {
		return &SettingError{Key: "summarizer_timeout", Message: err.Error()}
	}
	return nil
}

// SummaryTime returns the most time for one summary; 0 is the default.
func (f *File) SummaryTime() (time.Duration, error) {
	d, err := time.ParseDuration(cmp.Or(f.SummarizerTimeout, "0"))
	if err != nil || d <= 0 && f.SummarizerTimeout != "" {
		return 0, fmt.Errorf("%s: give a duration such as 90s or 5m", f.SummarizerTimeout)
	}
	return d, nil
}

// WrongPreset says what is wrong with the name of a preset; "" is nothing.
func WrongPreset(name string) string {
	names := winnow.PresetNames()
	if slices.Contains(names, name) {
		return ""
	}
	there := "here are " + strings.Join(names, ", ")
	if best := spelling.Nearest(name, names); best != "" {
		return "there is no such preset; did you mean " + best + "? T" + there
	}
	return "there is no such preset; t" + there
}

// wrongSetting returns what is wrong with settings of the engine.
func wrongSetting(prefix string, s winnow.Settings) *SettingError {
	err := s.Validate()
	if err == nil {
		return nil
	}
	if wrong, ok := err.(*winnow.SettingsError); ok && wrong.Field == "preset" { //nolint:errorlint // it is never wrapped
		wrong.Problem = WrongPreset(s.Preset)
	}
	return settingError(prefix, err)
}

// settingError names the key of an error of the engine's.
func settingError(prefix string, err error) *SettingError {
	if wrong, ok := err.(*winnow.SettingsError); ok { //nolint:errorlint // it is never wrapped
		return &SettingError{Key: prefix + wrong.Field, Message: fmt.Sprintf("%v: %s", wrong.Value, wrong.Problem)}
	}
	return &SettingError{Key: strings.TrimSuffix(prefix, "."), Message: err.Error()}
}
