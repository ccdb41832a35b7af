package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/token"
)

// The field is where users are: a large window, of which system prompt and tools
// take a fixed part, and requests in which nothing marks what nobody typed.

// FieldPolicy makes views of requests that are to be compacted now. A message
// that stays as it is must be the request's own, by its pointer.
type FieldPolicy struct {
	Name string
	View func(ctx context.Context, req chat.Request) ([]*chat.Message, error)

	// Target is the whole prompt that was asked for, in tokens; 0 is none.
	Target int
}

// Place is where views are measured.
type Place struct {
	Window int `json:"window"`

	// Fixed is what system prompt and tools have, in tokens: what the session has
	// of its own is filled up with neutral text.
	Fixed int `json:"fixed"`

	// Marked says that messages which nobody typed are marked, as in a session
	// file. In a request nothing is.
	Marked bool `json:"marked"`

	// At is the share of the room at which sessions are cut first. 0 is where the
	// engine would compact with nothing set.
	At float64 `json:"at,omitempty"`

	// Target is the whole prompt that views are to have, in tokens; 0 leaves that
	// to the policy.
	Target int `json:"target,omitempty"`
}

// Places returns those that the field is measured in.
func Places() []Place {
	return []Place{
		{Window: 200_000, Fixed: 42_000},
		{Window: 200_000, Fixed: 12_000},
		{Window: 200_000, Fixed: 42_000, Marked: true},
		{Window: 200_000, Fixed: 12_000, Marked: true},
		{Window: 100_000, Fixed: 20_000},
		{Window: 1_000_000, Fixed: 42_000},
		{Window: 64_000},
	}
}

// Reserved returns what a place keeps for an answer before any is known, in tokens.
func (p Place) Reserved() int { return min(16_000, p.Window/5) }

// Room returns what a conversation may have, in tokens.
func (p Place) Room() int { return p.Window - p.Reserved() - p.Fixed }

// shippedModel is one that users of the field work with: its prices count where
// the engine looks at them.
const shippedModel = "claude-opus-5-5"

// fieldEngine makes the engine for a place.
func fieldEngine(set winnow.Settings, p Place) (*winnow.Winnow, error) {
	set.Window = p.Window
	return engineFor(set, shippedModel, counting, model.Window{})
}

// Shipped returns the engine under some settings as a policy of the field.
func Shipped(name string, set winnow.Settings, p Place, target int) (FieldPolicy, error) {
	w, err := fieldEngine(set, p)
	if err != nil {
		return FieldPolicy{}, err
	}
	return compactingPolicy(name, w, target)
}

// compactingPolicy returns an engine as a policy that compacts to a target; 0 leaves
// that to the settings.
func compactingPolicy(name string, w *winnow.Winnow, target int) (FieldPolicy, error) {
	if l := w.Limits(0); target >= l.Available {
		return FieldPolicy{}, fmt.Errorf("replay: %s: a target of %d tokens is too large to be a compaction in a window of %d", name, target, l.Context)
	}
	return FieldPolicy{Name: name, Target: target, View: func(ctx context.Context, req chat.Request) ([]*chat.Message, error) {
		r, err := w.Fit(ctx, req, winnow.State{Ask: winnow.Ask{Force: true, TargetTokens: target}})
		if err != nil {
			return nil, err
		}
		return viewMessages(req.History, r.View), nil
	}}, nil
}

// FieldOptions say what the field's board measures. The zero value is all.
type FieldOptions struct {
	Places  []Place // nil is [Places]
	Targets []int   // whole prompts in tokens, where there is room for them

	// Policies returns what is measured in a place; nil is the engine with nothing
	// set, and for each target.
	Policies func(Place) ([]FieldPolicy, error)

	// Edits leaves out regret and the sessions without files.
	Edits bool

	// Seed draws the places at which nothing was compacted.
	Seed uint64

	Crew
}

