package app

import (
	"bytes"
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/peers"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/model"
)

// replayFlags are the flags of winnow replay.
type replayFlags struct {
	policies, windows           []string
	model                       string
	trigger                     float64
	edits, field, alone, search bool
	fixed, targets              []string
	at                          float64
	limit                       int
	read                        int
	seed                        uint64
	markdown, commit            string
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE…",
		Short: "Measure compaction policies on recorded sessions",
		Example: `  winnow replay session.jsonl                               every policy, a window of 64,000
  winnow replay sessions/                                   a folder
  winnow replay session.jsonl --policy winnow,pi --window 32000,128000
  winnow replay sessions/ --edits                           only: are the next edits ready?
  winnow replay sessions/ --edits --policy target-20000,default
  winnow replay sessions/ --field                           the same in today's windows
  winnow replay sessions/ --field --window 200000 --fixed 42000 --targets 80000,120000
  winnow replay sessions/ --alone                           whole sessions beside each agent alone
  winnow replay sessions/ --search                          does one search find what is hidden?
  winnow replay sessions/ --read 10 --seed 7                ten compactions to read`,
		Long: `Replays recorded sessions under compaction policies, offline and without a model. It
measures whether the text of the agent's next edits is still there, what it would have
cost, and whether a provider would have accepted the requests. Rows marked * are
simulated: a stand-in of the usual size takes the place of an LLM's summary. Tokens are
counted with the tables of the o200k vocabulary.`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.asRunE(func(cmd *cobra.Command, args []string) error { return a.runReplay(cmd, args, &f) }),
	}
	fl := cmd.Flags()
	fl.StringSliceVar(&f.policies, "policy", nil, "`NAMES` of policies (default: all)")
	fl.StringSliceVar(&f.windows, "window", nil, "windows in `TOKENS` (default 64000; own: those that the sessions were recorded in; none: no replay of whole sessions)")
	fl.StringVar(&f.model, "model", "", "`MODEL` whose prices are charged (default claude-opus-5-5)")
	fl.Float64Var(&f.trigger, "trigger", 0.8, "`SHARE` of the window at which every policy compacts")
	fl.BoolVar(&f.edits, "edits", false, "only measure whether the next edits are ready right after a compaction, compared with other views of the same size")
	fl.IntVar(&f.read, "read", 0, "only print this `MANY` compactions as the model would read them, and what the agent did next")
	fl.Uint64Var(&f.seed, "seed", 1, "seed `NUMBER` for the compactions that --read picks, and the sessions that --limit does")
	f.addField(fl)
	fl.StringVar(&f.markdown, "markdown", "", "write the tables as Markdown to `FILE`")
	fl.StringVar(&f.commit, "commit", "", "`NAME` of the commit for the written reports")
	return cmd
}

