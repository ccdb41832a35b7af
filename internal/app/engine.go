package app

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/model"
)

// settingFlags are the flags that set a setting for this run, with its key.
var settingFlags = map[string]string{
	"preset": "preset", "window": "window", "output-reserve": "output_reserve", "exact": "exact", "estimator": "systems.estimator",
	"threshold": "threshold", "stages": "systems.stages", "keep-recent": "keep_recent", "focus": "focus", "summarizer": "summarizer",
	"compact-threshold": "threshold", "max-tokens": "output_reserve",
}

// modelFlags are the flags of commands that need a model's limits.
type modelFlags struct{ flags *pflag.FlagSet }

func (f *modelFlags) addTo(cmd *cobra.Command) {
	f.flags = cmd.Flags()
	f.flags.String("model", "", "`NAME` of the model, instead of the one in the file")
	addPreset(cmd)
	tokensVar(f.flags, new(int), "window", 0, "the model's window in `TOKENS`")
	tokensVar(f.flags, new(int), "output-reserve", 0, "`TOKENS` to leave for the answer")
	f.flags.Bool("exact", false, "count with a real vocabulary: slower, but more accurate")
	addEstimator(cmd)
	f.flags.StringArray("set", nil, "set `KEY=VALUE` for this run only; winnow config print lists the keys (repeatable)")
}

// addPreset adds the flag for a preset.
func addPreset(cmd *cobra.Command) {
	cmd.Flags().String("preset", "", "`NAME` of a preset, which fills in settings that you leave unset: "+strings.Join(winnow.PresetNames(), ", "))
}

// addEstimator adds the flag for the way in which tokens are counted.
func addEstimator(cmd *cobra.Command) {
	cmd.Flags().String("estimator", "", "count as the system `NAME` does: umbra, pi, picoclaw, operator-use, neurolink, chars/4 (default winnow)")
}

// setFlags puts the [settingFlags] that were given into settings, then those of --set.
func setFlags(flags *pflag.FlagSet, f *config.File) error {
	var wrong error
	flags.Visit(func(x *pflag.Flag) {
		value := x.Value.String()
		if list, ok := x.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		switch key := settingFlags[x.Name]; {
		case x.Value.Type() == "stringArray": // of serve, which reserves by model
		case key == "preset" && value != "" && config.WrongPreset(value) != "":
			wrong = cmp.Or(wrong, usageErrorf("--preset %s: %s", value, config.WrongPreset(value)))
		case key != "":
			wrong = cmp.Or(wrong, f.Set(key, value))
		}
	})
	if wrong != nil {
		return wrong
	}
	set, _ := flags.GetStringArray("set") // none where the command has no such flag
	for _, text := range set {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return usageErrorf("--set %s: write KEY=VALUE, for example threshold=0.8", text)
		}
		if err := f.Set(key, value); err != nil {
			return usageErrorf("--set %s: %v", text, err)
		}
	}
	return nil
}

// applyToSettings puts flags into settings, and the file's model where nothing else
// names one. The file's agent decides about the window then, unless a person
// does; see [source.Session.Window].
func (f *modelFlags) applyToSettings(l *loaded, s *source.Session) error {
	name, _ := f.flags.GetString("model") // none where the command has no such flag
	l.Model = cmp.Or(name, l.Model)
	if s != nil {
		l.Model = cmp.Or(l.Model, s.Model)
	}
	provider, name, ok := strings.Cut(l.Model, "/")
	if !ok {
		provider, name = "", l.Model
	}
	l.Settings = l.For(provider, name)
	if err := setFlags(f.flags, &l.File); err != nil {
		return err
	}
	if s != nil && f.flags.Changed("output-reserve") {
		s.Request.Output = l.OutputReserve
	}
	if l.agent = (model.Window{}); s == nil || l.Model != s.Model { // of another model it says nothing
		return nil
	}
	r, err := l.modelRegistry()
	if err == nil {
		l.agent = s.Window(r.Lookup(l.Model))
	}
	return err
}

// engineFor puts flags into settings, and makes the engine for a session.
func (l *loaded) engineFor(f *modelFlags, s *source.Session) (*winnow.Winnow, error) {
	if err := f.applyToSettings(l, s); err != nil {
		return nil, err
	}
	return l.newEngine()
}

// knownState returns what a session's file tells about it: what its provider reported,
// and how large the whole body is.
func knownState(w *winnow.Winnow, s *source.Session) winnow.State {
	state := s.Known(w)
	state.Encoded = s.Size("")
	return state
}

// newEngine makes a Winnow of settings.
func (l *loaded) newEngine() (*winnow.Winnow, error) {
	r, err := l.modelRegistry()
	if err != nil {
		return nil, err
	}
	return winnow.New(&winnow.Options{Settings: l.Settings, Registry: r, Summarizer: l.writer, Kinds: l.Kinds(), Agent: l.agent})
}

// parseTokens reads a number of tokens as people write it: 200000, 200k or 1.5m.
func parseTokens(text string) (int, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	var unit float64
	switch {
	case strings.HasSuffix(text, "k"):
		text, unit = text[:len(text)-1], 1e3
	case strings.HasSuffix(text, "m"):
		text, unit = text[:len(text)-1], 1e6
	default:
		return strconv.Atoi(text)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err == nil && (n != n || n < -1e6 || n > 1e6) {
		err = strconv.ErrRange
	}
	return int(n * unit), err
}

// tokenCount is a flag whose value is a number of tokens.
type tokenCount int

func (n *tokenCount) String() string { return strconv.Itoa(int(*n)) }

func (n *tokenCount) Type() string { return "number of tokens such as 64000, 200k or 1m" }

func (n *tokenCount) Set(text string) error {
	v, err := parseTokens(text)
	*n = tokenCount(v)
	return err
}

// checkNumbers refuses numbers that make no sense for any flag: negative ones, shares
// above the whole, and 0 where that is neither the default nor explained.
func checkNumbers(flags *pflag.FlagSet) (wrong error) {
	flags.Visit(func(f *pflag.Flag) {
		text, kind := f.Value.String(), "a positive number"
		least, most := math.SmallestNonzeroFloat64, math.Inf(1)
		_, tokens := f.Value.(*tokenCount)
		if f.DefValue == text && !tokens || strings.Contains(f.Usage, "0 lists all") || slices.Contains([]string{"entries", "keep-recent", "workers"}, f.Name) {
			least = 0
		}
		n, err := strconv.ParseFloat(text, 64)
		switch f.Value.Type() {
		case "int", "float64":
			if word, _ := pflag.UnquoteUsage(f); word == "SHARE" {
				most = map[bool]float64{true: 10, false: 1}[f.Name == "fail-over"] // a session may be larger than its window
				kind = fmt.Sprintf("a share between 0 and %v", most)
			}
		case "duration":
			d, _ := time.ParseDuration(text) // it was read before
			n, err, kind = float64(d), nil, "a positive time, for example 720h"
		default:
			if kind = "a positive number of tokens"; !tokens {
				return
			}
		}
		if err != nil || n < least || n > most {
			wrong = cmp.Or(wrong, usageErrorf("--%s %s: must be %s", f.Name, text, kind))
		}
	})
	return wrong
}

// tokensVar declares a flag that takes a number of tokens.
func tokensVar(fs *pflag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	fs.Var((*tokenCount)(p), name, usage)
}
