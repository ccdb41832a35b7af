package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/insights"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/model"
)

type insightsFlags struct {
	since, html, model string
	all, verbose       bool
	window, top        int
}

func (a *app) insightsCommand() *cobra.Command {
	var f insightsFlags
	cmd := newCommand("insights [FILE-OR-FOLDER]…", "Show what compaction cost in your own sessions", `
  winnow insights
  winnow insights --since 90d --html insights.html
  winnow insights ~/work/sessions --all --json

Reads the sessions that agents left on this machine, or those in the places that
you name, and shows what they cost in the last 30 days and would have cost with
winnow, and what compaction did: how often, the minutes waited, what was read again,
the worst moments and the sessions that suffered most. Nothing leaves the machine.

winnow looks in the folders of Claude Code, Codex, pi, OpenCode and Gemini CLI. A
session counts for the period in which it was last used. Unreadable files are
counted; --verbose names each.

Dollars are added up from the usage that the files record; calls that wrote summaries
are in no file and are estimated. Every session is then replayed by the rules of winnow
replay, with its pauses: as its agent compacted it, and as winnow would have, in the
same window and at the prices of the same model. The bill with winnow is the recorded
one, changed as the replays differ. Waits are those that the files record; a summary
without one counts as 73 seconds, the median seen in the field. A read is a re-read if,
within 30 calls after a compaction, it brings back text that was in the context before.
An edit is ready if the text that it replaces is in what was sent right after the
compaction.`, nil, func(cmd *cobra.Command, args []string) error { return a.runInsights(cmd, args, &f) })
	fl := cmd.Flags()
	fl.StringVar(&f.since, "since", "30d", "`WHEN` the period starts: days (30d), weeks (4w) or a date (2006-01-31)")
	fl.BoolVar(&f.all, "all", false, "all sessions, however old")
	fl.StringVar(&f.html, "html", "", "write a page with plots to `FILE`")
	fl.BoolVar(&f.verbose, "verbose", false, "name each file that could not be read, and why")
	tokensVar(fl, &f.window, "window", 0, "window for all sessions in `TOKENS`, instead of each agent's own")
	fl.StringVar(&f.model, "model", "", "`NAME` of the model whose prices apply to sessions whose own model has no known prices")
	fl.IntVar(&f.top, "top", 10, "`NUMBER` of sessions to list")
	return cmd
}

func (a *app) runInsights(cmd *cobra.Command, args []string, f *insightsFlags) error {
	start := time.Now()
	o := insights.Options{Window: f.window, Worst: f.top, Model: f.model}
	var err error
	switch {
	case f.all && cmd.Flags().Changed("since"):
		return usageErrorf("--all and --since: choose one")
	case cmd.Flags().Changed("window") && f.window < 500:
		return usageErrorf("--window %d: must be a number of tokens, at least 500", f.window)
	case !f.all:
		if o.Since, err = parseSince(f.since, start); err != nil {
			return err
		}
	}
	if m := model.Default().Lookup(f.model); f.model != "" && (!m.Prices.Known() || m.Source.Guess()) {
		return usageErrorf("--model %s: its prices are not known; see winnow models", f.model)
	}
	if o.Agents, err = a.sessionPlaces(args); err != nil {
		return err
	}
	if len(args) == 1 {
		makeRoom(args[0])
	}
	var skipped []string
	if f.verbose {
		// Lines would break into the progress: they come after it.
		o.Skipped = func(path string, err error) {
			skipped = append(skipped, path+strings.TrimPrefix(": "+err.Error(), ": "+path)) // some errors name it already
		}
	}
	report, err := awaitShown(cmd.Context(), a, "looking for sessions", func(p *progress) (*insights.Report, error) {
		o.Progress = func(done, total int) { p.set(done, total, "reading sessions") }
		return insights.Run(cmd.Context(), o)
	})
	if err != nil {
		return err
	}
	for _, line := range skipped {
		a.say("left out: %s", line)
	}
	if f.html != "" {
		page, err := report.HTML(start)
		if err != nil {
			return err
		}
		if err := writeOutput(f.html, page); err != nil {
			return err
		}
	}
	return a.printResult(report, func() {
		a.showInsights(report, f)
		a.say("read %s in %.1f s", plural(report.Files+report.Older+report.Skipped, "file"), time.Since(start).Seconds())
	})
}

// sessionPlaces returns the places that a person named, or those of the agents.
func (a *app) sessionPlaces(args []string) ([]agents.Agent, error) {
	if len(args) == 0 {
		return agents.Known(a.homeDir(), a.getenv), nil
	}
	var out []agents.Agent
	for _, path := range args {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%s: %s; name a session file or a folder of them", path, causeText(err))
		}
		out = append(out, agents.Named(path))
	}
	return out, nil
}

// homeDir returns the user's folder; "" where nobody knows.
func (a *app) homeDir() string {
	if h := a.getenv("HOME"); h != "" {
		return h
	}
	h, _ := os.UserHomeDir()
	return h
}