func (a *app) runReplay(cmd *cobra.Command, args []string, f *replayFlags) error {
	o := &replay.Options{Policies: peers.Policies(), Trigger: f.trigger, Edits: len(f.policies) == 0}
	if f.trigger <= 0 || f.trigger > 1 {
		return usageErrorf("--trigger %v: must be a share between 0 and 1", f.trigger)
	}
	var err error
	if len(f.windows) == 1 && f.windows[0] == ownWindow {
		o.Windows, err = a.ownWindows(args)
		o.Heard = !cmd.Flags().Changed("fixed")
	} else {
		o.Windows, err = parseTokenList("--window", f.windows)
	}
	if err != nil {
		return err
	}
	if f.model != "" {
		o.Model = model.Default().Lookup(f.model)
		if !o.Model.Prices.Known() || o.Model.Source.Guess() {
			return usageErrorf("--model %s: its prices are not known; see winnow models", f.model)
		}
	}
	if f.read != 0 {
		return a.replayRead(cmd, args, f, o.Windows)
	}
	fixed, err := f.fixedParts()
	if err != nil {
		return err
	}
	if f.field {
		return a.replayField(cmd, args, f, o.Windows, fixed)
	}
	if f.search {
		o := &replay.PlaceOptions{Places: eachPlace(o.Windows, fixed)}
		return a.measureBoard(cmd, args, f, &o.Progress, func(d *replay.Data) (board, error) { return replay.Searches(cmd.Context(), d, o) })
	}
	if f.alone {
		return a.replayAlone(cmd, args, f, o.Windows, fixed)
	}
	if len(fixed) > 1 {
		return usageErrorf("--fixed: only --field takes more than one")
	}
	if len(fixed) == 1 {
		o.Fixed = fixed[0]
	}
	if f.edits {
		return a.replayEdits(cmd, args, f, o.Windows)
	}
	if len(f.policies) > 0 {
		if o.Policies, err = peers.ByName(f.policies...); err != nil {
			return usageErrorf("--policy: %s", strings.TrimPrefix(err.Error(), "replay: "))
		}
	}
	return a.measureBoard(cmd, args, f, &o.Progress, func(d *replay.Data) (board, error) { return replay.Run(cmd.Context(), d, o) })
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
		if err := writeReport(f, start, page.Markdown); err != nil {
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
func (a *app) replayRead(cmd *cobra.Command, args []string, f *replayFlags, windows []int) error {
	r := replay.Reading{Count: f.read, Seed: f.seed}
	switch {
	case f.read < 0 || a.asJSON || f.edits:
		return usageErrorf("--read only prints compactions as text; it does not go with the other reports")
	case len(windows) > 1 || len(f.policies) > 1 || windows != nil && len(windows) == 0:
		return usageErrorf("--read looks at one window and one policy")
	case len(windows) == 1:
		r.Window = windows[0]
	}
	if len(f.policies) == 1 {
		viewers, err := replay.ViewersByName(f.policies...)
		if err != nil {
			return usageErrorf("--policy: %s", strings.TrimPrefix(err.Error(), "replay: "))
		}
		r.Viewer = viewers[0]
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

// replayEdits prints whether the next edits are ready.
func (a *app) replayEdits(cmd *cobra.Command, args []string, f *replayFlags, windows []int) error {
	o := &replay.NextOptions{}
	switch {
	case len(windows) > 1 || windows != nil && len(windows) == 0:
		return usageErrorf("--edits looks at one window; name one with --window")
	case len(windows) == 1:
		o.Window = windows[0]
	}
	var err error
	if len(f.policies) > 0 {
		if o.Viewers, err = replay.ViewersByName(f.policies...); err != nil {
			return usageErrorf("--policy: %s", strings.TrimPrefix(err.Error(), "replay: "))
		}
	}
	return a.measureBoard(cmd, args, f, &o.Progress, func(d *replay.Data) (board, error) { return replay.RunNext(cmd.Context(), d, o) })
}

// reportArgs says how a report can be made again, without the places of this
// machine.
func reportArgs(f *replayFlags) []string {
	args := []string{"replay", "SESSIONS"}
	if f.alone {
		args = append(args, "--alone")
	}
	for _, l := range []struct {
		name   string
		values []string
	}{{"--policy", f.policies}, {"--window", f.windows}, {"--fixed", f.fixed}} {
		if len(l.values) > 0 {
			args = append(args, l.name, strings.Join(l.values, ","))
		}
	}
	if f.model != "" {
		args = append(args, "--model", f.model)
	}
	return args
}

// writeReport writes the page that --markdown asked for.
func writeReport(f *replayFlags, start time.Time, write func(io.Writer, replay.Made) error) error {
	made := replay.Made{Date: start.Format("2006-01-02"), Commit: cmp.Or(f.commit, thisBuild().Version), Command: "winnow " + strings.Join(reportArgs(f), " ")}
	var buf bytes.Buffer
	if err := write(&buf, made); err != nil {
		return err
	}
	return writeOutput(f.markdown, buf.Bytes())
}

// parseTokenList reads a list of positive numbers. No list is nil, "none" an empty one.
func parseTokenList(flag string, values []string) ([]int, error) {
	if len(values) == 0 {
		return nil, nil
	}
	if len(values) == 1 && values[0] == "none" {
		return []int{}, nil
	}
	var out []int
	for _, v := range values {
		n, err := parseTokens(v)
		if err != nil || n < 500 {
			return nil, usageErrorf("%s %s: must be a number of tokens, at least 500", flag, v)
		}
		out = append(out, n)
	}
	return out, nil
}
