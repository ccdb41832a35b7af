package insights

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/app/replay"
	webpage "github.com/winnow-llm/winnow/internal/page"
	"github.com/winnow-llm/winnow/internal/text"
)

// Report is what a look at the sessions of a machine found. Its size depends on
// the weeks that it covers, not on the number of sessions.
type Report struct {
	// Since is the start of the period, "" for all there is.
	Since string `json:"since,omitempty"`

	Folders []Folder `json:"folders"`

	// Files were read, Older ones were not because nothing in them is of the
	// period, Skipped ones could not be.
	Files   int `json:"files"`
	Older   int `json:"older"`
	Skipped int `json:"skipped"`

	// Sessions are those of the period, Compacted those that their agents
	// compacted. Assumed is how many were priced like the default model, because
	// nothing is known about their own.
	Sessions  int    `json:"sessions"`
	Compacted int    `json:"compacted"`
	Assumed   int    `json:"prices_assumed"`
	Default   string `json:"default_model"`

	Total  Sum     `json:"total"`
	Agents []Agent `json:"agents"`
	Weeks  []Week  `json:"weeks"`

	// Worst are the sessions in which most time was lost to compaction, Moments the
	// compactions after which most was read again.
	Worst   []Session `json:"worst"`
	Moments []Moment  `json:"moments"`

	most int
}

// Folder is a place that was looked at.
type Folder struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
	Found bool   `json:"found"`
	Files int    `json:"files"`
}

// Sum is the figures of some sessions, with what people ask for first.
type Sum struct {
	replay.Past

	Minutes    float64 `json:"minutes_waited"`
	OurMinutes float64 `json:"winnow_minutes_waited"`
	Spent      float64 `json:"dollars_compaction"` // for summaries and re-reads
}

func sumOf(p *replay.Past) Sum {
	return Sum{Past: *p, Minutes: p.Waited.Minutes(), OurMinutes: p.OurWaited.Minutes(), Spent: p.Cost()}
}

func (s *Sum) add(p *replay.Past) {
	s.Add(p)
	*s = sumOf(&s.Past)
}

// Agent is the figures of one agent's sessions.
type Agent struct {
	Agent     string `json:"agent"`
	Sessions  int    `json:"sessions"`
	Compacted int    `json:"compacted"`
	Sum
}

// Week is the figures of the sessions that were last used in a week.
type Week struct {
	Monday string `json:"monday"`
	Sum
}

// Session is the figures of one session.
type Session struct {
	File  string    `json:"file"`
	Agent string    `json:"agent"`
	Model string    `json:"model"`
	Last  time.Time `json:"last"` // when it was last used
	Sum

	assumed bool
	losses  []replay.Loss
}

// Moment is a compaction after which something was read again.
type Moment struct {
	File  string `json:"file"`
	Agent string `json:"agent"`
	replay.Loss
}

// worstMoments is how many moments a report has.
const worstMoments = 3

// addSession counts a session.
func (r *Report) addSession(s *Session) {
	r.Sessions++
	i := slices.IndexFunc(r.Agents, func(a Agent) bool { return a.Agent == s.Agent })
	if i < 0 {
		i = len(r.Agents)
		r.Agents = append(r.Agents, Agent{Agent: s.Agent})
	}
	a := &r.Agents[i]
	a.Sessions++
	if s.assumed {
		r.Assumed++
	}
	r.Total.add(&s.Past)
	a.add(&s.Past)
	r.weekOf(s.Last).add(&s.Past)
	if s.Compactions == 0 {
		return
	}
	r.Compacted++
	a.Compacted++
	for _, l := range s.losses {
		r.Moments = append(r.Moments, Moment{s.File, s.Agent, l})
	}
	slices.SortStableFunc(r.Moments, func(a, b Moment) int { return cmp.Compare(b.Tokens, a.Tokens) })
	r.Moments = r.Moments[:min(len(r.Moments), worstMoments)]
	s.losses = nil
	r.Worst = append(r.Worst, *s)
	slices.SortStableFunc(r.Worst, func(a, b Session) int {
		return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(b.Spent, a.Spent))
	})
	r.Worst = r.Worst[:min(len(r.Worst), r.most)]
}

// weekOf returns the week of a moment.
func (r *Report) weekOf(t time.Time) *Sum {
	back := (int(t.Weekday()) + 6) % 7
	monday := t.AddDate(0, 0, -back).Format(time.DateOnly)
	i, found := slices.BinarySearchFunc(r.Weeks, monday, func(w Week, m string) int { return cmp.Compare(w.Monday, m) })
	if !found {
		r.Weeks = slices.Insert(r.Weeks, i, Week{Monday: monday})
	}
	return &r.Weeks[i].Sum
}