// parseSince reads the start of a period: days or weeks before now, or a date.
func parseSince(s string, now time.Time) (time.Time, error) {
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		n, err := strconv.Atoi(strings.TrimSuffix(s, unit))
		if strings.HasSuffix(s, unit) && err == nil && n > 0 && n < 100_000 {
			return now.AddDate(0, 0, -n*days), nil
		}
	}
	return time.Time{}, usageErrorf("--since %s: write days (30d), weeks (4w) or a date (2006-01-31)", s)
}

// showInsights prints the report for people.
func (a *app) showInsights(r *insights.Report, f *insightsFlags) {
	st, out := a.styleFor(a.stdout), a.stdout
	period := "of all time"
	if r.Since != "" {
		period = "since " + r.Since
	}
	left := ""
	if r.Skipped > 0 {
		left = fmt.Sprintf(", %s left out", plural(r.Skipped, "file"))
		if !f.verbose {
			left += " (--verbose says why)"
		}
	}
	switch {
	case r.Files+r.Older == 0:
		a.showNowhere(r, left)
		return
	case r.Sessions == 0:
		st.Prose(out, "", fmt.Sprintf("No session was used %s, but there are %s older ones%s. --all includes everything, --since 90d looks further back.", period, number(r.Older), left), nil)
		return
	}
	st.Prose(out, "", fmt.Sprintf("%s %s, %s of them compacted%s", plural(r.Sessions, "session"), period, number(r.Compacted), left), st.Bold)
	for _, line := range r.Headline() {
		st.Prose(out, "", line, nil)
	}
	if r.Compacted == 0 {
		st.Prose(out, "", "No agent compacted any of them, so compaction cost nothing. winnow check FILE shows how full one of them is.", nil)
		return
	}
	fmt.Fprintln(out)
	for _, line := range r.Lines() {
		st.Prose(out, "", line, nil)
	}
	if len(r.Moments) > 0 {
		fmt.Fprintf(out, "\n%s\n", st.Bold("the worst moments"))
	}
	for i := range r.Moments {
		st.Prose(out, "", r.Moments[i].Say(), nil)
		fmt.Fprintf(out, "  winnow page %s\n", a.shortPath(strings.SplitN(r.Moments[i].File, "#", 2)[0]))
	}
	fmt.Fprintf(out, "\n%s\n", st.Bold("the sessions that suffered most"))
	rows := make([][]string, len(r.Worst))
	for i := range r.Worst {
		s := &r.Worst[i]
		rows[i] = []string{
			s.Agent, number(s.Compactions), formatDuration(s.Waited), number(s.Rereads),
			fmt.Sprintf("%.2f", s.Spent), fmt.Sprintf("%.2f", s.Dollars), fmt.Sprintf("%.2f", s.Ours), a.shortPath(s.File),
		}
	}
	st.Table(out, []string{"agent<", "times", "waited", "re-reads", "$ for it", "$ in all", "$ winnow", "session<"}, rows)
	fmt.Fprintln(out)
	notes := []string{"Waits are those that the files record; a summary without one counts 73 s, the median in the field. Dollars are list prices. The re-reads are part of the recorded sessions, so winnow is charged for them too."}
	if r.Assumed > 0 {
		notes = append(notes, fmt.Sprintf("%s priced like %s, since the prices of their models are not known (--model names another).", pluralWithVerb(r.Assumed, "session", "was", "were"), r.Default))
	}
	if n := r.Total.Unread; n > 0 {
		notes = append(notes, fmt.Sprintf("%s not in the files, so what the agent kept there is not compared.", pluralWithVerb(n, "summary", "was", "were")))
	}
	st.Prose(out, "", strings.Join(notes, " "), st.Dim)
	next := "Next: winnow check " + a.shortPath(strings.SplitN(r.Worst[0].File, "#", 2)[0])
	if f.html == "" {
		next += ", or the plots: winnow insights --html insights.html"
	}
	st.Prose(out, "", next, nil)
}

// showNowhere says where sessions were looked for and what to do.
func (a *app) showNowhere(r *insights.Report, left string) {
	st, out := a.styleFor(a.stdout), a.stdout
	st.Prose(out, "", "No sessions found"+left+". winnow looked in", st.Bold)
	for _, f := range r.Folders {
		state := "is not there"
		if f.Found {
			state = "has no session"
		}
		fmt.Fprintf(out, "  %s  %s, which %s\n", show.Pad(f.Agent, 11), a.shortPath(f.Path), state)
	}
	st.Prose(out, "", "Name the files or folders where your agents keep theirs: winnow insights FOLDER. winnow demo shows what winnow does without any.", nil)
}

// shortPath writes a path as people do: from the home folder on, and on one line.
func (a *app) shortPath(path string) string {
	path = strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(path)
	home := a.homeDir()
	if rest, err := filepath.Rel(cmp.Or(home, "/nowhere"), path); home != "" && err == nil && !strings.HasPrefix(rest, "..") {
		return filepath.Join("~", rest)
	}
	return path
}
