package stage

import (
	"context"
	"iter"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/ladder"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/token"
)

// Stage proposes edits.
type Stage interface {
	// Name is the stage's name in plans, reports and settings.
	Name() string

	// Propose returns edits that make the draft's view smaller by need, or by
	// as much of it as this stage can. It returns no edits when it has nothing
	// to offer. The edits must leave pins, the last user message and the parts
	// of d.Live alone, save that a stage may shorten parts of the live messages
	// where it says so.
	Propose(ctx context.Context, d *Draft, need chat.Size) ([]plan.Edit, error)
}

// Pin marks a message, or with Part >= 0 one of its parts, that no stage may
// edit. Signed thinking is the exception: a model that binds it to what stands
// before it refuses it after a rewrite, so there it goes.
type Pin struct {
	Message int
	Part    int // -1: the whole message
}

// Draft is a plan in the making: the history, the edits so far, and what the stages
// may touch.
type Draft struct {
	History chat.History
	Outline *chat.Outline
	Rules   chat.Rules
	Counter *token.Counter
	Kinds   *work.Kinds
	Config  Config

	// Available and Target are tokens for the whole request, in the counter's units.
	Available, Target int

	// LastUser is the user's last request, -1 when there is none. It stays as it is.
	LastUser int

	// Live is the first message of the part that the next call is about: the
	// last message or exchange, and with it the newest exchanges that stay whole.
	// No stage folds or drops from here on.
	Live int

	// Base is the plan in force; nil for none.
	Base *plan.Plan

	// View is what the model would see with the edits so far.
	View plan.View

	system  []chat.Part
	live    int      // the first message of the last exchange, or the last message
	lead    int      // the message that an open loop starts with, if it must lead with thinking; -1
	fixed   int      // tokens that every request carries: system prompt and tools
	notes   []string // for people, from the stages
	written []string // by the agent, see [Goal.Notes]
	added   []plan.Edit
	release []plan.Ref
	pins    map[int][]int           // by message: pinned parts; -1 stands for all
	keep    []bool                  // by message: stays when a run around it goes
	calls   map[plan.Ref]*chat.Part // by result; nil until it is asked for

	left     *leftParts      // what a fault or too much work cost, for all copies of the draft
	read     *ladder.Reading // the history as the ladder reads it; nil until it is asked for
	readings *ladder.Cache

	counts []int32 // by message: its tokens and 1, or 0 while they are not counted

	must      bool // a summary was asked for
	again     bool // and what it tells of was summarised before
	summaries []summary.Input
}

func newDraft(req *chat.Request, p *Pipeline, base *plan.Plan, pins []Pin) *Draft {
	h := req.History
	d := &Draft{
		History: h, Outline: chat.NewOutline(h), Rules: req.Rules.OrDefault(),
		Counter: p.Meter.Counter(), Kinds: p.Config.Kinds, Config: p.Config,
		system: req.System, Base: base, LastUser: -1, pins: make(map[int][]int), left: &leftParts{}, readings: p.readings,
	}
	for _, pin := range pins {
		if pin.Message >= 0 && pin.Message < h.Len() {
			d.pins[pin.Message] = append(d.pins[pin.Message], pin.Part)
		}
	}
	for i := range min(req.Fixed, h.Len()) {
		d.pins[i] = append(d.pins[i], -1)
	}
	d.findLive()
	d.findKept()
	d.findLead()
	return d
}

// findLive finds the user's last request and what the next call is about: the
// last message, with its exchange where it belongs to one. Of several user
// messages in a row only the last must stay; the others are turns like any. A
// message in which nobody typed anything is a request only where there is no other.
func (d *Draft) findLive() {
	n := d.History.Len()
	for i := n - 1; i >= 0; i-- {
		if d.History.At(i).StartsTurn() {
			d.LastUser = max(d.LastUser, i)
			if typed.Words(d.History, i) != "" {
				d.LastUser = i
				break
			}
		}
	}
	if n > 0 {
		d.live, _ = d.exchangeAround(n - 1)
	}
	d.Live = d.live
}

