package replay

import (
	"iter"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/token"
)

// How sessions are cut.
const (
	cutEvery   = 24000 // tokens into a stretch without compaction
	cutTail    = 8000  // tokens that stay, whoever summarises
	futureLong = 30    // steps that the agent's future has at most
	futureMin  = 10    // and at least
	nearLines  = 2     // a pair stands within so many lines
	nearBytes  = 240   // or so many characters
)

// Cut is one place where a session could have been compacted.
type Cut struct {
	Session *Session
	History chat.History // up to the cut
	From    int          // the removed region: messages From to To-1
	To      int
	End     int // where the future that was looked at ends
	Demand  Demand
}

// Demand is what the agent's future asks of the removed region.
type Demand struct {
	Entities    []Entity
	Pairs       [][2]string
	Words       []string
	Constraints []string
}

// Entity is an entity with its kind.
type Entity struct {
	Kind  evidence.EntityKind
	Value string
}

// Cuts returns the places where a session can be cut: every 24,000 tokens of a
// stretch in which the original client compacted nothing, at an assistant
// message, with at least 10 steps to follow.
func Cuts(s *Session, counter *token.Counter, common *Common) []Cut {
	ends := []int{0}
	for _, c := range s.Compactions {
		ends = append(ends, c.At)
	}
	ends = append(ends, s.History.Len())
	var cuts []Cut
	for i := 0; i+1 < len(ends); i++ {
		tokens, next := 0, cutEvery
		for at := ends[i]; at < ends[i+1]; at++ {
			if tokens >= next && s.History.At(at).Role == chat.Assistant {
				next = tokens - tokens%cutEvery + cutEvery
				if c, ok := cutAt(s, ends[i], at, ends[i+1], counter, common); ok {
					cuts = append(cuts, c)
				}
			}
			tokens += counter.At(s.History, at)
		}
	}
	return cuts
}

// cutAt makes the cut before message at of the stretch from..end.
func cutAt(s *Session, from, at, end int, counter *token.Counter, common *Common) (Cut, bool) {
	h := s.History
	steps, stop := 0, at
	for ; stop < end && steps < futureLong; stop++ {
		if h.At(stop).Role == chat.Assistant {
			steps++
		}
	}
	if steps < futureMin {
		return Cut{}, false
	}
	to := tailFrom(h.Head(at), from, counter)
	if to-from < 4 {
		return Cut{}, false
	}
	c := Cut{Session: s, History: h.Head(at), From: from, To: to, End: stop}
	c.Demand = demand(h, from, to, at, stop, common)
	return c, true
}

// tailFrom returns where the tail of a history starts that stays whoever
// summarises. It starts no earlier than from and breaks no exchange.
func tailFrom(h chat.History, from int, counter *token.Counter) int {
	to, kept := h.Len(), 0
	for to > from && kept < cutTail {
		to--
		kept += counter.At(h, to)
	}
	return chat.NewOutline(h).CutBefore(to)
}

// demand finds what the messages at..stop-1 ask of the messages from..to-1,
// with the messages to..at-1 in between still there.
func demand(h chat.History, from, to, at, stop int, common *Common) Demand {
	var d Demand
	region := newPlaces()
	words := map[string]bool{}
	for i := from; i < to; i++ {
		m := h.At(i)
		eachText(m, func(_ voice, text string) {
			region.add(text)
			eachWord(text, func(w string) { words[w] = true })
		})
		if m.Role == chat.User && !m.Synthetic {
			d.Constraints = append(d.Constraints, binding(m.Text())...)
		}
	}
	shown, shownWords := map[string]bool{}, map[string]bool{}
	show := func(_ voice, text string) {
		eachEntity(text, func(_ evidence.EntityKind, v string) { shown[v] = true })
		eachWord(text, func(w string) { shownWords[w] = true })
	}
	for i := to; i < at; i++ {
		eachText(h.At(i), show)
	}
	// What is demanded once is not asked for again: it counts as shown.
	for i := at; i < stop; i++ {
		m := h.At(i)
		if m.Role != chat.Assistant {
			eachText(m, show)
			continue
		}
		eachText(m, func(_ voice, text string) {
			eachEntity(text, func(k evidence.EntityKind, v string) {
				if !shown[v] && region.at[v] != nil && !common.Entity(v) {
					shown[v] = true
					d.Entities = append(d.Entities, Entity{k, v})
				}
			})
			eachWord(text, func(w string) {
				if !shownWords[w] && words[w] && !common.Word(w) {
					shownWords[w] = true
					d.Words = append(d.Words, w)
				}
			})
		})
	}
	slices.SortFunc(d.Entities, func(a, b Entity) int { return strings.Compare(a.Value, b.Value) })
	slices.Sort(d.Words)
	for i, a := range d.Entities {
		for _, b := range d.Entities[i+1:] {
			if region.near(a.Value, b.Value) {
				d.Pairs = append(d.Pairs, [2]string{a.Value, b.Value})
			}
		}
	}
	return d
}

// places records where entities stand in texts that follow each other.
type places struct {
	at           map[string][]place
	line, offset int
}

type place struct{ line, offset int }

func newPlaces() *places { return &places{at: map[string][]place{}} }

func (p *places) add(text string) {
	for l := range strings.SplitSeq(text, "\n") {
		base := 0
		evidence.Entities(l, func(_ evidence.EntityKind, v string) {
			k := max(0, strings.Index(l[base:], v))
			p.at[v] = append(p.at[v], place{p.line, p.offset + base + k})
			base += k
		})
		p.line++
		p.offset += len(l) + 1
	}
}

// has reports whether an entity stands in the text that was added. What is no
// entity there any more, as a path that lost its root,
// still stands there when it stands between marks or blanks; that is noted too.
func (p *places) has(text, v string) bool {
	if p.at[v] != nil {
		return true
	}
	for i := range standsAt(text, v) {
		p.at[v] = append(p.at[v], place{strings.Count(text[:i], "\n"), i})
	}
	return p.at[v] != nil
}

// standsAt returns where a value stands in a text between marks or blanks.
func standsAt(text, v string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := strings.Index(text[from:], v)
			if i < 0 {
				return
			}
			i += from
			from = i + len(v)
			if (i == 0 || !partOfWord(text[i-1])) && (from == len(text) || !partOfWord(text[from])) && !yield(i) {
				return
			}
		}
	}
}

func partOfWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// near reports whether two entities stand close to each other somewhere.
func (p *places) near(a, b string) bool {
	x, y := p.at[a], p.at[b]
	for i, k := 0, 0; i < len(x) && k < len(y); {
		dl, do := x[i].line-y[k].line, x[i].offset-y[k].offset
		if max(dl, -dl) <= nearLines || max(do, -do) <= nearBytes {
			return true
		}
		if do < 0 {
			i++
		} else {
			k++
		}
	}
	return false
}
