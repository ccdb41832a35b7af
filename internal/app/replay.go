package app

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/peers"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/model"
)

// replayFlags are the flags of winnow replay.
type replayFlags struct {
	policies, windows, fixed, targets []string
	model, markdown, commit           string
	at                                float64
	edits, field, alone, search       bool
	read                              int
	seed                              uint64
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := newCommand("replay FILE…", "Measure compaction policies on recorded sessions", `
  winnow replay session.jsonl                               every policy, a window of 64,000
  winnow replay sessions/                                   a folder
  winnow replay session.jsonl --policy winnow,pi --window 32000,128000
  winnow replay sessions/ --edits                           only: are the next edits ready?
  winnow replay sessions/ --field                           the same in today's windows
  winnow replay sessions/ --field --window 200000 --fixed 42000 --targets 80000,120000
  winnow replay sessions/ --alone                           whole sessions beside each agent alone
  winnow replay sessions/ --search                          does one search find what is hidden?
  winnow replay sessions/ --read 10 --seed 7                ten compactions to read
  winnow replay sessions/ --read 10 --window 200000 --fixed 42000

Replays recorded sessions under compaction policies, offline and without a model. It
measures whether the text of the agent's next edits is still there, what it would have
cost, and whether a provider would have accepted the requests. Rows marked * are
simulated: a stand-in of the usual size takes the place of an LLM's summary. Tokens are
counted with the tables of the o200k vocabulary.`,
		cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error { return a.runReplay(cmd, args, &f) })
	fl := cmd.Flags()
	fl.StringSliceVar(&f.policies, "policy", nil, "`NAMES` of policies (default: all)")
	fl.StringSliceVar(&f.windows, "window", nil, "windows in `TOKENS` (default 64000)")
	fl.StringVar(&f.model, "model", "", "`MODEL` whose prices are charged (default claude-opus-5-5)")
	fl.BoolVar(&f.edits, "edits", false, "only measure whether the next edits are ready right after a compaction, compared with other views of the same size")
	fl.IntVar(&f.read, "read", 0, "only print this `MANY` compactions as the model would read them, and what the agent did next")
	fl.Uint64Var(&f.seed, "seed", 1, "seed `NUMBER` for the compactions that --read picks, and the places without one that --field looks at")
	fl.BoolVar(&f.field, "field", false, "only measure single compactions in today's windows, with a fixed part in every request")
	fl.BoolVar(&f.search, "search", false, "only measure what one search in what is hidden finds of the next edits")
	fl.BoolVar(&f.alone, "alone", false, "only compare whole sessions with the agents that wrote them, alone with their own compaction: when, how often, dollars, waits")
	fl.StringSliceVar(&f.fixed, "fixed", nil, "`TOKENS` of system prompt and tools in every request; winnow then decides itself when to compact")
	fl.StringSliceVar(&f.targets, "targets", []string{"80000", "100000", "120000"}, "with --field: whole prompts in `TOKENS` to aim at besides")
	fl.Float64Var(&f.at, "at", 0, "with --field: `SHARE` of the room at which sessions are cut (default: where winnow would with nothing set)")
	fl.StringVar(&f.markdown, "markdown", "", "write the tables as Markdown to `FILE`")
	fl.StringVar(&f.commit, "commit", "", "`NAME` of the commit for the written reports")
	cmd.MarkFlagsMutuallyExclusive("edits", "field", "alone", "search", "read")
	cmd.MarkFlagsMutuallyExclusive("policy", "edits")
	cmd.MarkFlagsMutuallyExclusive("fixed", "edits")
	cmd.MarkFlagsMutuallyExclusive("policy", "read")
	return cmd
}

// runReplay has the board made that the flags ask for.
func (a *app) runReplay(cmd *cobra.Command, args []string, f *replayFlags) error {
	const leastWindow = 500
	windows, err := parseTokenList("--window", f.windows, leastWindow)
	if err != nil {
		return err
	}
	fixed, err := parseTokenList("--fixed", f.fixed, 0)
	if err != nil {
		return err
	}
	targets, err := parseTokenList("--targets", f.targets, leastWindow)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	var crew replay.Crew
	switch {
	case f.read != 0:
		return a.replayRead(cmd, args, f, eachPlace(windows, fixed))
	case f.field:
		o := &replay.FieldOptions{Targets: targets, Seed: f.seed}
		if o.Places, err = fieldPlaces(windows, fixed, f.at); err != nil {
			return err
		}
		return a.measureBoard(cmd, args, f, &o.Progress, func(d *replay.Data) (board, error) { return replay.Field(ctx, d, o) })
	case f.search:
		return a.measureBoard(cmd, args, f, &crew.Progress, func(d *replay.Data) (board, error) {
			return replay.Searches(ctx, d, eachPlace(windows, fixed), &crew)
		})
	case f.alone:
		var places []replay.AlonePlace
		for _, p := range eachPlace(windows, fixed) {
			places = append(places, replay.AlonePlace{Window: p.Window, Fixed: p.Fixed})
		}
		return a.measureBoard(cmd, args, f, &crew.Progress, func(d *replay.Data) (board, error) {
			return replay.Alone(ctx, d, peers.Alone(), places, &crew)
		})
	case f.edits:
		if len(windows) > 1 {
			return usageErrorf("--edits looks at one window; name one with --window")
		}
		window := 0
		if windows != nil {
			window = windows[0]
		}
		return a.measureBoard(cmd, args, f, &crew.Progress, func(d *replay.Data) (board, error) { return replay.RunNext(ctx, d, window, &crew) })
	}
	o := &replay.Options{Policies: peers.Policies(), Windows: windows, Edits: len(f.policies) == 0}
	if f.model != "" {
		o.Model = model.Default().Lookup(f.model)
		if !o.Model.Prices.Known() || o.Model.Source.Guess() {
			return usageErrorf("--model %s: its prices are not known; see winnow models", f.model)
		}
	}
	if len(fixed) > 1 {
		return usageErrorf("--fixed: only --field, --search and --alone take more than one")
	}
	if len(fixed) == 1 {
		o.Fixed = fixed[0]
	}
	if len(f.policies) > 0 {
		if o.Policies, err = peers.ByName(f.policies...); err != nil {
			return usageErrorf("--policy: %s", strings.TrimPrefix(err.Error(), "replay: "))
		}
	}
	return a.measureBoard(cmd, args, f, &o.Progress, func(d *replay.Data) (board, error) { return replay.Run(ctx, d, o) })
}

