package winnow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/notes"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// Conversation keeps what belongs together for an agent: the request, the plan
// in force, the pins and what the provider reported. It is safe for concurrent
// use, though an agent's loop rarely needs that.
type Conversation struct {
	w *Winnow

	mu    sync.Mutex
	req   chat.Request
	track *Track
	pins  []Pin // in order
	notes []Note
}

// Conversation starts a conversation. The request's history may be empty.
func (w *Winnow) Conversation(req chat.Request) *Conversation {
	c := &Conversation{w: w.orStandard(), req: req}
	c.lock()
	defer c.mu.Unlock()
	return c
}

// lock locks the conversation. The zero value becomes one of the standard
// engine's.
func (c *Conversation) lock() {
	c.mu.Lock()
	if c.track == nil {
		c.w = c.w.orStandard()
		c.track = c.w.Track()
	}
}

// stateForFit returns what the engine should know. The caller holds the lock.
func (c *Conversation) stateForFit() State {
	s := c.track.State()
	s.Pins, s.Notes = c.pins, c.notes
	return s
}

// Switch goes on with another engine, of another model for example. History, plan,
// pins and notes stay; what the old model's provider reported does not hold any more.
func (c *Conversation) Switch(w *Winnow) {
	c.lock()
	defer c.mu.Unlock()
	p := c.track.Plan()
	c.w = w.orStandard()
	c.track = c.w.Track()
	c.track.Use(p, 0)
}

// Request returns the request as it stands, with the untouched history.
func (c *Conversation) Request() chat.Request {
	c.lock()
	defer c.mu.Unlock()
	return c.req
}

// Update changes the request: its system prompt, tools, output, or the history. The
// plan stays in force as long as the history starts with the messages that it was
// made for; pins of messages that are not there any more go.
func (c *Conversation) Update(change func(*chat.Request)) {
	c.lock()
	defer c.mu.Unlock()
	if change != nil {
		change(&c.req)
	}
	c.pins = slices.DeleteFunc(c.pins, func(p Pin) bool { return p.Message >= c.req.History.Len() })
}

// Restore puts a plan, pins and notes in force that an earlier process kept. The plan
// may be nil. The error wraps [plan.ErrMismatch] where it is one of another history.
func (c *Conversation) Restore(p *plan.Plan, pins []Pin, kept ...Note) error {
	c.lock()
	defer c.mu.Unlock()
	if _, err := plan.Apply(c.req.History, p); err != nil {
		return err
	}
	own := slices.Clone(pins)
	slices.SortFunc(own, comparePins)
	if n := len(own); n > 0 && (own[0].Message < 0 || own[n-1].Message >= c.req.History.Len()) {
		return fmt.Errorf("winnow: there are pins for messages %d to %d; the history has %d", own[0].Message, own[n-1].Message, c.req.History.Len())
	}
	c.track.Use(p, 0)
	c.pins, c.notes = own, slices.Clone(kept[:min(len(kept), notes.Most)])
	return nil
}

func comparePins(a, b Pin) int { return cmp.Or(a.Message-b.Message, a.Part-b.Part) }

// Pins returns the pins in force, for [Conversation.Restore].
func (c *Conversation) Pins() []Pin {
	c.lock()
	defer c.mu.Unlock()
	return slices.Clone(c.pins)
}

// History returns the untouched history.
func (c *Conversation) History() chat.History {
	c.lock()
	defer c.mu.Unlock()
	return c.req.History
}

// Plan returns the plan in force; nil for none.
func (c *Conversation) Plan() *plan.Plan {
	c.lock()
	defer c.mu.Unlock()
	return c.track.Plan()
}

// Append adds messages to the history. The caller may use their parts again.
func (c *Conversation) Append(msgs ...chat.Message) {
	c.lock()
	defer c.mu.Unlock()
	c.appendCopies(msgs...)
}

// appendCopies appends copies of the messages. The caller holds the lock.
func (c *Conversation) appendCopies(msgs ...chat.Message) {
	own := slices.Clone(msgs)
	for i := range own {
		own[i].Parts = cloneParts(own[i].Parts)
		if u := own[i].Usage; u != nil {
			own[i].Usage = new(*u)
		}
	}
	c.req.History = c.req.History.Append(own...)
}

// cloneParts returns a copy that shares no memory that anybody can write to.
func cloneParts(parts []chat.Part) []chat.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].Content = cloneParts(parts[i].Content)
	}
	return parts
}

// Pin marks message i so that no stage edits it. An edit that is already in
// force on it is taken back at the next rewrite.
func (c *Conversation) Pin(i int) error { return c.setPinned(i, true) }

// Unpin takes the mark off message i.
func (c *Conversation) Unpin(i int) error { return c.setPinned(i, false) }

func (c *Conversation) setPinned(i int, on bool) error {
	c.lock()
	defer c.mu.Unlock()
	if n := c.req.History.Len(); i < 0 || i >= n {
		return fmt.Errorf("winnow: there is no message %d to pin; the history has %d", i, n)
	}
	at, is := slices.BinarySearchFunc(c.pins, Pin{Message: i, Part: -1}, comparePins)
	switch {
	case on && !is:
		c.pins = slices.Insert(c.pins, at, Pin{Message: i, Part: -1})
	case is && !on:
		c.pins = slices.Delete(c.pins, at, at+1)
	}
	return nil
}

