// Package plan holds compaction as data: a [Plan] is a short, readable list of
// edits over a history that is never touched. [Apply] gives the [View], which
// is what the model sees.
//
// A plan is made by [Compose], which joins the edits of the plan in force with
// new ones and refuses any combination that would break an exchange. It covers
// a prefix of a history and applies to every history that starts with exactly
// those messages. Once used it is sealed: as the history grows, its view only
// grows at the end, byte for byte.
//
// Everything a plan hides can be had back: [Recall] returns the original
// behind an edit's handle, [Undo] takes a plan's edits back, and the history
// was there all the time.
package plan

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/winnow-llm/winnow/chat"
)

// Version of the JSON form of a plan.
const Version = 2

// Kind says what an edit does.
type Kind string

// The kinds of edits.
const (
	Mask   Kind = "mask"   // a part's content is replaced
	Fold   Kind = "fold"   // a run of messages becomes one summary message
	Drop   Kind = "drop"   // a run of messages becomes a marker
	Answer Kind = "answer" // a call or result without its partner is mended
	State  Kind = "state"  // how things stand, in a message of its own after the last fold
)

// ID names a plan. Plans with the same edits over the same history have the same id.
type ID string

// Edit is one change. Coordinates are those of the untouched history.
type Edit struct {
	Kind Kind `json:"kind"`

	// From and To are the run of a fold or drop: messages From to To-1. A drop
	// of an empty run puts a marker before message From, and a state, of which a
	// plan has at most one, stands there too. For the other kinds From is the
	// message and To is From+1.
	From int `json:"from"`
	To   int `json:"to"`

	// Part is the part of a mask or answer; -1 for runs.
	Part int `json:"part"`

	// Keep lists messages inside a run that stay, after the run's text.
	Keep []int `json:"keep,omitempty"`

	// Text stands in place of the original. A mask of a call's arguments has a JSON
	// object. A mask without text removes its part; a result stays, without
	// content.
	Text string `json:"text"`

	// Role is that of the message which stands for a run: system, or "" for user.
	// A drop of no messages may be the assistant's.
	Role chat.Role `json:"role,omitempty"`

	// Prose is the part of Text that a summariser wrote.
	Prose string `json:"prose,omitempty"`

	// CallID is set on an answer that gives a call a result. An answer without
	// it turns its part, a call or result that has no partner, into Text or
	// removes it.
	CallID string `json:"call_id,omitempty"`

	// Stage proposed the edit, Why says for what reason. Handle names the
	// original for [Recall].
	Stage  string `json:"stage"`
	Why    string `json:"why,omitempty"`
	Handle string `json:"handle,omitempty"`

	// Before and After measure the original and its replacement.
	Before chat.Size `json:"before"`
	After  chat.Size `json:"after"`

	// Made is the plan that added the edit, By the plan that replaced it.
	Made ID `json:"made,omitempty"`
	By   ID `json:"by,omitempty"`
}

// isRun reports whether the edit makes a message that stands for a run of others,
// be it an empty one.
func (e *Edit) isRun() bool { return e.Kind == Fold || e.Kind == Drop || e.Kind == State }

// keeps reports whether message i, inside the edit's run, stays.
func (e *Edit) keeps(i int) bool {
	_, ok := slices.BinarySearch(e.Keep, i)
	return ok
}

// swallows reports whether f has no place beside e, because e's run takes it in.
func (e *Edit) swallows(f *Edit) bool {
	if f.Kind == State && f.From == e.From {
		return false // it stands before the run
	}
	return e.isRun() && e.From <= f.From && f.From < e.To && f.To <= e.To && (f.isRun() || !e.keeps(f.From))
}

// Ref names an edit of a plan by its place.
type Ref struct{ From, Part int }

// Ref returns the edit's place. All states have the same one, wherever they
// stand: a new one takes the place of the one before.
func (e *Edit) Ref() Ref {
	if e.Kind == State {
		return Ref{-1, -1}
	}
	return Ref{e.From, e.Part}
}

// Span is a run of messages: From to To-1.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Join says which neighbouring messages of the same side become one.
type Join string

// The ways of joining.
const (
	JoinNone  Join = ""
	JoinCalls Join = "calls" // an assistant message and the calls after it
	JoinAll   Join = "all"   // every two messages of one side
)

