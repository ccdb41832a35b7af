package replay

import (
	"context"
	"fmt"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/stage"
)

// Cost is what the generated long sessions cost when they are compacted at some
// point: the mean over all of them.
type Cost struct {
	Model    string  `json:"model"`
	Cold     float64 `json:"cold"` // share of requests that find the cache cold
	When     string  `json:"when"`
	Tail     int     `json:"tail"`
	Summary  int     `json:"summary"`
	Dollars  float64 `json:"dollars"`
	Saved    float64 `json:"saved"` // against compacting at 80 % of the window, tail 20,000 and summary 3,000
	Rewrites float64 `json:"rewrites"`
	Peak     int     `json:"peak"`
}

// The generated session for cost.
const (
	costRequests = 400
	costGrowth   = 2500
	costOutput   = 600
	costSystem   = 25000
	costTail     = 20000
	costSummary  = 3000
	costWindow   = 1000000
)

// atWindow is when everybody else compacts.
const atWindow = "80 % of the window"

// costSessions is how many of them are generated.
const costSessions = 7

// CostSession returns a session that costs are compared on: 400 requests, 2,500
// tokens of growth each, 600 of them the answer, 25,000 tokens of fixed prompt.
func CostSession(seed uint64) *Session {
	s := replaygen.Session(seed, replaygen.Options{
		Requests: costRequests, Growth: costGrowth, Output: costOutput, System: costSystem,
	})
	return &Session{Session: s, File: s.ID, Source: "generated"}
}

// fillCosts compares the commit point with compacting at 80 % of a large window.
func (r *runner) fillCosts(ctx context.Context) error {
	if !r.Costs {
		return nil
	}
	indexes := make([]*index, costSessions)
	err := r.Each(ctx, len(indexes), "generating sessions", func(i int) error {
		indexes[i] = newIndex(CostSession(costRequests+uint64(i)), r.counter)
		return nil
	})
	if err != nil {
		return err
	}
	type job struct {
		model  int
		cold   bool
		shape  costShape
		commit bool
	}
	var jobs []job
	for m := range r.Models {
		for _, cold := range []bool{false, true} {
			jobs = append(jobs, job{m, cold, costShapes[0], false})
			for _, s := range costShapes {
				jobs = append(jobs, job{m, cold, s, true})
			}
		}
	}
	outs := make([]Outcome, len(jobs)*len(indexes))
	err = r.Each(ctx, len(outs), "the generated sessions", func(i int) error {
		j := jobs[i/len(indexes)]
		p := Ours{Label: "winnow", Settings: j.shape.settings(), IgnoreCold: !j.commit}
		if !j.commit {
			p.Settings.Economy = winnow.EconomyOff
		}
		d := driver{index: indexes[i%len(indexes)], window: costWindow, trigger: 0.8, prices: r.Models[j.model : j.model+1]}
		if j.cold {
			d.cold = func(n int) bool { return n%20 == 19 }
		}
		var err error
		if outs[i], err = d.run(ctx, p); err != nil {
			return err
		}
		if o := &outs[i]; o.Failed+o.Overflow+o.Invalid > 0 {
			return fmt.Errorf("replay: a generated session: %d failed, %d overflows, %d invalid", o.Failed, o.Overflow, o.Invalid)
		}
		return nil
	})
	if err != nil {
		return err
	}
	base := 0
	for i, j := range jobs {
		c := Cost{Model: r.Models[j.model].Name, When: atWindow, Tail: j.shape.tail, Summary: j.shape.summary}
		if j.commit {
			c.When = j.shape.tableName()
		}
		if j.cold {
			c.Cold = 0.05
		}
		for _, o := range outs[i*len(indexes) : (i+1)*len(indexes)] {
			c.Dollars += o.Dollars[0] / costSessions
			c.Rewrites += float64(o.Rewrites) / costSessions
			c.Peak = max(c.Peak, o.Peak)
		}
		r.board.Costs = append(r.board.Costs, c)
		if !j.commit {
			base = i
		} else {
			r.board.Costs[i].Saved = 1 - c.Dollars/r.board.Costs[base].Dollars
		}
	}
	return nil
}

// costShape is what a rewrite leaves: of a preset, or so much.
type costShape struct {
	preset        string
	tail, summary int
}

// costShapes are that of the specification, one of the same size that gives
// less to the tail (every token moved from tail to summary buys recall), and
// what the default preset makes of so large a window.
var costShapes = []costShape{
	{"", costTail, costSummary},
	{"", costTail * 2 / 5, costSummary + costTail*3/5},
	presetShape("default"),
}

func presetShape(name string) costShape {
	set := winnow.Settings{Preset: name}.WithDefaults()
	left := int(set.Target * 100_000) // what a rewrite leaves where prices decide
	return costShape{name, left / stage.TailPart, left - left/stage.TailPart}
}

// tableName says how the shape is called in tables.
func (s costShape) tableName() string {
	if s.preset != "" {
		return "commit point, preset " + s.preset
	}
	return "commit point"
}

// settings leave a tail and a summary of those sizes in the large window. The
// stages are the presets': split-turn would fold part of the tail as well to
// reach the target, and lose the newest messages.
func (s costShape) settings() winnow.Settings {
	set := winnow.Settings{Preset: "default"}
	if s.preset == "" {
		set.Target = float64(costSystem+s.tail+s.summary) / costWindow
		set.KeepRecent = s.tail
	}
	return set
}
