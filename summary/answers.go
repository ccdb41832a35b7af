package summary

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/typed"
)

// A question without its answer is half of a dialogue: what the agent said last
// before each next request stands under the request that it answers.

// Closings returns the messages from from to to-1 in which the agent ended a turn:
// the last one with words before each next request.
func Closings(h chat.Sequence, from, to int) []int {
	var list []int
	last := -1
	for i := from; i <= to && i < h.Len(); i++ {
		switch m := h.At(i); {
		case m.Role == chat.Assistant && i < to:
			if strings.TrimSpace(m.Text()) != "" {
				last = i
			}
		case m.Role == chat.Assistant: // the turn goes on behind the region
		case typed.Words(h, i) != "":
			if last >= 0 {
				list = append(list, last)
			}
			last = -1
		}
	}
	if last >= 0 && to == h.Len() {
		list = append(list, last)
	}
	return list
}

// readAnswers puts the agent's closing messages under the requests that they
// answer, in at most room tokens: where all do not fit, the longest are cut.
func (c *composer) readAnswers(room int) {
	keep := c.in.keeps()
	var texts []string
	var at, sizes []int
	for _, i := range Closings(c.in.History, c.in.From, c.in.To) {
		if keep(i) {
			continue
		}
		t := quote(strings.TrimSpace(c.in.History.At(i).Text()))
		texts, at = append(texts, t), append(at, i)
		sizes = append(sizes, c.count(t)+answerFrame)
	}
	most := evenly(sizes, room)
	if most < 2*answerFrame {
		return
	}
	c.answered = map[int32]bool{}
	for k, t := range texts {
		whole := sizes[k] <= most
		if !whole {
			t = strings.TrimRight(c.in.Counter.Truncate(t, most-answerFrame-2), " \n") + " …"
		}
		r := len(c.requests) - 1
		for r >= 0 && c.requests[r].at > at[k] {
			r--
		}
		if r < 0 { // its request stands before the region
			c.requests = slices.Insert(c.requests, 0, request{at: -1})
			r = 0
		}
		c.requests[r].answer = t
		c.answers += min(sizes[k], most)
		c.answered[int32(at[k])] = whole
	}
}

// answerFrame is what an answer costs beside its words.
const answerFrame = 6

// evenly returns the most that one may have so that all together have at most
// room, and room where all fit.
func evenly(sizes []int, room int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, s := range sizes {
		if left := len(sizes) - i; s*left > room {
			return room / left
		}
		room -= s
	}
	return 1 << 30
}
