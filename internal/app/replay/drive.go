package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/model"
)

// Outcome is what one policy did on one session.
type Outcome struct {
	Session  *Session
	Requests int

	// Prompt is all tokens sent, Read those that the cache had.
	Prompt, Read, Output int

	// Dollars with a cache that never goes cold; Timed with the gaps that the session's
	// timestamps show and the model's lifetime.
	Dollars, Timed float64

	// Summaries is what of the dollars the calls for summaries took.
	Summaries float64

	// Blocked is how long the agent waited for summaries: what its session records,
	// else the median.
	Blocked time.Duration

	// First is the prompt due at the first rewrite, Asked the prompt due when a
	// summary was first asked for; 0 where there was none.
	First, Asked int

	// Cold are the rewrites that found the cache cold by the session's times.
	Cold int

	Rewrites int
	Calls    int
	Invalid  int // rewrites that break a rule which the recorded session does not break
	Overflow int // requests larger than the window
	Peak     int

	// Edits are the agent's edits whose old text stood earlier, and of those the
	// ones for which it was in the context; Rereads is how often it was not and had
	// to be read again, Again what that cost.
	Edits   Tally
	Rereads int
	Again   float64

	// rewritten is what the views right after the first five rewrites hold: V of each
	// policy on its own path, where a single cut tests the first fold only.
	rewritten viewScore

	// After adds up the views right after each rewrite, in tokens of messages.
	After int

	// Step is how long a step of the session takes: a re-read costs one.
	Step time.Duration

	// Failed counts requests for which the policy gave up; they are sent as
	// they were the time before, with what is new.
	Failed int

	// Broken says what the first invalid request broke.
	Broken string
}

// Lost returns the time that summaries and re-reads took.
func (o *Outcome) Lost() time.Duration { return o.Blocked + time.Duration(o.Rereads)*o.Step }

// driver replays one session.
type driver struct {
	*index
	window int
	price  model.Model
	own    bool         // our settings decide when to compact, as in the field, and not the trigger
	works  model.Window // that a gateway knows the agent to work in, which is then the window here

	// next knows the session's edits; without it nothing is read again.
	next *nextIndex
	step time.Duration

	// clock tells the policy how long before each request the last one was.
	clock bool

	// look is shown every request: the message that answers it, the prompt's
	// tokens and its messages. It may be nil.
	look func(answer, prompt int, now []*chat.Message)
}

// run replays the session under a policy.
func (d *driver) run(ctx context.Context, p Policy) (Outcome, error) {
	h := d.session.History
	out := Outcome{Session: d.session, Step: d.step}
	b := &book{d.index, map[*chat.Message]int{}}
	setup := Setup{Window: d.window, Trigger: int(trigger * float64(d.window)), run: d, book: b}
	setup.Agent, _ = table.OfFormat(string(d.session.Format))
	next, err := p.Begin(setup)
	if err != nil {
		return out, fmt.Errorf("replay: %s: %w", p.Name, err)
	}
	var prev []*chat.Message
	var prevTime int64
	var rules ruleState
	var rides riding
	for i := range h.Len() {
		answer := h.At(i)
		if answer.Role != chat.Assistant || i == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		timed := prevTime > 0 && answer.Time > 0
		var idle time.Duration
		if timed && d.clock {
			idle = time.Duration(answer.Time-prevTime) * time.Millisecond
		}
		sent, err := next(ctx, h.Head(i), idle)
		if err != nil {
			var not giveUp
			if !errors.As(err, &not) {
				return out, fmt.Errorf("replay: %s on %s at message %d: %w", p.Name, d.session.File, i, err)
			}
			out.Failed++
		}
		now := sent.Messages
		out.Requests++

		// What both requests start with is what the cache has.
		same, read := 0, 0
		for same < len(prev) && same < len(now) && b.sameContent(prev[same], now[same]) {
			read += b.sizeOf(now[same])
			same++
		}
		prompt := read
		for _, m := range now[same:] {
			prompt += b.sizeOf(m)
		}
		prompt += d.fixed
		if prev != nil {
			read += d.fixed
			if same < len(prev) {
				if timed && lostCache(&d.price, answer.Time-prevTime) {
					out.Cold++
				}
				if out.Rewrites++; out.First == 0 {
					out.First = d.fixed + d.cum[i]
				}
				out.After += prompt - d.fixed
			}
		}
		out.Prompt += prompt
		out.Read += read
		out.Output += d.tokens[i]
		out.Peak = max(out.Peak, prompt)
		refused := prompt > d.window && !p.Happened
		if refused {
			out.Overflow++
		}
		if out.Calls += len(sent.Calls); out.Calls > 0 && out.Asked == 0 {
			out.Asked = d.fixed + d.cum[i]
		}
		for _, call := range sent.Calls {
			out.Blocked += cmp.Or(call.Took, usualWait(d.session))
		}
		d.payRequest(&out, prompt, read, d.tokens[i], answer.Time-prevTime, timed, sent.Calls)

		if d.next != nil {
			if same < len(prev) { // a rewrite
				rides = riding{}
				d.measureRewrite(&out, i, now)
			}
			out.Again += d.price.Prices.Cost(chat.Usage{CacheRead: rides.tokens}) // what rides along, not for the first time
			if !refused {                                                         // a request that is refused edits nothing
				d.judgeEdits(&out, &rides, i, prompt, now)
			}
		}
		if d.look != nil {
			d.look(i, prompt, now)
		}

		// A view that breaks a rule is counted where it is made, not again at each
		// request that carries it on.
		if why := rules.check(d.index, now, same); why != "" && same < len(prev) {
			out.Invalid++
			if out.Broken == "" {
				out.Broken = why
			}
		}
		prev, prevTime = now, answer.Time
	}
	return out, nil
}

