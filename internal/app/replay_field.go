package app

import (
	"cmp"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/winnow-llm/winnow/internal/app/peers"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/model"
)

// addField adds the flags of --field.
func (f *replayFlags) addField(fl *pflag.FlagSet) {
	fl.BoolVar(&f.field, "field", false, "only measure single compactions in today's windows, with a fixed part in every request")
	fl.BoolVar(&f.search, "search", false, "only measure what one search in what is hidden finds of the next edits")
	fl.BoolVar(&f.alone, "alone", false, "only compare whole sessions with the agents that wrote them, alone with their own compaction: when, how often, dollars, waits")
	fl.StringSliceVar(&f.fixed, "fixed", nil, "`TOKENS` of system prompt and tools in every request; winnow then decides itself when to compact")
	fl.StringSliceVar(&f.targets, "targets", nil, "with --field: whole prompts in `TOKENS` to aim at besides (default 80000,100000,120000; none)")
	fl.Float64Var(&f.at, "at", 0, "with --field: `SHARE` of the room at which sessions are cut (default: where winnow would with nothing set)")
	fl.IntVar(&f.limit, "limit", 0, "with --field: `MANY` sessions only, drawn by --seed")
}

// replayField prints what the field's measures say.
func (a *app) replayField(cmd *cobra.Command, args []string, f *replayFlags, windows, fixed []int) error {
	if f.at < 0 || f.at > 1 {
		return usageErrorf("--at %v: must be a share between 0 and 1", f.at)
	}
	if windows != nil && len(windows) == 0 {
		return usageErrorf("--field looks at windows; name one with --window")
	}
	targets, err := parseTokenList("--targets", f.targets)
	if err != nil {
		return err
	}
	if targets == nil {
		targets = []int{80_000, 100_000, 120_000}
	}
	o := &replay.FieldOptions{Targets: targets, Limit: f.limit, Seed: f.seed}
	if o.Places, err = f.placesFor(windows, fixed); err != nil {
		return err
	}
	return a.measureBoard(cmd, args, f, &o.Progress, func(d *replay.Data) (board, error) { return replay.Field(cmd.Context(), d, o) })
}

// replayAlone prints whole sessions beside the agents that wrote them: in the usual
// places, or in each window with each fixed part.
func (a *app) replayAlone(cmd *cobra.Command, args []string, f *replayFlags, windows, fixed []int) error {
	o := &replay.AloneOptions{Alone: peers.Alone()}
	for _, p := range eachPlace(windows, fixed) {
		o.Places = append(o.Places, replay.AlonePlace{Window: p.Window, Fixed: p.Fixed})
	}
	return a.measureBoard(cmd, args, f, &o.Progress, func(d *replay.Data) (board, error) { return replay.Alone(cmd.Context(), d, o) })
}

// eachPlace is each window with each fixed part; nil, the usual places, where neither
// is named.
func eachPlace(windows, fixed []int) (out []replay.Place) {
	if windows == nil && fixed != nil {
		windows = []int{200_000}
	}
	if fixed == nil {
		fixed = []int{0}
	}
	for _, w := range windows {
		for _, n := range fixed {
			out = append(out, replay.Place{Window: w, Fixed: n})
		}
	}
	return out
}

// fixedParts reads --fixed.
func (f *replayFlags) fixedParts() ([]int, error) {
	var out []int
	for _, v := range f.fixed {
		n, err := parseTokens(v)
		if err != nil || n < 0 {
			return nil, usageErrorf("--fixed %s: must be a number of tokens", v)
		}
		out = append(out, n)
	}
	return out, nil
}

// placesFor returns the places that the flags name: each window with each fixed
// part, or the usual ones of them.
func (f *replayFlags) placesFor(windows, fixed []int) ([]replay.Place, error) {
	var out []replay.Place
	for _, p := range replay.Places() {
		if fixed == nil && (windows == nil || slices.Contains(windows, p.Window)) {
			out = append(out, p)
		}
	}
	if windows == nil {
		windows = []int{200_000}
	}
	for _, w := range windows {
		for _, n := range fixed {
			out = append(out, replay.Place{Window: w, Fixed: n}, replay.Place{Window: w, Fixed: n, Marked: true})
		}
	}
	if len(out) == 0 {
		return nil, usageErrorf("--window: say with --fixed how many tokens system prompt and tools have there")
	}
	for i := range out {
		out[i].At = f.at
	}
	return out, nil
}

// ownWindow is what --window takes for the windows of the sessions themselves.
const ownWindow = "own"

// ownWindows returns the windows in which the sessions of files were recorded, as
// check says them: stated, proven, the agent's or the model's. It says for each
// where it is known from.
func (a *app) ownWindows(paths []string) ([]int, error) {
	var out []int
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return nil, usageErrorf("--window %s: %s is a folder, whose sessions may have many windows; name files", ownWindow, path)
		}
		in, err := source.Load(path, nil, "")
		if err != nil {
			return nil, err
		}
		for i := range in.Sessions {
			s := &in.Sessions[i]
			m := model.Default().Lookup(s.Model)
			w := s.Window(m)
			tokens, why := w.Tokens, w.Why
			if tokens == 0 {
				tokens, why = m.Context, "the window of "+cmp.Or(s.Model, "an unknown model")
			}
			if tokens == 0 {
				return nil, usageErrorf("--window %s: neither %s nor its model states a window; name one", ownWindow, path)
			}
			a.say("%s: window %s: %s", path, number(tokens), why)
			if !slices.Contains(out, tokens) {
				out = append(out, tokens)
			}
		}
	}
	return out, nil
}
