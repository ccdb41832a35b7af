package replay

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// All is the file's name in rows over all sessions.
const All = "all"

// Row is one line of a board: a policy on sessions in a window. Figures that a row
// cannot have are null.
type Row struct {
	File   string `json:"file,omitempty"` // or All
	Policy string `json:"policy"`
	Window int    `json:"window"`

	Sessions  int     `json:"sessions"`
	Requests  int     `json:"requests"`
	Dollars   float64 `json:"dollars"`
	TokensIn  int     `json:"tokens_in"`
	TokensOut int     `json:"tokens_out"`
	CacheRead int     `json:"cache_read"`
	Rewrites  int     `json:"rewrites"`
	LLMCalls  int     `json:"llm_calls"`
	Invalid   int     `json:"invalid"`
	Overflows int     `json:"overflows"`
	Failed    int     `json:"failed"`
	Peak      int     `json:"peak"`
	BlockedMS int64   `json:"blocked_ms"`
	Simulated bool    `json:"simulated"`

	// What the views right after the first five rewrites of each session hold: the
	// share of the next edits that is ready (V), in views of the same size beside
	// it, and with one search in what is hidden; and the lines shown as current that
	// the next read contradicts.
	EditsReady   *float64 `json:"edits_ready"`
	TailReady    *float64 `json:"tail_ready"`
	NaiveReady   *float64 `json:"naive_ready"`
	Recalled     *float64 `json:"recalled"`
	Stale        *float64 `json:"stale"`
	ReadyBetween *Span    `json:"edits_ready_interval"`

	// What the agent had to read again over the whole session. InContext is the
	// share of its edits whose old text was in the request sent. DollarsAgain is
	// the figure that compares: dollars with re-reads; DollarsPaused has the recorded
	// pauses as well. Rows whose views are invalid or overflow do not compete.
	Edits         int      `json:"edits"`
	InContext     *float64 `json:"edits_in_context"`
	Rereads       int      `json:"rereads"`
	DollarsAgain  float64  `json:"dollars_with_rereads"`
	DollarsPaused float64  `json:"dollars_with_pauses"`
	ViewTokens    int      `json:"view_tokens"` // mean, right after a rewrite
	LostMS        int64    `json:"lost_ms"`     // waiting for summaries, and re-reading
	Competes      bool     `json:"competes"`

	// Broken says what the first invalid view breaks.
	Broken string `json:"broken,omitempty"`
}

// ReadShare returns the share of the prompts that the cache had.
func (r *Row) ReadShare() float64 {
	if r.TokensIn == 0 {
		return 0
	}
	return float64(r.CacheRead) / float64(r.TokensIn)
}

// sumOutcomes makes the row of a policy over sessions.
func sumOutcomes(p Policy, window int, outs []*Outcome) Row {
	r := Row{Policy: p.Name, Window: window, Simulated: p.LLM}
	var edits Tally
	var held viewScore
	ready := make([]Tally, len(outs))
	after := 0
	for i, o := range outs {
		edits = edits.plus(o.Edits)
		held, ready[i] = held.plus(o.rewritten), o.rewritten.own.all()
		after += o.After
		r.Rereads += o.Rereads
		r.LostMS += o.Lost().Milliseconds()
		r.Sessions++
		r.Requests += o.Requests
		r.TokensIn += o.Prompt
		r.TokensOut += o.Output
		r.CacheRead += o.Read
		r.Rewrites += o.Rewrites
		r.LLMCalls += o.Calls
		r.Invalid += o.Invalid
		r.Overflows += o.Overflow
		r.Failed += o.Failed
		r.Peak = max(r.Peak, o.Peak)
		r.BlockedMS += o.Blocked.Milliseconds()
		r.Dollars += o.Dollars
		r.DollarsAgain += o.Dollars + o.Again
		r.DollarsPaused += o.Timed + o.Again
		r.Broken = cmp.Or(r.Broken, o.Broken)
	}
	r.Edits, r.InContext = edits.Of, shareOrNil(edits)
	r.EditsReady, r.Recalled, r.Stale = shareOrNil(held.own.all()), shareOrNil(held.found), shareOrNil(held.stale)
	r.TailReady, r.NaiveReady = shareOrNil(held.rivals[0].all()), shareOrNil(held.rivals[1].all())
	r.ViewTokens = after / max(1, r.Rewrites)
	r.Competes = r.Refused() == 0
	if r.EditsReady != nil {
		r.ReadyBetween = bootstrap(ready, Tally.plus, Tally.Share)
	}
	return r
}

// Refused returns how many requests a provider would refuse, or the policy gave up.
func (r *Row) Refused() int { return r.Invalid + r.Overflows + r.Failed }

// shareOrNil is null where nothing was asked for.
func shareOrNil(t Tally) *float64 {
	if t.Of == 0 {
		return nil
	}
	return new(t.Share())
}

// resamplings is how often a bootstrap draws.
const resamplings = 1000

// bootstrap draws as many sessions as there are, with replacement, and returns
// where 95 of 100 figures lie. The draw is the same every time.
func bootstrap[T any](list []T, plus func(T, T) T, figure func(T) float64) *Span {
	if len(list) < 3 {
		return nil // nothing to resample
	}
	r := rand.New(rand.NewPCG(uint64(len(list)), 20))
	got := make([]float64, resamplings)
	for i := range got {
		var sum T
		for range list {
			sum = plus(sum, list[r.IntN(len(list))])
		}
		got[i] = figure(sum)
	}
	slices.Sort(got)
	return &Span{got[resamplings*25/1000], got[resamplings*975/1000-1]}
}

// Span is where 95 of 100 resamplings of the sessions put a figure.
type Span [2]float64

// Tally counts what survives: Hit of Of.
type Tally struct {
	Hit int `json:"hit"`
	Of  int `json:"of"`
}

// Share returns the part that survives; 0 of nothing.
func (t Tally) Share() float64 {
	if t.Of == 0 {
		return 0
	}
	return float64(t.Hit) / float64(t.Of)
}

func (t *Tally) put(hit bool) {
	t.Of++
	if hit {
		t.Hit++
	}
}

func (t Tally) plus(u Tally) Tally { return Tally{t.Hit + u.Hit, t.Of + u.Of} }
