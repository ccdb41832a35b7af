package transport

import (
	"slices"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/wire"
)

// maxExchanges is how many bytes of calls and results are remembered, those used
// longest ago forgotten first.
const maxExchanges = 64 << 20

// exchanges remembers what the transport and models said to each other.
type exchanges struct {
	mu    sync.Mutex
	all   []*exchange // oldest first
	total int
}

// keep remembers the messages said after a chain, in place of those said before.
func (e *exchanges) keep(k planstore.Key, at chat.Hash, x *exchange) {
	x.key, x.at = k, at
	for i := range x.messages {
		x.size += x.messages[i].Size().Bytes
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(func(y *exchange) bool { return y.key == k && y.at == at })
	e.all = append(e.all, x)
	for e.total += x.size; e.total > maxExchanges && len(e.all) > 0; e.all = e.all[1:] {
		e.total -= e.all[0].size
	}
}

// forget forgets conversations.
func (e *exchanges) forget(k planstore.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(func(x *exchange) bool { return x.key == k })
}

// drop removes exchanges. The caller holds the lock.
func (e *exchanges) drop(which func(*exchange) bool) {
	e.all = slices.DeleteFunc(e.all, func(x *exchange) bool {
		if which(x) {
			e.total -= x.size
			return true
		}
		return false
	})
}

// restore returns what belongs into a history.
func (e *exchanges) restore(k planstore.Key, h chat.History) (out []wire.Insertion) {
	e.mu.Lock()
	mine := map[chat.Hash]*exchange{}
	for _, x := range e.all {
		if x.key == k {
			mine[x.at] = x
		}
	}
	e.mu.Unlock()
	for i := 1; i < h.Len() && len(mine) > 0; i++ {
		x := mine[h.Chain(i)]
		if x == nil {
			continue
		}
		var parts []chat.Part
		to := i
		for ; to < h.Len() && h.At(to).Role == chat.Assistant; to++ {
			parts = append(parts, h.At(to).Parts...)
		}
		if to == i || signParts(parts) != x.sign || len(x.results) > 0 && (to == h.Len() || !h.At(to).Has(chat.ToolResult)) {
			continue
		}
		out = append(out, wire.Insertion{From: i, To: to, Messages: x.messages, Results: x.results})
		i = to - 1
	}
	return out
}
