package transport

import (
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/model"
)

// purse holds the dollars that may be spent on summaries in the background in a
// day, which begins with the first one. It is guarded by the background's lock.
type purse struct {
	since time.Time
	spent float64
	told  bool // the log says that it is empty
}

// day is how long a purse lasts.
const day = 24 * time.Hour

// isEmpty reports whether nothing more may be spent today. Summaries that are under
// way when the limit is reached are finished.
func (p *purse) isEmpty(t *Transport) bool {
	limit := t.opts.SummaryCap
	if limit <= 0 {
		return false
	}
	if now := t.opts.Now(); now.Sub(p.since) >= day {
		*p = purse{since: now}
	}
	if p.spent < limit {
		return false
	}
	t.tally(func(s *Stats) { s.SummaryCapped++ })
	if !p.told {
		p.told = true
		t.opts.Log.Warn("no more summaries by a model today; the built-in summariser writes them", "dollars", p.spent, "cap", limit)
	}
	return true
}

// summaryPrices returns what the tokens of a summary cost for a conversation of
// that engine's model.
func (t *Transport) summaryPrices(w *winnow.Winnow) model.Prices {
	if t.opts.Same {
		return w.Model().Prices
	}
	return t.opts.SummaryPrices
}