// findKept marks the messages that stay when a run around them goes: pins,
// closed over exchanges, system messages and the user's last request.
// Of a system message that came again word for word, the last copy stays.
func (d *Draft) findKept() {
	n := d.History.Len()
	d.keep = make([]bool, n)
	later := map[string]bool{}
	for i := n - 1; i >= 0; i-- {
		m := d.History.At(i)
		d.keep[i] = m.Role == chat.System && d.Outline.ExchangeOf(i) < 0 || i == d.LastUser
		if m.Role == chat.System && len(m.Parts) == 1 && len(m.Parts[0].Text) >= minRepeat {
			d.keep[i] = d.keep[i] && !later[m.Parts[0].Text]
			later[m.Parts[0].Text] = true
		}
	}
	for i := range d.pins {
		for from, to := d.exchangeAround(i); from < to; from++ {
			d.keep[from] = true
		}
	}
}

// exchangeAround returns the exchange that message i belongs to, or that message alone.
func (d *Draft) exchangeAround(i int) (from, to int) {
	if x := d.Outline.ExchangeOf(i); x >= 0 {
		return d.Outline.Exchanges[x].From, d.Outline.Exchanges[x].To
	}
	return i, i + 1
}

// Pinned reports whether the part of message i must not be edited. A part of
// -1 asks for the message as a whole.
func (d *Draft) Pinned(i, part int) bool {
	parts, ok := d.pins[i]
	if !ok {
		return false
	}
	return part < 0 || slices.Contains(parts, -1) || slices.Contains(parts, part)
}

// Editable reports whether a stage may mask the part of message i with a text:
// the view shows it, the next call is not about it, nothing pins it, and the
// provider takes it altered. The text for a tool call is a JSON object: the
// arguments that the view shows.
func (d *Draft) Editable(i, part int) bool {
	if i < 0 || i >= d.Live || part < 0 || part >= len(d.History.At(i).Parts) || !d.mayMask(i, part) {
		return false
	}
	p := &d.History.At(i).Parts[part]
	if p.Kind == chat.Thinking || p.Kind == chat.Opaque || p.Signature != "" {
		return false
	}
	return !slices.ContainsFunc(d.Edits(), func(e plan.Edit) bool {
		return isRun(&e) && e.From <= i && i < e.To && !containsSorted(e.Keep, i)
	})
}

// mayMask reports whether neither a pin nor the user's last request forbids a
// mask on the part of message i.
func (d *Draft) mayMask(i, part int) bool {
	return i != d.LastUser && !d.Pinned(i, part)
}

// Run returns the run of messages between from and to that a fold or drop may
// take: cut where no exchange is separated, grown over runs that it would cut
// in two, shortened by messages at both ends that stay anyway, with the ones
// inside listed. ok is false when nothing is left.
func (d *Draft) Run(from, to int) (a, b int, keep []int, ok bool) {
	a, b = d.Outline.CutBefore(from), d.cutLoop(d.Outline.CutBefore(to))
	if a < from {
		a = d.Outline.Exchanges[d.Outline.ExchangeOf(from)].To
	}
	// Runs of the plan so far are taken in whole or not at all.
	for _, e := range d.Edits() {
		if isRun(&e) && e.From < e.To && a < b {
			if e.From < a && a < e.To {
				a = e.From
			}
			if e.From < b && b < e.To {
				b = e.To
			}
		}
	}
	a, b, keep = trimRun(a, b, func(i int) bool { return d.keep[i] })
	return a, b, keep, a < b
}

// trimRun leaves the messages at both ends of a run out of it that stay, and lists those
// inside.
func trimRun(from, to int, stays func(i int) bool) (a, b int, keep []int) {
	for from < to && stays(from) {
		from++
	}
	for from < to && stays(to-1) {
		to--
	}
	for i := from; i < to; i++ {
		if stays(i) {
			keep = append(keep, i)
		}
	}
	return from, to, keep
}

// Tokens returns the tokens of messages from to to-1 of the untouched history.
func (d *Draft) Tokens(from, to int) int {
	n := 0
	for i := from; i < to; i++ {
		n += d.tokensAt(i)
	}
	return n
}

