package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/token"
)

// Whole sessions beside the agents that wrote them: with nothing set, winnow must
// never be worse than the agent alone, which compacts at its own point and pays for
// its own summaries.

// AlonePlace is where they are compared.
type AlonePlace struct {
	Window int `json:"window"` // 0 is the agent's own for the session's model
	Fixed  int `json:"fixed"`  // of every request, in tokens; 0 is what the agent has
}

// AlonePlaces returns those that are compared: the first two are for dollars, the
// others for when the agents compact.
func AlonePlaces() []AlonePlace {
	return []AlonePlace{{200_000, 42_000}, {200_000, 12_000}, {100_000, 0}, {200_000, 0}, {0, 0}}
}

// aloneFixed is the fixed part of an agent of which it is not known.
const aloneFixed = 12_000

// AloneRow is one policy over the sessions of one agent in one place.
type AloneRow struct {
	AlonePlace
	Agent  string `json:"agent"` // or All
	Policy string `json:"policy"`

	Sessions  int `json:"sessions"`
	Compacted int `json:"compacted"` // sessions
	Rewrites  int `json:"rewrites"`  // of the agent alone: summaries
	Refused   int `json:"refused"`   // requests that are too large or invalid, or given up

	// Cold are the rewrites after pauses in which the cache was lost. First is the
	// smallest share of the agent's own first cut, or of its point where it makes
	// none, at which a session was cut first, nil where none was; Early are the
	// sessions that were cut first below [AloneFirst] of it.
	Cold  int      `json:"cold"`
	First *float64 `json:"first_share"`
	Early int      `json:"early"`

	// Long is over the sessions that any policy compacted.
	Long Row `json:"compacted_by_any"`

	long []*Outcome
}

// AloneBoard is the result of a comparison.
type AloneBoard struct {
	Fingerprint string     `json:"fingerprint"`
	Model       string     `json:"model"` // whose prices are charged
	Rows        []AloneRow `json:"rows"`
}

// MostDollars is what our presets may cost, for one dollar of the agent alone.
var MostDollars = map[string]float64{"winnow": 1.30, "winnow thrifty": 1.00}

const (
	// AloneFirst is the share of an agent's own first cut before which nothing may
	// be cut.
	AloneFirst = 0.90

	// aloneLeast is the share of an agent's own point that a session must reach to
	// be replayed at all.
	aloneLeast = 0.60
)

// aloneSession is a session in a place.
type aloneSession struct {
	agent table.Agent
	point int // at which the agent compacts by itself
	d     driver
}

// Alone compares the agent without winnow with our presets, in some places; nil are
// [AlonePlaces].
func Alone(ctx context.Context, d *Data, alone Policy, places []AlonePlace, c *Crew) (*AloneBoard, error) {
	price := model.Default().Lookup(shippedModel)
	if places == nil {
		places = AlonePlaces()
	}
	b := &AloneBoard{Fingerprint: d.Fingerprint, Model: price.Name}
	counter := token.New(counting, nil)
	all := append([]Policy{alone}, Presets()...)
	for _, p := range places {
		ready := make([]*aloneSession, len(d.Sessions))
		err := c.Each(ctx, len(ready), "reading sessions "+p.String(), func(i int) error {
			ready[i] = p.prepareSession(&d.Sessions[i], counter, price)
			return nil
		})
		if err != nil {
			return nil, err
		}
		ready = slices.DeleteFunc(ready, func(s *aloneSession) bool { return s == nil })
		drivers := make([]driver, len(ready))
		for i, s := range ready {
			drivers[i] = s.d
		}
		outs, err := c.playAll(ctx, "sessions "+p.String(), drivers, all)
		if err != nil {
			return nil, err
		}
		b.Rows = append(b.Rows, p.sumRows(ready, outs, all)...)
	}
	return b, nil
}

