package token

import (
	"fmt"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// Several counters may count one history at once, and histories share messages:
// each count is the counter's own.
func TestCountersShareAHistory(t *testing.T) {
	var msgs []chat.Message
	for i := range 40 {
		msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("message %d: %s", i, mixedText(50*i))))
	}
	h := chat.NewHistory(msgs...)
	longer := h.Append(chat.TextMessage(chat.Assistant, "One way on."))
	forked := h.Append(chat.TextMessage(chat.Assistant, "Another way on, with more to say about it than the first."))
	counters := []*Counter{New(O200K, nil), New(Claude, nil), New(O200K, &Options{PerMessage: 9}), New(Unknown, &Options{CacheSize: -1})}
	var wg sync.WaitGroup
	for _, c := range counters {
		wg.Go(func() {
			for range 3 {
				for _, h := range []chat.History{h, longer, forked, h.Head(7), longer.Append(msgs[3], msgs[5])} {
					for i := range h.Len() {
						if got, want := c.At(h, i), c.Message(h.At(i)); got != want {
							t.Errorf("%s: message %d has %d tokens, want %d", c.Family(), i, got, want)
							return
						}
					}
				}
			}
		})
	}
	wg.Wait()
}