// lostCache reports whether a pause, in milliseconds, outlives the cache of a model.
func lostCache(m *model.Model, gap int64) bool {
	return m.Cache.Lifetime > 0 && time.Duration(gap)*time.Millisecond > m.Cache.Lifetime
}

// giveUp is the error of a compactor that cannot go on but still has something
// to send.
type giveUp struct{ error }

// payRequest adds what a request and the calls before it cost.
func (d *driver) payRequest(out *Outcome, prompt, read, output int, gap int64, timed bool, calls []SummaryCall) {
	m := &d.price
	if read < m.Cache.MinPrefix {
		read = 0
	}
	cost := m.Prices.Cost(chat.Usage{CacheRead: read, CacheWrite: prompt - read, Output: output})
	late := cost
	if timed && lostCache(m, gap) {
		late = m.Prices.Cost(chat.Usage{CacheWrite: prompt, Output: output})
	}
	for _, c := range calls {
		x := m.Prices.Cost(chat.Usage{Input: c.Input, CacheRead: c.Read, Output: c.Output})
		cost += x
		late += x
		out.Summaries += x
	}
	out.Dollars += cost
	out.Timed += late
}

// Rules returns the rules that every view is held to: those of all dialects at
// once. Whether thinking is bound to what came before it is left out: recorded
// sessions come from models with and without that rule, and the peers take no
// notice of it.
func Rules() chat.Rules {
	r := chat.AllDialects()
	r.Name = "every dialect, thinking aside"
	r.BoundThinking, r.LeadThinking = false, false
	return r
}

// ruleState checks requests against [Rules]. A request that
// only grew is checked at its end.
type ruleState struct {
	checker *chat.Checker
	bad     string
}

// check returns what the request breaks that the recorded session does not.
func (r *ruleState) check(x *index, now []*chat.Message, same int) string {
	if r.checker == nil || same < r.checker.Len() {
		r.checker, r.bad = chat.NewChecker(Rules()), ""
	}
	blame := func(ps []chat.Problem) string {
		for _, p := range ps {
			if !x.broken[fault{p.Rule, p.Call, now[p.At]}] {
				return p.Rule + ": " + p.Message
			}
		}
		return ""
	}
	for i := r.checker.Len(); i < len(now); i++ {
		if why := blame(r.checker.Next(now[i])); why != "" && r.bad == "" {
			r.bad = why
		}
	}
	if r.bad != "" {
		return r.bad
	}
	if len(now) == 0 {
		return chat.RuleEmpty + ": nothing is sent"
	}
	return blame(r.checker.Pending())
}
