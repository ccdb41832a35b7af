package app

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/token"
)

func (a *app) sessionStatsCommand(f *storeFlags) *cobra.Command {
	var mf modelFlags
	cmd := &cobra.Command{
		Use:     "stats SESSION",
		Short:   "Show how full a session is and what is in it",
		Example: "  winnow session stats 019a8c1f --json",
		Long: `Measures what the model would see now against its window, and counts the session's
entries, branches, turns, compactions and the tokens that calls have used.`,
		Args: cobra.ExactArgs(1),
		RunE: a.asRunE(func(cmd *cobra.Command, args []string) error { return a.sessionStats(cmd, f, &mf, args[0]) }),
	}
	mf.addTo(cmd)
	return cmd
}

// statsDocument is the JSON document of stats.
type statsDocument struct {
	session.Stats
	Breakdown budget.Breakdown  `json:"breakdown"`
	Limits    budget.Limits     `json:"limits"`
	Needs     bool              `json:"needs_compaction"`
	Fits      bool              `json:"fits"`
	Images    int               `json:"images"`
	Problems  []session.Problem `json:"problems"`
}

func (a *app) sessionStats(cmd *cobra.Command, f *storeFlags, mf *modelFlags, name string) error {
	o, err := a.sessionOptions(cmd, mf, false)
	if err != nil {
		return err
	}
	s, err := a.openSession(cmd.Context(), f, name, o, false)
	if err != nil {
		return err
	}
	defer s.Close()
	st, err := s.Stats()
	if err != nil {
		return err
	}
	needs, _, err := s.NeedsCompaction()
	if err != nil {
		return err
	}
	if set := o.Live("", st.Model).Settings; set.Model != "" {
		st.Model = set.Model // --model or the settings name another
	}
	doc := statsDocument{
		Stats: st, Breakdown: st.Status.Tokens, Limits: st.Status.Limits, Needs: needs, Fits: st.Status.Fits, Images: st.Status.Images,
		Problems: append([]session.Problem{}, s.Problems()...),
	}
	if a.asJSON {
		return a.printJSON(doc)
	}
	return a.showStats(s, &doc)
}

func (a *app) showStats(s *opened, d *statsDocument) error {
	c, err := s.Context()
	if err != nil {
		return err
	}
	st, out := a.styleFor(a.stdout), a.stdout
	title := d.Session
	if d.Name != "" {
		title += "  " + d.Name
	}
	fmt.Fprintf(out, "%s\n", st.Bold(brief(title, st.Columns())))
	l := d.Limits
	who := cmp.Or(d.Model, "no model named")
	fmt.Fprintf(out, "%s: window %s, %s available\n", who, number(l.Context), number(l.Available))
	how := "estimated"
	if d.Status.Count.Method == token.Anchored {
		how = "from what the provider reported last"
	}
	fmt.Fprintf(out, "%s tokens, %s, %s of what is available: %s\n\n", number(d.Tokens), how, show.Percent(d.Tokens, l.Available), st.Verdict(&d.Status))
	rewinds := ""
	if d.Rewinds > 0 {
		rewinds = ", and " + plural(d.Rewinds, "rewind")
	}
	rows := [][2]string{
		{"the model sees", fmt.Sprintf("%s of %d", plural(d.View, "message"), d.Messages)},
		{"turns", number(d.Turns)},
		{"compactions", number(d.Compactions) + rewinds},
		{"pins", number(d.Pins)},
		{"entries", fmt.Sprintf("%s, %s on the path to the leaf %s", number(d.Entries), number(d.Path), c.Leaf)},
		{"branches", number(d.Branches)},
		{"size", sizeText(d.Bytes)},
		{"from, to", d.First.Local().Format("2006-01-02 15:04") + ", " + d.Last.Local().Format("2006-01-02 15:04")},
	}
	if u := d.Usage; d.Calls > 0 {
		rows = append(rows, [2]string{"calls", fmt.Sprintf("%s; tokens: %s in, %s out", number(d.Calls), number(u.Input+u.CacheRead+u.CacheWrite), number(u.Output))})
	}
	for _, r := range rows {
		fmt.Fprintf(out, "%-15s %s\n", r[0], r[1])
	}
	for _, t := range slices.Sorted(maps.Keys(d.ByType)) {
		if t != session.TypeMessage {
			fmt.Fprintf(out, "  %-21s %s\n", t, number(d.ByType[t]))
		}
	}
	for _, p := range d.Problems {
		a.say("entry %s: %s", p.Entry, p.What)
	}
	if d.Needs {
		a.say("it is time to compact: winnow session compact %s", s.name)
	}
	return nil
}
