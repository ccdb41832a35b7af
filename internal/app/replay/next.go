package replay

import (
	"cmp"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/transcript"
)

// How sessions are cut for the next edits.
const (
	nextShare = 0.8   // of the window: where the first cut is
	nextEvery = 30000 // tokens to the next one
	nextMost  = 3     // cuts of one session
	nextCalls = 30    // calls of the future that decide
	laterTo   = 100   // last call of the future that is looked at besides
	nextClear = 10    // messages before a cut without a recorded compaction
)

// NextCut is a place where a session's context is full, and the edits that the
// agent made next.
type NextCut struct {
	At  int // messages before the cut
	End int // message after the last of the next 30 calls

	Edits []NextEdit // demanded by the next 30 calls
	Later []NextEdit // by the calls 31 to 100
}

// NextEdit is an edit whose old text stood before the cut and not after it.
type NextEdit struct {
	Path string
	Old  string // as it is compared; see comparedForms
	Call int    // which call after the cut makes it, counted from 1
	At   int    // its message
	Age  int    // tokens of history between where the text last stood and the cut
}

// nextIndex is what the cuts of one session share: the texts of its parts.
type nextIndex struct {
	session *Session
	texts   [][][]string // by message and part
	calls   map[string]*chat.Part
	access  map[*chat.Part]work.Access
	edits   map[*chat.Part][]work.Op
	failed  map[string]bool // ids of calls whose result reports a failure
	files   fileNames
	chars   []int // characters before message i
	result  map[*chat.Part]*chat.Part
	raw     map[*chat.Message]int

	wanted [][]wanted // edits by message
}

// wanted is an edit whose old text stood earlier in the session.
type wanted struct {
	path, old string
	part      int    // of its message
	source    partAt // the newest part before it that showed the text

	// known says that the edit is ready for one who sees all that was before it.
	// Others, such as a second try of an edit that failed, cost nobody a re-read.
	known bool
}

func newNextIndex(s *Session) *nextIndex {
	h := s.History
	x := &nextIndex{
		session: s, texts: make([][][]string, h.Len()), calls: map[string]*chat.Part{},
		access: map[*chat.Part]work.Access{}, edits: map[*chat.Part][]work.Op{},
		failed: map[string]bool{}, files: fileNames{}, chars: make([]int, h.Len()+1),
		result: map[*chat.Part]*chat.Part{}, raw: make(map[*chat.Message]int, h.Len()),
	}
	kinds := work.DefaultKinds()
	for i := range h.Len() {
		m := h.At(i)
		x.raw[m] = i
		x.texts[i] = make([][]string, len(m.Parts))
		x.chars[i+1] = x.chars[i]
		for k := range m.Parts {
			p := &m.Parts[k]
			x.chars[i+1] += partChars(p)
			x.texts[i][k] = partTexts(p)
			switch p.Kind {
			case chat.ToolCall:
				x.calls[p.ID] = p
				a := kinds.Access(p)
				x.access[p] = a
				for _, o := range a.Ops {
					if o.Kind != work.ToolSearch {
						x.files.add(o.Path)
					}
				}
				x.edits[p] = work.Edits(p, kinds, "")
				for _, e := range x.edits[p] {
					x.files.add(e.Path)
				}
			case chat.ToolResult:
				// Ids may come again in a long session: the call before is meant.
				if c := x.calls[p.ID]; c != nil {
					x.result[p] = c
				}
				x.failed[p.ID] = p.Failed
			}
		}
	}
	x.findWanted()
	return x
}

// findWanted finds the edits of the session whose old text stood before them, and
// where it did last. Being demanded after a cut is then a matter of order: the
// text stood before the cut and not since.
func (x *nextIndex) findWanted() {
	h := x.session.History
	x.wanted = make([][]wanted, h.Len())
	all := &shownView{} // everything before message i
	for i := range h.Len() {
		m := h.At(i)
		if i > 0 {
			all.places = append(all.places, x.readView([]*chat.Message{h.At(i - 1)}).places...)
		}
		for k := range m.Parts {
			for _, e := range x.edits[&m.Parts[k]] {
				if e.Kind != work.Change || e.Path == "" {
					continue
				}
				old := oldText(e.Old)
				if old == "" {
					continue
				}
				if source, ok := x.newestPartWith(old, i, k); ok {
					x.wanted[i] = append(x.wanted[i], wanted{e.Path, old, k, source, all.isReady(e.Path, old)})
				}
			}
		}
	}
}

// callOf returns the call that a result answers, where it is known.
func (x *nextIndex) callOf(result *chat.Part) *chat.Part {
	return cmp.Or(x.result[result], x.calls[result.ID])
}

// newestPartWith returns the newest part before part k of message i that shows a text.
func (x *nextIndex) newestPartWith(old string, i, k int) (partAt, bool) {
	for k--; i >= 0; i-- {
		for ; k >= 0; k-- {
			if anyContains(x.texts[i][k], old) {
				return partAt{i, k}, true
			}
		}
		if i > 0 {
			k = len(x.texts[i-1]) - 1
		}
	}
	return partAt{}, false
}

// findCuts returns where the session is cut for a window: where the context reaches
// 0.8 of it, then every 30,000 tokens, at an assistant message, with no recorded
// compaction near.
func (x *nextIndex) findCuts(window int) []NextCut {
	var out []NextCut
	h := x.session.History
	next := int(nextShare * float64(window))
	for at := 1; at < h.Len() && len(out) < nextMost; at++ {
		if x.chars[at]/4 < next || h.At(at).Role != chat.Assistant {
			continue
		}
		c := NextCut{At: at}
		x.findDemand(&c)
		if x.compactedBetween(at-nextClear, c.End) {
			continue
		}
		next = x.chars[at]/4 + nextEvery
		out = append(out, c)
	}
	return out
}

// compactedBetween reports whether the client compacted between two messages.
func (x *nextIndex) compactedBetween(from, to int) bool {
	return slices.ContainsFunc(x.session.Compactions, func(c transcript.Compaction) bool { return from < c.At && c.At <= to })
}

// findDemand finds what the calls after the cut ask of the messages before it.
func (x *nextIndex) findDemand(c *NextCut) {
	h := x.session.History
	calls := 0
	c.End = h.Len()
	for i := c.At; i < h.Len() && calls < laterTo; i++ {
		m := h.At(i)
		for k := range m.Parts {
			if m.Parts[k].Kind != chat.ToolCall || calls == laterTo {
				continue
			}
			calls++
			for _, w := range x.wanted[i] {
				if w.part != k || w.source.msg >= c.At {
					continue
				}
				e := NextEdit{Path: w.path, Old: w.old, Call: calls, At: i, Age: (x.chars[c.At] - x.chars[w.source.msg+1]) / 4}
				if calls <= nextCalls {
					c.Edits = append(c.Edits, e)
				} else {
					c.Later = append(c.Later, e)
				}
			}
			if calls == nextCalls {
				c.End = i + 1
			}
		}
	}
}