// policiesFor returns the policies of a place.
func (o *FieldOptions) policiesFor(p Place) ([]FieldPolicy, error) {
	if o.Policies != nil {
		return o.Policies(p)
	}
	own, err := Shipped("nothing set", winnow.Settings{}, p, p.Target)
	if err != nil {
		return nil, err
	}
	out := []FieldPolicy{own}
	for _, t := range o.Targets {
		if t <= p.Fixed || t >= p.Window-p.Reserved() || p.Marked {
			continue
		}
		aimed, err := Shipped(fmt.Sprintf("target %d", t), winnow.Settings{}, p, t)
		if err != nil {
			continue // no compaction there
		}
		out = append(out, aimed)
	}
	return out, nil
}

// fieldPlace is a place with what is measured in it.
type fieldPlace struct {
	Place
	policies []FieldPolicy
	engine   *winnow.Winnow // says when a rewrite is due with nothing set
	counter  *token.Counter

	// alone says that the conversation has the window to itself, as the board of next
	// edits has it: nothing is fixed, and cuts are made by [nextIndex.findCuts].
	alone bool
}

// openPlaces makes the engines of places.
func openPlaces(places []Place) ([]fieldPlace, error) {
	out := make([]fieldPlace, len(places))
	for i, p := range places {
		w, err := fieldEngine(winnow.Settings{}, p)
		if err != nil {
			return nil, err
		}
		out[i] = fieldPlace{Place: p, engine: w, counter: w.Meter().Counter()}
	}
	return out, nil
}

// Field measures the field.
func Field(ctx context.Context, d *Data, opts *FieldOptions) (*FieldBoard, error) {
	o := *opts
	if o.Places == nil {
		o.Places = Places()
	}
	places, err := openPlaces(o.Places)
	if err != nil {
		return nil, err
	}
	least := o.Places[0].Room()
	for i, p := range o.Places {
		if places[i].policies, err = o.policiesFor(p); err != nil {
			return nil, err
		}
		least = min(least, p.Room())
	}
	sessions := d.sessionsThat(func(s *Session) bool { return !tooShort(s, least/2) })
	// The longest first, so that no core waits for it at the end.
	slices.SortStableFunc(sessions, func(a, b *Session) int { return b.History.Len() - a.History.Len() })
	b := &FieldBoard{Fingerprint: d.Fingerprint}
	if b.Places, err = o.scorePlaces(ctx, sessions, places); err != nil || o.Edits {
		return b, err
	}
	if b.Recorded, b.Random, err = o.measureRegrets(ctx, d); err != nil {
		return nil, err
	}
	b.Plain, err = o.measurePlain(ctx, d)
	return b, err
}

// scorePlaces measures the cuts of sessions in every place.
func (c *Crew) scorePlaces(ctx context.Context, sessions []*Session, places []fieldPlace) ([]FieldPlace, error) {
	scores := make([][][]fieldScore, len(sessions)) // by session, place and policy; nil without a cut
	err := c.Each(ctx, len(sessions), "next edits", func(i int) error {
		var err error
		scores[i], err = scoreField(ctx, sessions[i], places)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]FieldPlace, len(places))
	for p := range places {
		var list [][]fieldScore
		for i := range scores {
			if scores[i][p] != nil {
				list = append(list, scores[i][p])
			}
		}
		out[p] = sumField(&places[p], list)
	}
	return out, nil
}

// sessionsThat returns the sessions of a kind, in the order of the data.
func (d *Data) sessionsThat(fit func(*Session) bool) []*Session {
	var out []*Session
	for i := range d.Sessions {
		if s := &d.Sessions[i]; fit(s) {
			out = append(out, s)
		}
	}
	return out
}

// scoreField measures the cuts of one session in every place.
func scoreField(ctx context.Context, s *Session, places []fieldPlace) ([][]fieldScore, error) {
	out := make([][]fieldScore, len(places))
	err := eachCut(s, places, func(p int, x *nextIndex, req chat.Request, c *NextCut) error {
		place := &places[p]
		if out[p] == nil {
			out[p] = make([]fieldScore, len(place.policies))
		}
		words := x.wordsBefore(c)
		for k := range place.policies {
			score, err := place.scorePolicy(ctx, x, req, c, words, &place.policies[k])
			if err != nil {
				return fmt.Errorf("%s: %w", place.policies[k].Name, err)
			}
			out[p][k] = out[p][k].plus(score)
		}
		return nil
	})
	return out, err
}