// tokensAt returns the tokens of message i of the untouched history. Every stage
// asks for many of them; the counter's own cache is slower, and may have
// forgotten them.
func (d *Draft) tokensAt(i int) int {
	if d.counts == nil {
		d.counts = make([]int32, d.History.Len())
	}
	if d.counts[i] == 0 {
		d.counts[i] = int32(d.Counter.At(d.History, i)) + 1
	}
	return int(d.counts[i]) - 1
}

// sizeOfRun measures the messages of a run that go.
func (d *Draft) sizeOfRun(from, to int, keep []int) chat.Size {
	var s chat.Size
	for i := from; i < to; i++ {
		if containsSorted(keep, i) {
			continue
		}
		m := d.History.At(i).Size()
		m.Tokens = d.tokensAt(i)
		s = s.Add(m)
	}
	return s
}

// editRun returns a fold or drop of a run with its measure and handle.
func (d *Draft) editRun(kind plan.Kind, stage string, from, to int, keep []int, text, why string) plan.Edit {
	m := chat.TextMessage(chat.User, text)
	role := chat.Role("")
	if d.Config.SystemRole && d.Rules.SystemAnywhere {
		m.Role, role = chat.System, chat.System
	}
	after := m.Size()
	after.Tokens = d.Counter.Message(&m)
	return plan.Edit{
		Role: role, Kind: kind, From: from, To: to, Part: -1, Keep: keep, Text: text, Stage: stage, Why: why,
		Handle: plan.Handle(d.History, from, to, -1), Before: d.sizeOfRun(from, to, keep), After: after,
	}
}

// maskPart returns a mask of a part with its measure and handle. ok is false when
// it would not make the part smaller.
func (d *Draft) maskPart(stage string, p visiblePart, text, why string) (e plan.Edit, ok bool) {
	if onlyAMarker(p.Part) {
		return e, false
	}
	before := p.Size()
	before.Tokens = d.Counter.Part(p.Part)
	handle := d.handleOf(p)
	if again, ok := d.recalledMarker(p); ok {
		text, handle = again, ""
	}
	next := *p.Part
	switch p.Kind {
	case chat.ToolResult:
		next.Text, next.Content = text, nil
	case chat.ToolCall:
		next.Args = text
	default:
		next = chat.Part{Kind: chat.Text, Text: text}
	}
	var after chat.Size
	if text != "" || p.Kind == chat.ToolResult || p.Kind == chat.ToolCall {
		after = next.Size()
		after.Tokens = d.Counter.Part(&next)
	}
	e = plan.Edit{
		Kind: plan.Mask, From: p.message, To: p.message + 1, Part: p.index, Text: text, Stage: stage, Why: why,
		Handle: handle, Before: before, After: after,
	}
	return e, after.Tokens < before.Tokens || after.Images < before.Images || after.Bytes < before.Bytes*9/10
}

// Edits returns the edits in force in the draft, sorted by place.
func (d *Draft) Edits() []plan.Edit {
	if p := d.View.Plan(); p != nil {
		return p.Edits
	}
	return nil
}

// eachVisible calls f for every message of the history that stands in the view, in
// order, with the edits that change its parts. Messages inside folded or
// dropped runs are left out.
func (d *Draft) eachVisible(from, to int, f func(i int, edits []plan.Edit)) {
	edits := d.Edits()
	next, end := 0, 0
	var run *plan.Edit
	for i := range to {
		for next < len(edits) && edits[next].From <= i && (isRun(&edits[next]) || edits[next].Kind == plan.State) {
			if edits[next].To > end {
				run, end = &edits[next], edits[next].To
			}
			next++
		}
		first := next
		for next < len(edits) && edits[next].From == i {
			next++
		}
		if i < from || i < end && !containsSorted(run.Keep, i) {
			continue
		}
		f(i, edits[first:next])
	}
}

// visiblePart is a part that stands in the view, and the edit that masks it; nil for
// none.
type visiblePart struct {
	*chat.Part
	message, index int
	mask           *plan.Edit
}

// visibleParts ranges over the parts of the messages that stand in the view.
func (d *Draft) visibleParts(from, to int) iter.Seq[visiblePart] {
	return func(yield func(visiblePart) bool) {
		more := true
		d.eachVisible(from, to, func(i int, masks []plan.Edit) {
			m := d.History.At(i)
			for k := 0; more && k < len(m.Parts); k++ {
				more = yield(visiblePart{&m.Parts[k], i, k, maskOf(masks, k)})
			}
		})
	}
}

