package app

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/token"
)

func (a *app) sessionLsCommand(f *storeFlags) *cobra.Command {
	var p pageFlags
	cmd := newCommand("ls", "List the sessions in the store, most recently used first", "  winnow session ls --limit 50",
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return a.sessionLs(cmd, f, &p) })
	p.addTo(cmd, 20)
	return cmd
}

func (a *app) sessionLs(cmd *cobra.Command, f *storeFlags, p *pageFlags) error {
	var all []session.Info
	store, path, err := a.openExistingStore(*f)
	if err == nil {
		defer store.Close()
		all, err = store.List(cmd.Context(), 0, 0)
	}
	if err != nil && !(errors.Is(err, errNoStore) && f.path == "") {
		return err
	}
	from, to := p.shownRange(len(all))
	list := all[from:to]
	pg := page{Skip: p.skip, Limit: p.limit, More: to < len(all)}
	doc := map[string]any{"store": path, "sessions": append([]session.Info{}, list...), "total": len(all), "page": pg}
	if len(all) == 0 {
		return a.printLine(doc, "no sessions yet; winnow session import FILE adds one")
	}
	return a.printResult(doc, func() { a.showSessions(all, list, pg) })
}

func (a *app) showSessions(all, list []session.Info, pg page) {
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	width := prefixWidth(ids)
	st := a.styleFor(a.stdout)
	for i := range list {
		s := &list[i]
		title := cmp.Or(s.Name, s.Title)
		fmt.Fprintf(a.stdout, "%s  %s  %8s  %s\n", st.Bold(fmt.Sprintf("%-*s", width, text.Runes(s.ID, width))),
			st.Dim(s.Modified.Local().Format("2006-01-02 15:04")), sizeText(s.Bytes), brief(title, st.Columns()-width-30))
	}
	a.sayMore(pg, len(list))
}

// prefixWidth returns how many letters tell all ids apart. An id begins with the
// time, to the millisecond in 13 letters: as many are shown, so that a copied
// prefix still names one session after the next was made.
func prefixWidth(ids []string) int {
	width := 13
	for ; width < 36; width += 2 {
		seen := make(map[string]bool, len(ids))
		for _, id := range ids {
			seen[text.Runes(id, width)] = true
		}
		if len(seen) == len(ids) {
			break
		}
	}
	return width
}

func (a *app) sessionSearchCommand(f *storeFlags) *cobra.Command {
	limit := 20
	cmd := newCommand("search WORD...", "Find words in the messages of all sessions", `
  winnow session search parser panic
  winnow session search 'migrat*' --limit 5

Finds the entries that contain all the words, ignoring case. A star at the end of a
word matches any ending. In a database the search uses an index and ignores accents;
a folder of session files is read from beginning to end.`,
		cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
			return a.sessionSearch(cmd, f, strings.Join(args, " "), limit)
		})
	cmd.Flags().IntVar(&limit, "limit", limit, "show at most `N` places")
	return cmd
}

func (a *app) sessionSearch(cmd *cobra.Command, f *storeFlags, query string, limit int) error {
	store, path, err := a.openExistingStore(*f)
	if err != nil {
		return err
	}
	defer store.Close()
	hits, err := session.Search(cmd.Context(), store, query, limit)
	if err != nil && len(hits) == 0 {
		return err
	}
	if err != nil {
		a.say("not every session could be read: %v", oneLine(err.Error()))
	}
	doc := map[string]any{"store": path, "query": query, "hits": append([]session.Hit{}, hits...)}
	if len(hits) == 0 {
		return a.printLine(doc, "nothing found")
	}
	return a.printResult(doc, func() {
		st := a.styleFor(a.stdout)
		for i := range hits {
			h := &hits[i]
			fmt.Fprintf(a.stdout, "%s  %s  %s\n    %s\n", st.Bold(h.Session), h.Entry, st.Dim(time.UnixMilli(h.Time).Local().Format("2006-01-02 15:04")), brief(h.Snippet, st.Columns()-4))
		}
	})
}

func (a *app) sessionStatsCommand(f *storeFlags) *cobra.Command {
	var mf modelFlags
	cmd := newCommand("stats SESSION", "Show how full a session is and what is in it", `
  winnow session stats 019a8c1f --json

Measures what the model would see now against its window, and counts the session's
entries, branches, turns, compactions and the tokens that calls have used.`,
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error { return a.sessionStats(cmd, f, &mf, args[0]) })
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
	s, o, err := a.openWith(cmd, f, name, false, mf, false)
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