// eachCut calls f with every cut of a session in every place, and with the request there.
func eachCut(s *Session, places []fieldPlace, f func(p int, x *nextIndex, req chat.Request, c *NextCut) error) error {
	x, bare := newBareIndex(s)
	for p := range places {
		req := places[p].newRequest(s, bare)
		if places[p].Marked {
			req.History = s.History
		}
		cuts, err := places[p].findCuts(x, req)
		if err != nil {
			return err
		}
		for c := range cuts {
			now := req
			now.History = req.History.Head(cuts[c].At)
			if err := f(p, x, now, &cuts[c]); err != nil {
				return fmt.Errorf("replay: %s at message %d: %w", s.File, cuts[c].At, err)
			}
		}
	}
	return nil
}

// newBareIndex returns the index of a session, and its history as a request body has it,
// whose messages the index knows too.
func newBareIndex(s *Session) (*nextIndex, chat.History) {
	x, bare := newNextIndex(s), withoutMarks(s.History)
	for i, m := range bare.All() {
		x.raw[m] = i
	}
	return x, bare
}

// withoutMarks returns a history as a request body has it: nothing says which messages
// nobody typed.
func withoutMarks(h chat.History) chat.History {
	msgs := slices.Clone(h.Messages())
	for i := range msgs {
		msgs[i].Synthetic = false
	}
	return chat.NewHistory(msgs...)
}

// newRequest returns a request of the session in a place.
func (p *fieldPlace) newRequest(s *Session, h chat.History) chat.Request {
	if p.alone {
		return chat.Request{History: h, Rules: Rules()}
	}
	return chat.Request{System: padSystem(s, p.Fixed, p.counter), Tools: s.Tools, History: h, Rules: Rules()}
}

// padSystem returns the session's own system prompt with as much neutral text as makes
// system prompt and tools the fixed part. It names the folder, as those of agents do.
func padSystem(s *Session, tokens int, k *token.Counter) []chat.Part {
	with := func(n int) []chat.Part {
		return append(slices.Clone(s.System), chat.Part{Kind: chat.Text, Text: "Working directory: " + s.Folder + "\n" + strings.Repeat(neutral, n)})
	}
	fixed := func(parts []chat.Part) int { return k.Conversation() + k.System(parts) + k.Tools(s.Tools) }
	if fixed(s.System) >= tokens {
		return s.System
	}
	each := fixed(with(65)) - fixed(with(1))
	return with(max(0, 64*(tokens-fixed(with(1)))/max(1, each)+1))
}

// neutral is a sentence that no session has a use for.
const neutral = "Be thorough and calm, and say plainly what was done and what was not. "

// findCuts returns where a session is cut in a place: where the engine would compact
// with nothing set, or at the share of the room that was asked for, then every
// 30,000 tokens.
func (p *fieldPlace) findCuts(x *nextIndex, req chat.Request) ([]NextCut, error) {
	if p.alone {
		return x.findCuts(p.Window), nil
	}
	var out []NextCut
	h := x.session.History
	size, next := 0, 0 // tokens of the conversation, and at which the next cut is
	if p.At > 0 {
		next = int(p.At * float64(p.Room()))
	}
	for at := 0; at < h.Len() && len(out) < nextMost; at++ {
		if at > 0 && size >= max(next, p.Room()/8) && h.At(at).Role == chat.Assistant {
			due := next > 0
			if !due {
				r := req
				r.History = req.History.Head(at)
				st, err := p.engine.Check(r, winnow.State{})
				if err != nil {
					return nil, err
				}
				due = st.ShouldCompact
			}
			if due {
				c := NextCut{At: at}
				x.findDemand(&c)
				next = size
				if !x.compactedBetween(at-nextClear, c.End) {
					next = size + nextEvery
					out = append(out, c)
				}
			}
		}
		size += p.counter.At(h, at)
	}
	return out, nil
}

