package wire

import (
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// How a part of a view comes from the history.
type act uint8

const (
	keep  act = iota // as it is
	mask             // its content is replaced
	words            // it became a text
	made             // an edit made it
)

// bit is one part of a message of a view.
type bit struct {
	act  act
	part int        // its index in the message it comes from, -1 for a made one
	p    *chat.Part // what the view has
}

// segment is the parts of a view's message that come from one message of the
// history, or that edits made (msg is then -1).
type segment struct {
	msg  int
	bits []bit
}

// segments tells where each part of message i of the view comes from. Most
// messages have one segment; joined ones have several.
//
// The origin tells which messages and edits took part. What each of them must
// have given is worked out again from the edits and compared with the view, so
// that bytes are only ever taken from the part that the view shows.
func segments(v plan.View, i int) ([]segment, error) {
	m, o := v.At(i), v.Origin(i)
	if o.Message < 0 && len(o.Joined) == 0 {
		s := segment{msg: -1}
		for k := range m.Parts {
			s.bits = append(s.bits, bit{made, -1, &m.Parts[k]})
		}
		return []segment{s}, nil
	}
	c := collector{v: v, p: v.Plan()}
	c.gather(o)
	if len(c.msgs) == 1 && len(c.runs) == 0 && len(c.answers) == 0 { // as most are
		s := share{o.Message, o.Message, c.message(o.Message)}
		if len(s.want) == len(m.Parts) && s.leads(m.Parts) {
			return []segment{s.segment(m.Parts)}, nil
		}
	}
	for _, inside := range [...]bool{true, false} {
		if segs, ok := c.match(m, inside); ok {
			return segs, nil
		}
	}
	return nil, &Error{Problem: fmt.Sprintf("message %d of the view is not what its edits make of it", i), Hint: "this is a fault in winnow: please report it"}
}

// collector knows which messages and edits a message of a view is made of.
type collector struct {
	v       plan.View
	p       *plan.Plan
	msgs    []int        // of the history, in order
	runs    []*plan.Edit // folds and drops
	answers []*plan.Edit // results that edits gave to calls
	changes []*plan.Edit // masks and other answers, by place
}

func (c *collector) gather(o plan.Origin) {
	if o.Message >= 0 {
		c.msgs = append(c.msgs, o.Message)
	}
	c.msgs = append(c.msgs, o.Joined...)
	edits := o.Edits
	if o.Edit >= 0 || !slices.IsSorted(edits) {
		edits = slices.Clone(edits)
		if o.Edit >= 0 {
			edits = append(edits, o.Edit)
		}
		slices.Sort(edits)
		edits = slices.Compact(edits)
	}
	for _, k := range edits {
		switch e := &c.p.Edits[k]; {
		case e.Kind == plan.Fold || e.Kind == plan.Drop:
			c.runs = append(c.runs, e)
		case e.CallID != "":
			c.answers = append(c.answers, e)
		default:
			c.changes = append(c.changes, e)
		}
	}
}

// share is what one message or edit gives to a message of a view.
type share struct {
	from, msg int
	want      []wanted
}

// wanted is a part that must be there.
type wanted struct {
	act  act
	part int
	p    chat.Part
	any  bool // any text will do
}

// match finds the order in which the shares make up the message. Answers
// stand beside the other results of their exchange, or on their own.
func (c *collector) match(m *chat.Message, inside bool) ([]segment, bool) {
	var shares []share
	for _, e := range c.runs {
		shares = append(shares, share{e.From, -1, []wanted{{act: made, part: -1, p: chat.Part{Kind: chat.Text, Text: e.Text}}}})
	}
	answers := make([]wanted, 0, len(c.answers))
	for _, e := range c.answers {
		call := &c.v.History().At(e.From).Parts[e.Part]
		answers = append(answers, wanted{act: made, part: -1, p: chat.Part{Kind: chat.ToolResult, ID: call.ID, Text: e.Text}})
	}
	hosted := false
	for _, n := range c.msgs {
		s := share{n, n, c.message(n)}
		if at := lastResult(s.want); inside && at >= 0 && len(answers) > 0 && !hosted && n > c.answers[0].From {
			s.want = slices.Insert(s.want, at+1, answers...)
			hosted = true
		}
		shares = append(shares, s)
	}
	if len(answers) > 0 && !hosted {
		shares = append(shares, share{c.answers[0].From, -1, answers})
	}
	slices.SortStableFunc(shares, func(a, b share) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.msg - b.msg // what edits made stands before what they kept
	})

	left := m.Parts
	var out []segment
	for len(shares) > 0 {
		k := slices.IndexFunc(shares, func(s share) bool { return s.leads(left) })
		if k < 0 {
			return nil, false
		}
		s := shares[k]
		shares = slices.Delete(shares, k, k+1)
		out = append(out, s.segment(left))
		left = left[len(s.want):]
	}
	return out, len(left) == 0
}