// Plan is the edits for a history's prefix. A plan is never changed once it
// is made; it is safe for concurrent use.
type Plan struct {
	// Prefix is the hash of the first Len messages, which the plan covers.
	Prefix chat.Hash `json:"prefix"`
	Len    int       `json:"len"`

	// Edits are sorted by place and do not overlap.
	Edits []Edit `json:"edits"`

	// Strip lists runs whose signed thinking is left out, because what stood
	// before it was changed after it was written.
	Strip []Span `json:"strip,omitempty"`

	// Join says which messages are joined, Seals where they never are: the
	// lengths at which earlier plans were sealed.
	Join  Join  `json:"join,omitempty"`
	Seals []int `json:"seals,omitempty"`

	// Results is the role of messages that answers add: tool or user.
	Results chat.Role `json:"results,omitempty"`

	// Parent is the plan this one grew from, Replaced the edits of earlier
	// plans that gave way to stronger ones, oldest first. A plan as JSON only
	// names those that it replaced itself: see [Plan.Link].
	Parent   ID     `json:"parent,omitempty"`
	Replaced []Edit `json:"-"`

	id ID
	lineage
	head atomic.Pointer[head]
}

// Bare returns a copy of the plan that holds on to no history. A plan that was
// applied keeps the view that it built, and with it the messages; a caller that
// keeps many plans for long keeps bare ones.
func (p *Plan) Bare() *Plan {
	if p == nil {
		return nil
	}
	return &Plan{
		Prefix: p.Prefix, Len: p.Len, Edits: p.Edits, Strip: p.Strip, Join: p.Join, Seals: p.Seals, Results: p.Results,
		Parent: p.Parent, Replaced: p.Replaced, id: p.id, lineage: p.lineage,
	}
}

// Errors that callers look for with [errors.Is].
var (
	// ErrMismatch says that a plan was made for another history.
	ErrMismatch = errors.New("the plan belongs to another history")
	// ErrNoHandle says that no edit of a plan has the handle asked for.
	ErrNoHandle = errors.New("no edit has this handle")
	// ErrUnlinked says that the plans before a plan are not at hand.
	ErrUnlinked = errors.New("the plan was read without the plans before it")
	// ErrInvalid says that edits do not make a plan.
	ErrInvalid = errors.New("invalid plan")
)

// ID returns the plan's id. It depends on what the plan covers and does, not on
// sizes, reasons or reports.
func (p *Plan) ID() ID {
	if p == nil {
		return ""
	}
	return p.id
}

// Covers reports whether the plan applies to the history.
func (p *Plan) Covers(h chat.History) bool {
	return p != nil && h.StartsWith(p.Len, p.Prefix)
}

// Saved returns the sum of what the edits saved.
func (p *Plan) Saved() chat.Size {
	var s chat.Size
	if p == nil {
		return s
	}
	for i := range p.Edits {
		s = s.Add(p.Edits[i].Before.Sub(p.Edits[i].After))
	}
	return s
}

func (p *Plan) computeID() ID {
	h := sha256.New()
	var b []byte
	num := func(n int) { b = binary.AppendVarint(b, int64(n)) }
	str := func(s string) {
		num(len(s))
		b = append(b, s...)
	}
	b = append(b, p.Prefix[:]...)
	num(p.Len)
	str(string(p.Join))
	str(string(p.Results))
	num(len(p.Strip))
	for _, s := range p.Strip {
		num(s.From)
		num(s.To)
	}
	num(len(p.Seals))
	for _, s := range p.Seals {
		num(s)
	}
	for i := range p.Edits {
		e := &p.Edits[i]
		str(string(e.Kind))
		num(e.From)
		num(e.To)
		num(e.Part)
		num(len(e.Keep))
		for _, k := range e.Keep {
			num(k)
		}
		str(e.Text)
		str(e.CallID)
		if e.Role != "" {
			str("role " + string(e.Role))
		}
		if len(b) > 4096 {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
	return ID(hex.EncodeToString(h.Sum(nil)[:8]))
}

// seal gives a finished plan its id and marks the edits that it made.
func (p *Plan) seal() *Plan {
	p.id = p.computeID()
	for i := range p.Edits {
		if p.Edits[i].Made == "" {
			p.Edits[i].Made = p.id
		}
	}
	for i := range p.Replaced {
		if e := &p.Replaced[i]; e.By == "" {
			e.By = p.id
			p.replaced = append(p.replaced, nameOf(e, ""))
		}
	}
	return p
}

var handleEncoding = base32.NewEncoding("abcdefghjkmnpqrstvwxyz0123456789").WithPadding(base32.NoPadding)

// Handle returns the handle of an edit at this place of the history: short,
// the same in every process, and different for different content.
func Handle(h chat.History, from, to, part int) string {
	sum := sha256.New()
	chain := h.Chain(max(to, from))
	sum.Write(chain[:])
	var b [2 * binary.MaxVarintLen64]byte
	n := binary.PutVarint(b[:], int64(from))
	n += binary.PutVarint(b[n:], int64(part))
	sum.Write(b[:n])
	return "w" + handleEncoding.EncodeToString(sum.Sum(nil)[:5])
}

// checkAlone verifies all that can be known without the history.
func (p *Plan) checkAlone() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("plan: %w: %s", ErrInvalid, fmt.Sprintf(format, args...))
	}
	switch {
	case p.Len < 0:
		return bad("length %d", p.Len)
	case p.Join != JoinNone && p.Join != JoinCalls && p.Join != JoinAll:
		return bad("unknown join %q", p.Join)
	case p.Results != "" && p.Results != chat.Tool && p.Results != chat.User:
		return bad("results by role %q", p.Results)
	}
	at := 0
	for _, s := range p.Strip {
		if s.From < at || s.From > s.To || s.To > p.Len {
			return bad("strip %d-%d of %d messages", s.From, s.To, p.Len)
		}
		at = s.To
	}
	at = -1
	for _, s := range p.Seals {
		if s <= at || s > p.Len {
			return bad("seal at %d of %d messages", s, p.Len)
		}
		at = s
	}
	for i := range p.Replaced {
		if err := p.Replaced[i].checkWithin(p.Len); err != nil {
			return bad("replaced edit %d: %v", i, err)
		}
	}
	end, in := 0, -1 // end of the last run, and its edit
	states := 0
	for i := range p.Edits {
		e := &p.Edits[i]
		if err := e.checkWithin(p.Len); err != nil {
			return bad("edit %d: %v", i, err)
		}
		if i > 0 && !lessByPlace(&p.Edits[i-1], e) {
			return bad("edit %d: out of order or twice at message %d", i, e.From)
		}
		if e.Kind == State {
			states++
		}
		switch {
		case states > 1:
			return bad("edit %d: a second state", i)
		case e.isRun() && e.From < end:
			return bad("edit %d: overlaps the run before it", i)
		case e.isRun():
			end, in = e.To, i
		case e.From < end && !p.Edits[in].keeps(e.From):
			return bad("edit %d: changes a message that edit %d takes away", i, in)
		}
	}
	return nil
}