// prepareSession returns what is needed to replay a session in a place; nil where its agent
// has no point that is known or the session is far from it.
func (p AlonePlace) prepareSession(s *Session, counter *token.Counter, price model.Model) *aloneSession {
	agent, ok := table.OfFormat(string(s.Format))
	if !ok || agent.Own.Point(million) == 0 {
		return nil
	}
	m := model.Default().Lookup(cmp.Or(s.Model, agent.Model.Standard, shippedModel))
	if p.Window > 0 {
		m.Context, m.Input = p.Window, 0
	}
	wrapped := agent
	if agent.Own.Off {
		wrapped.Own = agent.Own.SwitchedOff()
	}
	works := wrapped.WindowOf(m, agent.AsksMillion(s.Model))
	window := cmp.Or(works.Tokens, m.Context)
	works.Tokens = window // the agent was told
	padding := *s
	padding.System = padSystem(s, cmp.Or(p.Fixed, agent.Windows.Fixed, aloneFixed), counter)
	x := newIndex(&padding, counter)
	out := &aloneSession{agent: agent, point: agent.Own.Point(window)}
	if x.wholePrompt() < int(aloneLeast*float64(out.point)) {
		return nil
	}
	out.d = driver{
		index: x, window: window, price: price, own: true, works: works, clock: true,
		next: newNextIndex(&padding), step: medianStep(s.History),
	}
	return out
}

// million is a window in which every agent whose point is known has one.
const million = 1_000_000

// sumRows adds up the outcomes by agent and policy, and over all agents. The first
// policy is the agent alone.
func (p AlonePlace) sumRows(ready []*aloneSession, outs [][]Outcome, all []Policy) []AloneRow {
	names := []string{All}
	for _, s := range ready {
		if !slices.Contains(names, s.agent.Name) {
			names = append(names, s.agent.Name)
		}
	}
	slices.Sort(names[1:])
	var rows []AloneRow
	for _, name := range names {
		for k, policy := range all {
			r := AloneRow{AlonePlace: p, Agent: name, Policy: policy.Name}
			for i, s := range ready {
				if name == All || name == s.agent.Name {
					r.addSession(s, outs[i], k)
				}
			}
			r.Long = sumOutcomes(policy, p.Window, r.long)
			rows = append(rows, r)
		}
	}
	return rows
}

// addSession adds policy k on one session.
func (r *AloneRow) addSession(s *aloneSession, outs []Outcome, k int) {
	alone, o := &outs[0], &outs[k]
	r.Sessions++
	rewrites, first := o.Rewrites, o.First
	if k == 0 {
		rewrites, first = o.Calls, o.Asked
	}
	r.Rewrites += rewrites
	if k > 0 {
		r.Cold += o.Cold
	}
	r.Refused += o.Overflow + o.Invalid + o.Failed
	if first > 0 {
		r.Compacted++
		of := float64(first) / float64(cmp.Or(alone.Asked, s.point))
		if r.First == nil || of < *r.First {
			r.First = &of
		}
		if of < AloneFirst {
			r.Early++
		}
	}
	if slices.ContainsFunc(outs, func(o Outcome) bool { return o.Rewrites > 0 }) {
		r.long = append(r.long, o)
	}
}

// String says where.
func (p AlonePlace) String() string {
	window, fixed := "the agents' own windows", "their own prompts"
	if p.Window > 0 {
		window = "a window of " + text.Number(p.Window)
	}
	if p.Fixed > 0 {
		fixed = text.Number(p.Fixed) + " tokens fixed"
	}
	return "in " + window + ", " + fixed
}

// Row returns the row of a policy in a place; nil where there is none.
func (b *AloneBoard) Row(p AlonePlace, agent, policy string) *AloneRow {
	i := slices.IndexFunc(b.Rows, func(r AloneRow) bool { return r.AlonePlace == p && r.Agent == agent && r.Policy == policy })
	if i < 0 {
		return nil
	}
	return &b.Rows[i]
}

// Bars returns what is asked for: dollars and waits where the fixed part is given,
// and by agent when and how often it is cut: 1.5 times as often as by the agent
// alone, and once more in each session.
func (b *AloneBoard) Bars() []Bar {
	var bars []Bar
	for i := range b.Rows {
		r := &b.Rows[i]
		alone := b.Row(r.AlonePlace, r.Agent, "alone")
		name := fmt.Sprintf("%s %s, %s: ", r.Policy, r.AlonePlace, r.Agent)
		if most, ok := MostDollars[r.Policy]; ok && r.Agent == All && r.Window > 0 && r.Fixed > 0 && alone.Long.DollarsPaused > 0 {
			of := r.Long.DollarsPaused / alone.Long.DollarsPaused
			bars = append(bars, Bar{name + "dollars, for one of the agent alone", fmt.Sprintf("at most %.2f", most), fmt.Sprintf("%.3f", of), of <= most},
				Bar{name + "waits", "0", formatHours(r.Long.BlockedMS), r.Long.BlockedMS == 0})
		}
		if r.Policy == "winnow" && r.Agent != All {
			most := alone.Rewrites*3/2 + r.Compacted
			bars = append(bars, Bar{name + "sessions cut too early, requests refused", "0, 0", fmt.Sprintf("%d, %d", r.Early, r.Refused), r.Early+r.Refused == 0},
				Bar{name + "rewrites with a warm cache", fmt.Sprintf("at most %d", most), fmt.Sprint(r.Rewrites - r.Cold), r.Rewrites-r.Cold <= most})
		}
	}
	return bars
}

