package summary

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/typed"
)

// unit is a sentence of a user's message.
type unit struct {
	msg        int // index into requests
	from, to   int // bytes of the message's text
	rank       float64
	constraint bool
	chosen     bool
}

// request is a user's message.
type request struct {
	at     int
	text   string
	units  []int
	answer string // what the agent said at the end
}

// pasted is the length from which a user's message holds more than anybody
// types: its middle is not looked at.
const pasted = 64 << 10

// unitBytes is the most of a sentence that is taken or left as one.
const unitBytes = 400

// user writes the user's requests in about room tokens: all of them verbatim
// where they fit. Otherwise the first request, constraints and the latest
// requests come first, and older ones are shortened in their middle.
func (c *composer) user(room float64) string {
	reqs := c.requests
	if len(reqs) == 0 {
		return ""
	}
	var units []unit
	if float64(c.words) > room {
		units = c.chooseUnits(reqs, room)
	}
	var b strings.Builder
	b.WriteString("## " + sectionRequests + "\n")
	for i := range reqs {
		body := reqs[i].text
		if units != nil {
			body = shortened(&reqs[i], units)
		}
		if body != "" {
			fmt.Fprintf(&b, "[#%d] %s\n", reqs[i].at+1, body)
		}
		if reqs[i].answer != "" {
			fmt.Fprintf(&b, "%s %s\n", answerMark, reqs[i].answer)
		}
	}
	return b.String()
}

// answerMark stands before what the agent said at the end of a turn.
const answerMark = "[agent]"

// readRequests finds the user's requests.
func (c *composer) readRequests() {
	keep := c.in.keeps()
	for i := c.in.From; i < c.in.To; i++ {
		if keep(i) {
			continue
		}
		if t := typed.Words(c.in.History, i); t != "" {
			if n := len(t); n > pasted {
				t = clipText(t, pasted/2) + " …\n" + strings.ToValidUTF8(t[n-pasted/2:], "")
			}
			t = quote(t)
			c.requests = append(c.requests, request{at: i, text: t})
			c.words += c.count(t) + 4
		}
	}
}

// chooseUnits marks the sentences that fit.
func (c *composer) chooseUnits(reqs []request, room float64) []unit {
	var units []unit
	for i := range reqs {
		r := &reqs[i]
		r.units = r.units[:0]
		at := 0
		for s := range sentences(r.text) {
			from := at + strings.Index(r.text[at:], s)
			for at = from + len(s); from < at; {
				to := from + len(clipWord(r.text[from:at], unitBytes))
				r.units = append(r.units, len(units))
				units = append(units, unit{msg: i, from: from, to: to})
				from = to
			}
		}
		markConstraints(r, units)
		for k, u := range r.units {
			x := &units[u]
			age := float64(len(reqs) - 1 - i)
			place := float64(min(k, len(r.units)-1-k)) / float64(len(r.units))
			x.rank = 1/(1+0.15*age) - 0.5*place
			if x.constraint {
				x.rank += 2
			} else if k > 0 && !telling(r.text[x.from:x.to]) {
				x.rank = math.Inf(-1)
				continue
			}
			if i == 0 && k < 3 || k == 0 {
				x.rank += 1.5
			}
			if i == 0 && k == 0 || i == len(reqs)-1 && k < 2 {
				x.rank += 4
			}
		}
	}
	order := make([]int, len(units))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return units[order[a]].rank > units[order[b]].rank })
	open := make([]bool, len(reqs))
	room -= 4
	for _, u := range order {
		x := &units[u]
		if math.IsInf(x.rank, -1) {
			break
		}
		cost := float64(c.count(reqs[x.msg].text[x.from:x.to])) + 0.5
		if len(reqs[x.msg].units) > 1 {
			cost += 1.5 // for the dots in place of what is left out
		}
		if !open[x.msg] {
			cost += 5
		}
		if cost > room {
			continue
		}
		room -= cost
		open[x.msg] = true
		x.chosen = true
	}
	return units
}

// telling reports whether a piece of a request says something by itself, other
// than the number of a step, a fence or a tag.
func telling(s string) bool {
	n := 0
	for w := range wordsOf(s) {
		if len(w) > 1 {
			n++
		}
	}
	return n > 1
}

// markConstraints marks the sentences of a request that bind.
func markConstraints(r *request, units []unit) {
	at, next := 0, 0
	for _, s := range evidence.BindingSentences(r.text) {
		k := strings.Index(r.text[at:], s)
		if k < 0 {
			continue
		}
		from := at + k
		at = from + len(s)
		for next < len(r.units) && units[r.units[next]].to <= from {
			next++
		}
		for i := next; i < len(r.units) && units[r.units[i]].from < at; i++ {
			units[r.units[i]].constraint = true
		}
	}
}

// shortened writes the chosen sentences of a request, with dots for the rest.
func shortened(r *request, units []unit) string {
	var b strings.Builder
	last := -1 // end of what was written
	gap := false
	for _, u := range r.units {
		x := &units[u]
		if !x.chosen {
			gap = true
			continue
		}
		switch {
		case last < 0 && gap:
			b.WriteString("… ")
		case gap:
			if strings.Contains(r.text[last:x.from], "\n") {
				b.WriteString(" …\n")
			} else {
				b.WriteString(" … ")
			}
		case last >= 0:
			between := r.text[last:x.from]
			if n := strings.Count(between, "\n"); n > 0 {
				between = "\n"
			}
			b.WriteString(between)
		}
		b.WriteString(r.text[x.from:x.to])
		last, gap = x.to, false
	}
	if gap && last >= 0 {
		b.WriteString(" …")
	}
	return b.String()
}

// clipWord cuts text to at most n bytes, after a word where there is one.
func clipWord(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = clipText(s, n)
	if at := strings.LastIndexByte(s, ' '); at > n/2 {
		s = s[:at]
	}
	return s
}