// HTML returns the report as one page that needs nothing else.
func (r *Report) HTML(made time.Time) ([]byte, error) {
	moments := []map[string]string{}
	for i := range r.Moments {
		moments = append(moments, map[string]string{"say": r.Moments[i].Say(), "file": r.Moments[i].File})
	}
	return webpage.WriteInsights(map[string]any{
		"made": made.Format(time.DateOnly), "report": r, "headline": r.Headline(), "lines": r.Lines(), "moments": moments,
	})
}

// Headline says in words what the sessions cost and would have cost with winnow, and what
// was read again.
func (r *Report) Headline() []string {
	t := &r.Total
	source := "by the usage that their files record"
	if left := r.Sessions - t.Billed; left > 0 {
		source += fmt.Sprintf(" (%s: estimated)", text.Plural(left, "session"))
	}
	lines := []string{
		fmt.Sprintf("The sessions cost %s, %s.", formatDollars(t.Dollars), source),
		fmt.Sprintf("With winnow: %s%s; with --preset thrifty: %s%s.", formatDollars(t.Ours), percentChange(t.Dollars, t.Ours), formatDollars(t.Thrifty), percentChange(t.Dollars, t.Thrifty)),
	}
	if t.Ours > t.Dollars && t.Compactions > 0 {
		lines[1] += " With nothing set winnow keeps more in the context than your agents did, which is what the difference pays for."
	}
	if t.Compactions > 0 {
		lines = append(lines, fmt.Sprintf("After compactions text was read again %s; with winnow %s.", text.Times(t.Rereads), text.Times(t.OurRereads)))
	}
	return lines
}

// percentChange returns a difference of dollars in per cent.
func percentChange(was, now float64) string {
	if was <= 0 || math.Abs(now/was-1) < 0.0005 {
		return ""
	}
	return fmt.Sprintf(" (%+.1f %%)", 100*(now/was-1))
}

// Lines say in words what compaction did; none where nothing was compacted.
func (r *Report) Lines() []string {
	t := &r.Total
	if r.Compacted == 0 {
		return nil
	}
	lines := []string{
		fmt.Sprintf("Your agents compacted %s %s (%s automatically), which removed %s tokens from their contexts.",
			text.Plural(r.Compacted, "session"), text.Times(t.Compactions), text.Number(t.Automatic), text.Number(t.Removed)),
		fmt.Sprintf("You waited %s for that, and it cost %s: %s for summaries, %s for %s of text that had been shown before. With winnow: %s, %s of waiting.",
			formatMinutes(t.Minutes), formatDollars(t.Spent), formatDollars(t.Summaries), formatDollars(t.Again), text.Plural(t.Rereads, "re-read"),
			text.Plural(t.Rewrites, "rewrite"), formatMinutes(t.OurMinutes)),
	}
	if t.Ready.Of > 0 {
		lines = append(lines, fmt.Sprintf("Of %s right after a compaction to text that the agent had seen, %s could be made from what was left. With winnow it would have been %s.",
			text.Plural(t.Ready.Of, "edit"), shareOf(t.Ready), shareOf(t.OursReady)))
	}
	if t.Still.Of > 0 {
		lines = append(lines, fmt.Sprintf("Of %s that were read again, winnow would still have shown %s.", text.Plural(t.Still.Of, "line"), shareOf(t.Still)))
	}
	return lines
}

// Say tells a moment in a sentence.
func (m *Moment) Say() string {
	when := "After a compaction"
	if m.Time > 0 {
		when = time.UnixMilli(m.Time).Format("2 Jan 15:04") + ": after the compaction"
	}
	files := strings.Join(m.Files[:min(len(m.Files), 3)], ", ")
	if more := len(m.Files) - 3; more > 0 {
		files += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s %s read %s again, %s tokens in %s: %s.", when, m.Agent, text.Plural(len(m.Files), "file"), text.Number(m.Tokens), formatMinutes(m.Waited.Minutes()), files)
}

func shareOf(t replay.Tally) string {
	return fmt.Sprintf("%s (%.0f %%)", text.Number(t.Hit), 100*t.Share())
}

func formatDollars(v float64) string { return fmt.Sprintf("$%.2f", v) }

// formatMinutes writes a time for people.
func formatMinutes(m float64) string {
	n := int(math.Round(m))
	switch {
	case m > 0 && m < 1:
		return fmt.Sprintf("%.0f s", m*60)
	case n < 60:
		return fmt.Sprintf("%d min", n)
	}
	return fmt.Sprintf("%d h %02d min", n/60, n%60)
}
