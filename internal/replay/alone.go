package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/winnow-llm/winnow"
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
	Window int `json:"window"` // 0 is the one that the agent uses with the session's model
	Fixed  int `json:"fixed"`  // of every request, in tokens; 0 is what the agent has
}

// AlonePlaces returns those that are compared: the first two are for dollars, the
// others for when the agents compact.
func AlonePlaces() []AlonePlace {
	return []AlonePlace{{200_000, 42_000}, {200_000, 12_000}, {100_000, 0}, {200_000, 0}, {0, 0}}
}

// aloneFixed is the fixed part of an agent of which it is not known.
const aloneFixed = 12_000

// AloneOptions say what to compare.
type AloneOptions struct {
	Places []AlonePlace // nil is [AlonePlaces]

	// Alone is the agent without winnow, Policies what is compared with it; nil is
	// our presets. In the first place the frontier is measured too.
	Alone    Policy
	Policies []Policy

	Workers  int
	Progress func(done, total int, what string)
}

// Frontier returns the engine with other thresholds and targets: what more dollars
// buy.
func Frontier() []Policy {
	var out []Policy
	for _, at := range []float64{0.80, 0.95} {
		out = append(out, Ours{Label: fmt.Sprintf("threshold %.2f", at), Settings: winnow.Settings{Threshold: at, Target: 0.45}})
	}
	for _, to := range []float64{0.25, 0.35, 0.60} {
		out = append(out, Ours{Label: fmt.Sprintf("target %.2f", to), Settings: winnow.Settings{Target: to}})
	}
	return out
}

// AloneRow is one policy over the sessions of one agent in one place.
type AloneRow struct {
	AlonePlace
	Agent  string `json:"agent"` // or All
	Policy string `json:"policy"`

	Sessions  int `json:"sessions"`
	Compacted int `json:"compacted"` // sessions
	Rewrites  int `json:"rewrites"`  // of the agent alone: summaries

	// Cold are the rewrites after pauses in which the cache was lost. What such a
	// pause causes does not count for First and Early: the first is the smallest
	// share of the agent's own first cut, or of its point where it makes none, at
	// which a session was cut first, nil where none was; the second are the sessions
	// that were cut first below [AloneFirst] of it.
	Cold  int      `json:"cold"`
	First *float64 `json:"first_share"`
	Early int      `json:"early"`

	// Over the sessions that any policy compacted: the share of next edits that is
	// ready right after rewrites, dollars with the recorded pauses and with what had
	// to be read again, and the time that was lost.
	V        *float64 `json:"edits_ready"`
	Rereads  int      `json:"rereads"`
	Dollars  float64  `json:"dollars"`
	Warm     float64  `json:"dollars_without_pauses"`
	Cached   float64  `json:"cached"`
	WaitedMS int64    `json:"waited_ms"`
	LostMS   int64    `json:"lost_ms"`
	Refused  int      `json:"refused"` // requests that are too large or invalid, or given up

	edits      Tally
	read, sent int
}

// AloneBoard is what was compared.
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

// Alone compares.
func Alone(ctx context.Context, d *Data, o *AloneOptions) (*AloneBoard, error) {
	prices := model.Default().Lookup(shippedModel)
	places, policies := o.Places, o.Policies
	if places == nil {
		places = AlonePlaces()
	}
	if policies == nil {
		policies = Presets()[:2]
	}
	b := &AloneBoard{Fingerprint: d.Fingerprint, Model: prices.Name}
	counter := token.New(counting, nil)
	workers := (&Options{Workers: o.Workers}).orDefault().Workers
	for n, p := range places {
		all := append([]Policy{o.Alone}, policies...)
		if n == 0 {
			all = append(all, Frontier()...)
		}
		ready := make([]*aloneSession, len(d.Sessions))
		err := Each(ctx, workers, len(ready), func(i int) error {
			ready[i] = p.prepare(&d.Sessions[i], counter, prices)
			return nil
		}, func(int) {})
		if err != nil {
			return nil, err
		}
		ready = slices.DeleteFunc(ready, func(s *aloneSession) bool { return s == nil })
		outs := make([][]Outcome, len(ready))
		for i := range outs {
			outs[i] = make([]Outcome, len(all))
		}
		err = Each(ctx, workers, len(ready)*len(all), func(i int) error {
			var err error
			s := ready[i/len(all)]
			run := s.d
			outs[i/len(all)][i%len(all)], err = run.run(ctx, all[i%len(all)])
			return err
		}, func(done int) {
			if o.Progress != nil {
				o.Progress(done, len(ready)*len(all), "sessions "+p.String())
			}
		})
		if err != nil {
			return nil, err
		}
		b.Rows = append(b.Rows, p.rows(ready, outs, all)...)
	}
	return b, nil
}