// scorePolicy measures a policy at a cut.
func (p *fieldPlace) scorePolicy(ctx context.Context, x *nextIndex, req chat.Request, c *NextCut, words *fieldWords, by *FieldPolicy) (fieldScore, error) {
	s := fieldScore{cuts: 1, history: x.chars[c.At] / 4}
	msgs, given, err := viewOf(ctx, by, req)
	if err != nil {
		return s, err
	}
	s.given = given
	s.prompt = p.counter.Conversation() + p.counter.System(req.System) + p.counter.Tools(req.Tools)
	for _, m := range msgs {
		if i, ok := x.raw[m]; ok {
			s.prompt += p.counter.At(x.session.History, i)
		} else {
			s.prompt += p.counter.Message(m)
		}
	}
	s.least, s.most = s.prompt, s.prompt
	s.size = viewSize(msgs)
	s.words = words.measureKept(msgs)
	if p.alone {
		s.viewScore = x.scoreView(c, msgs)
		return s, nil
	}
	s.own = c.countReady(x.readView(msgs))
	for k, rival := range Rivals() {
		s.rivals[k] = c.countReady(x.readView(rivalView(x, c, rival, msgs)))
	}
	return s, nil
}

// rivalView returns a rival's view of the same size where there is a fixed part: the
// session's own system text is no part of the size, since every view keeps it.
func rivalView(x *nextIndex, c *NextCut, rival Rival, msgs []*chat.Message) []*chat.Message {
	chars := 4 * viewSize(withoutSystem(msgs))
	view := rival.make(x, c, chars)
	view = rival.make(x, c, chars+4*(viewSize(view)-viewSize(withoutSystem(view))))
	return append(systemOf(x.session.History.Head(c.At)), withoutSystem(view)...)
}

// withoutSystem returns the messages without system text.
func withoutSystem(msgs []*chat.Message) []*chat.Message {
	return slices.DeleteFunc(slices.Clone(msgs), func(m *chat.Message) bool { return m.Role == chat.System })
}

// systemOf returns the system text that stands among a session's messages.
func systemOf(h chat.History) []*chat.Message {
	var out []*chat.Message
	for _, m := range h.All() {
		if m.Role == chat.System {
			out = append(out, m)
		}
	}
	return out
}

// ages are how far back, in tokens, the text of an edit was last seen: below the
// first, below the second, and further.
var ages = [...]int{20_000, 60_000}

// aged are edits that are ready, by age.
type aged [len(ages) + 1]Tally

func (a aged) plus(b aged) aged {
	for i := range a {
		a[i] = a[i].plus(b[i])
	}
	return a
}

// all returns the sum over the ages.
func (a aged) all() Tally {
	var t Tally
	for _, x := range a {
		t = t.plus(x)
	}
	return t
}

// countReady counts the edits of a cut that are ready in a view.
func (c *NextCut) countReady(v *shownView) aged {
	var out aged
	for _, e := range c.Edits {
		k := 0
		for k < len(ages) && e.Age >= ages[k] {
			k++
		}
		out[k].put(v.isReady(e.Path, e.Old))
	}
	return out
}

// viewScore is what a view holds of what the agent does next: the edits that are ready, also
// in views of the same size by the rivals. What else is asked of a view is there so that
// V is not won by harming the agent.
type viewScore struct {
	own                 aged
	rivals              [2]aged
	later, found, stale Tally // edits of the calls 31 to 100; ready, or found by one search; lines
}

func (a viewScore) plus(b viewScore) viewScore {
	for i := range a.rivals {
		a.rivals[i] = a.rivals[i].plus(b.rivals[i])
	}
	return viewScore{a.own.plus(b.own), a.rivals, a.later.plus(b.later), a.found.plus(b.found), a.stale.plus(b.stale)}
}

// scoreView measures a view of a cut that has its window to itself.
func (x *nextIndex) scoreView(c *NextCut, msgs []*chat.Message) viewScore {
	shown := x.readView(msgs)
	s := viewScore{own: c.countReady(shown), found: x.countFound(c, msgs, shown), stale: x.countStale(c, msgs)}
	for _, e := range c.Later {
		s.later.put(shown.isReady(e.Path, e.Old))
	}
	for k, rival := range Rivals() {
		if len(c.Edits) > 0 {
			s.rivals[k] = c.countReady(x.readView(rival.make(x, c, 4*viewSize(msgs))))
		}
	}
	return s
}