// item is a part of the view with its tokens there.
type item struct {
	visiblePart
	tokens int
}

func (d *Draft) asItem(p visiblePart) item {
	if p.mask != nil {
		return item{p, p.mask.After.Tokens}
	}
	return item{p, d.Counter.Part(p.Part)}
}

// savedBy returns what edits save.
func savedBy(edits []plan.Edit) (s chat.Size) {
	for i := range edits {
		s = s.Add(edits[i].Before.Sub(edits[i].After))
	}
	return s
}

func tokensOf(items []item) int {
	n := 0
	for i := range items {
		n += items[i].tokens
	}
	return n
}

// containsSorted reports whether a sorted list holds i.
func containsSorted(sorted []int, i int) bool {
	_, ok := slices.BinarySearch(sorted, i)
	return ok
}

func isRun(e *plan.Edit) bool { return e.Kind == plan.Fold || e.Kind == plan.Drop }

// maskOf returns the mask among a message's edits, which are sorted by part, that
// covers the part.
func maskOf(edits []plan.Edit, part int) *plan.Edit {
	k, _ := slices.BinarySearchFunc(edits, part, func(e plan.Edit, part int) int { return e.Part - part })
	for ; k < len(edits) && edits[k].Part == part; k++ {
		if edits[k].CallID == "" {
			return &edits[k]
		}
	}
	return nil
}

// Call returns the call that a result answers, or an empty call when there is
// none before it.
func (d *Draft) Call(i, part int) *chat.Part {
	if d.calls == nil {
		d.calls = make(map[plan.Ref]*chat.Part)
		byID := make(map[string]*chat.Part)
		for at := range d.History.Len() {
			parts := d.History.At(at).Parts
			for k := range parts {
				switch p := &parts[k]; p.Kind {
				case chat.ToolCall:
					byID[p.ID] = p
				case chat.ToolResult:
					d.calls[plan.Ref{From: at, Part: k}] = byID[p.ID]
				}
			}
		}
	}
	if c := d.calls[plan.Ref{From: i, Part: part}]; c != nil {
		return c
	}
	return &chat.Part{Kind: chat.ToolCall, Name: d.History.At(i).Parts[part].Name}
}

// proposeEdits composes the draft's edits with more of them and looks at the result.
// It changes nothing.
func (d *Draft) proposeEdits(m *budget.Meter, edits []plan.Edit) (plan.View, []plan.Edit, budget.Totals, error) {
	v, all, err := d.composeView(plan.Overlay(d.added, edits))
	if err != nil {
		return plan.View{}, nil, budget.Totals{}, err
	}
	return v, all, m.Measure(v), nil
}

// composeView returns the view under the edits, and the edits with those that the
// view needs beside them.
func (d *Draft) composeView(edits []plan.Edit) (plan.View, []plan.Edit, error) {
	v, err := d.viewUnder(edits)
	if err != nil {
		return v, nil, err
	}
	if e, open := v.CloseLoop(d.Rules); open {
		edits = plan.Overlay(edits, []plan.Edit{e})
		v, err = d.viewUnder(edits)
	}
	return v, edits, err
}

func (d *Draft) viewUnder(edits []plan.Edit) (plan.View, error) {
	p, err := plan.Compose(d.Base, d.History, d.Rules, d.release, edits...)
	if err != nil {
		return plan.View{}, err
	}
	return plan.Apply(d.History, p)
}

// handleOf returns the handle of a part.
func (d *Draft) handleOf(p visiblePart) string {
	return plan.Handle(d.History, p.message, p.message+1, p.index)
}

// redeemPart returns the handle of a part as markers show it.
func (d *Draft) redeemPart(p visiblePart) string { return d.redeemHint(d.handleOf(p)) }

// redeemHint returns a handle as markers show it: with the tool that gives the
// original back, where there is one.
func (d *Draft) redeemHint(handle string) string {
	if d.Config.RecallTool == "" {
		return handle
	}
	return handle + "; recall it with the " + d.Config.RecallTool + " tool"
}