// prepare returns what is needed to replay a session in a place; nil where its agent
// has no point that is known or the session is far from it.
func (p AlonePlace) prepare(s *Session, counter *token.Counter, prices model.Model) *aloneSession {
	agent, ok := table.OfFormat(string(s.Format))
	if !ok || agent.Own.Point(million) == 0 {
		return nil
	}
	m := model.Default().Lookup(cmp.Or(s.Model, agent.Model.Standard, shippedModel))
	if p.Window > 0 {
		m.Context, m.Input = p.Window, 0
	}
	works := agent.WindowOf(m, agent.AsksMillion(s.Model))
	window := cmp.Or(works.Tokens, m.Context)
	padding := *s
	padding.System = padded(s, cmp.Or(p.Fixed, agent.Windows.Fixed, aloneFixed), counter)
	x := newIndex(&padding, counter)
	out := &aloneSession{agent: agent, point: agent.Own.Point(window)}
	if x.fixed+x.cum[len(x.cum)-1] < int(aloneLeast*float64(out.point)) {
		return nil
	}
	out.d = driver{
		index: x, window: window, trigger: 0.8, prices: []model.Model{prices}, own: true, works: works, clock: true,
		next: newNextIndex(&padding), step: medianStep(s.History),
	}
	return out
}

// million is a window in which every agent whose point is known has one.
const million = 1_000_000

// rows adds up the outcomes by agent and policy, and over all agents. The first
// policy is the agent alone.
func (p AlonePlace) rows(ready []*aloneSession, outs [][]Outcome, all []Policy) []AloneRow {
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
			r := AloneRow{AlonePlace: p, Agent: name, Policy: policy.Name()}
			for i, s := range ready {
				if name == All || name == s.agent.Name {
					r.add(s, outs[i], k)
				}
			}
			if r.V = share(r.edits); r.sent > 0 {
				r.Cached = float64(r.read) / float64(r.sent)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// add adds policy k on one session.
func (r *AloneRow) add(s *aloneSession, outs []Outcome, k int) {
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
	}
	if first > 0 && !o.FirstCold {
		of := float64(first) / float64(cmp.Or(alone.Asked, s.point))
		if r.First == nil || of < *r.First {
			r.First = &of
		}
		if of < AloneFirst {
			r.Early++
		}
	}
	if !slices.ContainsFunc(outs, func(o Outcome) bool { return o.Rewrites > 0 }) {
		return
	}
	r.edits = r.edits.plus(o.Rewritten.Ready)
	r.Rereads += o.Rereads
	r.Dollars += o.Timed[0] + o.Again[0]
	r.Warm += o.Dollars[0] + o.Again[0]
	r.read, r.sent = r.read+o.Read, r.sent+o.Prompt
	r.WaitedMS += o.Blocked.Milliseconds()
	r.LostMS += o.Lost().Milliseconds()
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
		if most, ok := MostDollars[r.Policy]; ok && r.Agent == All && r.Window > 0 && r.Fixed > 0 && alone.Dollars > 0 {
			bars = append(bars, Bar{name + "dollars, for one of the agent alone", fmt.Sprintf("at most %.2f", most), fmt.Sprintf("%.3f", r.Dollars/alone.Dollars), r.Dollars <= most*alone.Dollars},
				Bar{name + "waits", "0", hours(r.WaitedMS), r.WaitedMS == 0})
		}
		if r.Policy == "winnow" && r.Agent != All {
			most := alone.Rewrites*3/2 + r.Compacted
			bars = append(bars, Bar{name + "sessions cut too early, requests refused", "0, 0", fmt.Sprintf("%d, %d", r.Early, r.Refused), r.Early+r.Refused == 0},
				Bar{name + "rewrites with a warm cache", fmt.Sprintf("at most %d", most), fmt.Sprint(r.Rewrites - r.Cold), r.Rewrites-r.Cold <= most})
		}
	}
	return bars
}

// Table writes the board for a terminal.
func (b *AloneBoard) Table(w io.Writer) error {
	var last AlonePlace
	g := grid{right: 2}
	flush := func() error {
		if len(g.rows) == 0 {
			return nil
		}
		if _, err := fmt.Fprintf(w, "Whole sessions %s, beside the agents alone (* simulated LLM; dollars with the cache at the prices of %s, re-reads and recorded pauses included)\n", last, b.Model); err != nil {
			return err
		}
		if err := g.text(w); err != nil {
			return err
		}
		g.rows = nil
		_, err := fmt.Fprintln(w)
		return err
	}
	g.head = []string{"agent", "policy", "sessions", "compacted", "rewrites", "cold", "first cut", "early", "V", "re-reads", "$", "of alone", "no pauses", "of alone", "cached", "waited", "lost", "refused"}
	for i := range b.Rows {
		r := &b.Rows[i]
		if r.AlonePlace != last {
			if err := flush(); err != nil {
				return err
			}
			last = r.AlonePlace
		}
		alone := b.Row(r.AlonePlace, r.Agent, "alone")
		name, of := r.Policy, func(a, b float64) string {
			if b == 0 {
				return "–"
			}
			return fmt.Sprintf("%.3f", a/b)
		}
		if r == alone {
			name += " *"
		}
		g.rows = append(g.rows, []string{
			r.Agent, name, text.Number(r.Sessions), text.Number(r.Compacted), text.Number(r.Rewrites), text.Number(r.Cold), two(r.First), text.Number(r.Early),
			two(r.V), text.Number(r.Rereads), fmt.Sprintf("%.2f", r.Dollars), of(r.Dollars, alone.Dollars), fmt.Sprintf("%.2f", r.Warm), of(r.Warm, alone.Warm),
			fmt.Sprintf("%.0f %%", 100*r.Cached), hours(r.WaitedMS), hours(r.LostMS), text.Number(r.Refused),
		})
	}
	return flush()
}