// checkWithin verifies the edit by itself, in a history of n messages.
func (e *Edit) checkWithin(n int) error {
	if e.From < 0 || e.To < e.From || e.To > n {
		return fmt.Errorf("messages %d to %d of %d", e.From, e.To, n)
	}
	closes := e.Role == chat.Assistant && e.Kind == Drop && e.From == e.To
	if e.Role != "" && !closes && (e.Role != chat.System || !e.isRun()) {
		return fmt.Errorf("%s with the role %q", e.Kind, e.Role)
	}
	switch e.Kind {
	case Fold, Drop, State:
		if e.Part != -1 || e.Text == "" {
			return errors.New("a run needs a text and no part")
		}
		if e.Kind == Fold && e.From == e.To {
			return errors.New("a fold of no messages")
		}
		if e.Kind == State && e.From != e.To {
			return errors.New("a state stands for no messages")
		}
		at := e.From - 1
		for _, k := range e.Keep {
			if k <= at || k >= e.To {
				return fmt.Errorf("keeps message %d, which is out of order or outside its run", k)
			}
			at = k
		}
	case Mask, Answer:
		if e.To != e.From+1 || e.Part < 0 || len(e.Keep) > 0 {
			return errors.New("needs one message and a part, and keeps none")
		}
		if e.CallID != "" && e.Kind == Mask {
			return errors.New("a mask answers no call")
		}
	default:
		return fmt.Errorf("unknown kind %q", e.Kind)
	}
	return nil
}

// lessByPlace orders edits by place. Runs stand before what they keep; an answer that
// adds a result stands after a mask of the same call.
func lessByPlace(a, b *Edit) bool {
	if a.From != b.From {
		return a.From < b.From
	}
	if a.isRun() != b.isRun() {
		return a.isRun()
	}
	if a.Part != b.Part {
		return a.Part < b.Part
	}
	if a.isRun() { // the state, which belongs to the fold before it, a marker, the run that starts there
		return a.To < b.To || a.To == b.To && a.Kind == State && b.Kind != State
	}
	return a.CallID == "" && b.CallID != ""
}

// String describes the plan in one line.
func (p *Plan) String() string {
	if p == nil {
		return "no plan"
	}
	n := make(map[Kind]int, 5)
	for i := range p.Edits {
		n[p.Edits[i].Kind]++
	}
	var parts []string
	for _, k := range []Kind{Mask, Fold, Drop, Answer, State} {
		if n[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[k], k))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no edits"}
	}
	return fmt.Sprintf("plan %s over %d messages: %s", p.id, p.Len, strings.Join(parts, ", "))
}