// segment returns the share as it stands at the start of the parts.
func (s *share) segment(parts []chat.Part) segment {
	seg := segment{msg: s.msg, bits: make([]bit, len(s.want))}
	for i := range s.want {
		seg.bits[i] = bit{s.want[i].act, s.want[i].part, &parts[i]}
	}
	return seg
}

func lastResult(want []wanted) int {
	for i := len(want) - 1; i >= 0; i-- {
		if want[i].p.Kind == chat.ToolResult {
			return i
		}
	}
	return -1
}

// leads reports whether the parts start with what the share must give.
func (s *share) leads(parts []chat.Part) bool {
	if len(parts) < len(s.want) {
		return false
	}
	for i := range s.want {
		w, p := &s.want[i], &parts[i]
		if w.p.Kind != p.Kind || !w.any && (w.p.Text != p.Text || w.p.ID != p.ID || w.p.Args != p.Args || w.p.Data != p.Data || w.p.Signature != p.Signature) {
			return false
		}
	}
	return true
}

// message works out what is left of message n under the edits that change it.
func (c *collector) message(n int) []wanted {
	orig := c.v.History().At(n)
	strip := c.stripped(n)
	changed := strip
	mine := c.changesOf(n)
	out := make([]wanted, 0, len(orig.Parts)+1)
	var quoted []wanted
	for k := range max(len(orig.Parts), 1) {
		w, there := wanted{act: made, part: -1}, k < len(orig.Parts)
		if there {
			w = wanted{act: keep, part: k, p: orig.Parts[k]}
			there = !strip || w.p.Kind != chat.Thinking || w.p.Signature == ""
		}
		for ; len(mine) > 0 && mine[0].Part <= k; mine = mine[1:] {
			e := mine[0]
			changed = true
			text := chat.Part{Kind: chat.Text, Text: e.Text}
			switch {
			case e.Kind == plan.Answer && e.Text != "" && w.p.Kind == chat.ToolResult:
				quoted = append(quoted, wanted{act: words, part: k, p: text})
				there = false
			case e.Kind == plan.Answer:
				w.act, w.p, there = words, text, e.Text != ""
			case w.part < 0:
				w.p, there = text, e.Text != ""
			case w.p.Kind == chat.ToolResult:
				w.act, w.p, there = mask, chat.Part{Kind: w.p.Kind, ID: w.p.ID, Text: e.Text}, true
			case w.p.Kind == chat.ToolCall:
				w.act, w.p, there = mask, chat.Part{Kind: w.p.Kind, ID: w.p.ID, Args: e.Text}, true
			default:
				w.act, w.p, there = mask, text, e.Text != ""
			}
		}
		if there {
			out = append(out, w)
		}
	}
	out = append(out, quoted...)
	says := func(w wanted) bool { return w.p.Kind != chat.Text || w.p.Text != "" }
	if changed && !slices.ContainsFunc(out, says) {
		return []wanted{{act: made, part: -1, any: true}} // what stands where nothing is left
	}
	return out
}

// changesOf returns the edits that change message n, by part.
func (c *collector) changesOf(n int) []*plan.Edit {
	from, _ := slices.BinarySearchFunc(c.changes, n, func(e *plan.Edit, n int) int { return e.From - n })
	to := from
	for to < len(c.changes) && c.changes[to].From == n {
		to++
	}
	return c.changes[from:to]
}

func (c *collector) stripped(n int) bool {
	_, found := slices.BinarySearchFunc(c.p.Strip, n, func(s plan.Span, n int) int {
		switch {
		case s.To <= n:
			return -1
		case s.From > n:
			return 1
		}
		return 0
	})
	return found && c.v.History().At(n).Role == chat.Assistant
}