// Note writes something down that stands in the view with how things stand, from the
// next rewrite on, however often the conversation is rewritten. Replaces is the id of
// a note that goes, "" for none; a text of "" only removes that one. There are at most
// 40 notes of 600 bytes. The time is the caller's. It returns a sentence for the
// note's author, as the tool of recall.NoteTool wants it.
func (c *Conversation) Note(now time.Time, replaces, text string) (string, error) {
	c.lock()
	defer c.mu.Unlock()
	change, err := notes.Write(c.notes, replaces, text, c.req.History.Len(), now)
	if err != nil {
		return "", fmt.Errorf("winnow: %w", err)
	}
	c.notes = change.Apply(c.notes)
	return change.Say, nil
}

// Notes returns the notes, oldest first, for [Conversation.Restore].
func (c *Conversation) Notes() []Note {
	c.lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notes)
}

// Check measures the conversation as it would be sent now.
func (c *Conversation) Check() (Status, error) {
	c.lock()
	defer c.mu.Unlock()
	return c.w.Check(c.req, c.stateForFit())
}

// Fit returns what the model should see next, and keeps its plan.
func (c *Conversation) Fit(ctx context.Context) (Result, error) { return c.lockAndFit(ctx, false) }

// Body is Fit, and returns the body to send, for an SDK or an HTTP client:
//
//	body, err := c.Body(ctx, wire.Anthropic)
//	...
//	var got anthropic.Message
//	err = client.Post(ctx, "v1/messages", json.RawMessage(body), &got)
//	...
//	answer, err := c.AnswerBody(wire.Anthropic, []byte(got.RawJSON()))
//
// It names the model of the engine's settings, and is written by [wire.Render].
// Anthropic wants an output limit: [chat.Request.Output]. After a refusal as too long
// call Overflowed, then Body again.
func (c *Conversation) Body(ctx context.Context, d wire.Dialect) ([]byte, error) {
	c.lock()
	defer c.mu.Unlock()
	fit, err := c.fitLocked(ctx, false, 0)
	if err != nil {
		return nil, err
	}
	return wire.Render(d, c.w.settings.Model, c.req, fit.View)
}

// AnswerBody is Answered with the body of the provider's answer, and returns what the
// model wrote. The error is a [*wire.Verdict] where the body is a provider's error:
// then nothing is added.
func (c *Conversation) AnswerBody(d wire.Dialect, raw []byte) (chat.Message, error) {
	answer, err := wire.ParseAnswer(d, raw)
	if err != nil {
		return chat.Message{}, err
	}
	if answer.Failure != nil {
		return chat.Message{}, answer.Failure
	}
	c.Answered(answer.Message, answer.Usage)
	return answer.Message, nil
}

// Paused says how long ago the last call to the model was, by the caller's
// clock. The next Fit takes it into account: after a pause in which the
// provider's cache was lost, a rewrite costs nothing extra.
func (c *Conversation) Paused(d time.Duration) {
	c.lock()
	defer c.mu.Unlock()
	c.track.Paused(d)
}

// Compact rewrites down to the target now, whatever the trigger says.
func (c *Conversation) Compact(ctx context.Context) (Result, error) { return c.lockAndFit(ctx, true) }

// Overflowed is Fit after the provider refused a request as too long. The
// limit is the one it named, 0 when it named none. The refused request is too long
// whatever the limit and our own count say, so Overflowed returns a smaller view,
// or an error that says that none can be had.
func (c *Conversation) Overflowed(ctx context.Context, limit int) (Result, error) {
	c.lock()
	defer c.mu.Unlock()
	refused, err := c.w.Check(c.req, c.stateForFit())
	if err != nil {
		return Result{}, err
	}
	if limit <= 0 {
		limit = refused.Limits.Available
	}
	return c.fitLocked(ctx, true, max(1, min(limit, refused.Count.Tokens-1)))
}

func (c *Conversation) lockAndFit(ctx context.Context, force bool) (Result, error) {
	c.lock()
	defer c.mu.Unlock()
	return c.fitLocked(ctx, force, 0)
}

func (c *Conversation) fitLocked(ctx context.Context, force bool, limit int) (Result, error) {
	s := c.stateForFit()
	s.Force, s.Limit = force, limit
	return c.track.fitAndRemember(ctx, c.req, s)
}

// Answered adds what the model answered to the last Fit's view, and learns
// from the usage that the provider reported for it.
func (c *Conversation) Answered(answer chat.Message, usage chat.Usage) {
	c.lock()
	defer c.mu.Unlock()
	c.appendCopies(answer)
	c.track.Answered(answer, usage)
}

// ErrNoPlan says that Undo found no plan in force.
var ErrNoPlan = errors.New("winnow: no plan is in force")

// Undo takes back what one plan did; an empty id means the plan in force. The
// history was never touched, so what the plan hid is simply there again.
func (c *Conversation) Undo(id plan.ID) error {
	c.lock()
	defer c.mu.Unlock()
	p := c.track.Plan()
	if p == nil {
		return ErrNoPlan
	}
	if id == "" {
		id = p.ID()
	}
	q, err := plan.Undo(p, id, c.req.History, c.req.Rules)
	if err != nil {
		return err
	}
	c.track.Use(q, 0)
	return nil
}

// Recall returns the original behind a handle.
func (c *Conversation) Recall(handle string) (plan.Original, error) {
	c.lock()
	defer c.mu.Unlock()
	p := c.track.Plan()
	if p == nil {
		return plan.Original{}, ErrNoPlan
	}
	return plan.Recall(c.req.History, p, handle)
}