// sections returns a table for each place, in order.
func (b *AloneBoard) sections() (all []section) {
	note := fmt.Sprintf("beside the agents alone (* simulated LLM; dollars at the prices of %s)", b.Model)
	of := func(a, b float64) string {
		if b == 0 {
			return "–"
		}
		return fmt.Sprintf("%.3f", a/b)
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		if title := "Whole sessions " + r.AlonePlace.String(); len(all) == 0 || all[len(all)-1].title != title {
			all = append(all, section{title: title, note: note, grid: grid{right: 2, head: []string{
				"agent", "policy", "sessions", "compacted", "rewrites", "cold", "first cut", "early", "V", "95 %", "tail", "naive", "re-reads",
				"$", "of alone", "no pauses", "of alone", "cached", "waited", "lost", "refused",
			}}})
		}
		alone := b.Row(r.AlonePlace, r.Agent, "alone")
		name := r.Policy
		if r == alone {
			name += " *"
		}
		g, l := &all[len(all)-1], &r.Long
		g.rows = append(g.rows, []string{
			r.Agent, name, text.Number(r.Sessions), text.Number(r.Compacted), text.Number(r.Rewrites), text.Number(r.Cold), twoDigits(r.First), text.Number(r.Early),
			twoDigits(l.EditsReady), l.ReadyBetween.String(), twoDigits(l.TailReady), twoDigits(l.NaiveReady), text.Number(l.Rereads),
			fmt.Sprintf("%.2f", l.DollarsPaused), of(l.DollarsPaused, alone.Long.DollarsPaused), fmt.Sprintf("%.2f", l.DollarsAgain), of(l.DollarsAgain, alone.Long.DollarsAgain),
			fmt.Sprintf("%.0f %%", 100*l.ReadShare()), formatHours(l.BlockedMS), formatHours(l.LostMS), text.Number(r.Refused),
		})
	}
	return all
}

// Table writes the board for a terminal.
func (b *AloneBoard) Table(w io.Writer) error { return writeSections(w, b.sections()) }

// Markdown writes the board as a page for people.
func (b *AloneBoard) Markdown(w io.Writer, m Made) error {
	about := fmt.Sprintf("%s\n\nData: fingerprint `%s`. Dollars are those of %s.", aloneMeans, b.Fingerprint, b.Model)
	return writePage(w, "In the field", about, m, append(b.sections(), barSection(b.Bars())...))
}

// aloneMeans says what the columns are.
const aloneMeans = `Whole recorded sessions: with winnow, with nothing set or with the preset thrifty, and with the agent alone that wrote them. Alone, the agent
compacts at its own point and in its own way, waits for its summary and pays for it. Rows with * are simulated: a stand-in of the usual size takes
the place of that summary. Every request has a fixed part for system prompt and tools. Pauses are those of the files.

| column | says |
|---|---|
| sessions | those that reach 60 % of the agent's own point |
| compacted | those of them that were compacted |
| rewrites, cold | compactions (of the agent alone, summaries); those after a pause in which the provider's cache was lost |
| first cut, early | the smallest share of the agent's own first cut at which a session was first cut; sessions below 0.90 of it |
| V, 95 % | the share of the next edits whose text is in the context right after a rewrite; the range of 95 of 100 resamplings of the sessions |
| tail, naive | the same in two views of the same size: the newest text; the newest parts about files, filled up with the newest text |
| re-reads | edits whose text was not in the context |
| $, no pauses | dollars with the cache and re-reads, with the recorded pauses and without them |
| waited, lost | the time spent waiting for summaries; the same with re-reads |
| refused | requests that are too large or invalid |

V to lost count the sessions that any row compacts.`