// board is what a measurement gives.
type board interface{ Table(out io.Writer) error }

// measureBoard reads the sessions, has a board made of them and prints it, and writes
// the page that --markdown asks for where the board has one. tell is set to what shows
// the progress.
func (a *app) measureBoard(cmd *cobra.Command, args []string, f *replayFlags, tell *func(done, total int, what string), measure func(*replay.Data) (board, error)) error {
	start := time.Now()
	data, err := a.loadReplayData(cmd, args)
	if err != nil {
		return err
	}
	b, err := awaitShown(cmd.Context(), a, "measuring", func(p *progress) (board, error) {
		*tell = p.set
		return measure(data)
	})
	if err != nil {
		return err
	}
	if page, ok := b.(interface {
		Markdown(out io.Writer, made replay.Made) error
	}); ok && f.markdown != "" {
		var text bytes.Buffer
		made := replay.Made{Date: start.Format("2006-01-02"), Commit: cmp.Or(f.commit, thisBuild().Version), Command: f.command()}
		if err := page.Markdown(&text, made); err != nil {
			return err
		}
		if err := writeOutput(f.markdown, text.Bytes()); err != nil {
			return err
		}
	}
	if a.asJSON {
		return a.printJSON(b)
	}
	if err := b.Table(a.stdout); err != nil {
		return err
	}
	a.say("%s measured in %.0f s", plural(len(data.Sessions), "session"), time.Since(start).Seconds())
	return nil
}

// loadReplayData reads the sessions, and says which it left out.
func (a *app) loadReplayData(cmd *cobra.Command, args []string) (*replay.Data, error) {
	data, err := awaitShown(cmd.Context(), a, "reading", func(*progress) (*replay.Data, error) { return replay.Load(args...) })
	if err != nil {
		return nil, err
	}
	for _, s := range data.Skipped {
		a.say("left out: %s", s)
	}
	return data, nil
}

// replayRead prints compactions.
func (a *app) replayRead(cmd *cobra.Command, args []string, f *replayFlags, places []replay.Place) error {
	if f.read < 0 || a.asJSON {
		return usageErrorf("--read prints a number of compactions as text")
	}
	r := replay.Reading{Count: f.read, Seed: f.seed}
	switch len(places) {
	case 0:
	case 1:
		r.Window, r.Fixed = places[0].Window, places[0].Fixed
	default:
		return usageErrorf("--read looks at one place; name one window and one fixed part")
	}
	data, err := a.loadReplayData(cmd, args)
	if err != nil {
		return err
	}
	text, err := await(cmd.Context(), func() (string, error) {
		var b strings.Builder
		err := replay.Read(cmd.Context(), &b, data, r)
		return b.String(), err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.stdout, text)
	return err
}

// command says how a report can be made again, without the places of this machine.
func (f *replayFlags) command() string {
	words := []string{"winnow replay SESSIONS"}
	if f.alone {
		words = append(words, "--alone")
	}
	for _, l := range []struct {
		name   string
		values []string
	}{{"--policy", f.policies}, {"--window", f.windows}, {"--fixed", f.fixed}} {
		if len(l.values) > 0 {
			words = append(words, l.name, strings.Join(l.values, ","))
		}
	}
	if f.model != "" {
		words = append(words, "--model", f.model)
	}
	return strings.Join(words, " ")
}

// parseTokenList reads a list of numbers of tokens, none below the least. No list is nil.
func parseTokenList(flag string, values []string, least int) (out []int, err error) {
	for _, v := range values {
		n, err := parseTokens(v)
		if err != nil || n < least {
			return nil, usageErrorf("%s %s: must be a number of tokens, at least %d", flag, v, least)
		}
		out = append(out, n)
	}
	return out, nil
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

// fieldPlaces returns the places of --field: each window with each fixed part, as a
// request has it and as the file marks it, or the usual places in the windows.
func fieldPlaces(windows, fixed []int, at float64) ([]replay.Place, error) {
	var out []replay.Place
	if fixed == nil {
		for _, p := range replay.Places() {
			if windows == nil || slices.Contains(windows, p.Window) {
				out = append(out, p)
			}
		}
	} else {
		for _, p := range eachPlace(windows, fixed) {
			marked := p
			marked.Marked = true
			out = append(out, p, marked)
		}
	}
	if len(out) == 0 {
		return nil, usageErrorf("--window: say with --fixed how many tokens system prompt and tools have there")
	}
	for i := range out {
		out[i].At = at
	}
	return out, nil
}
