package planstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/notes"
	"github.com/winnow-llm/winnow/plan"
)

// Conversation is a leaf of the tree of messages that a tenant has sent: what is shown
// of it, as far as the store knows that, and where it stands. Label and Folder are those
// of the transport that noted the last request.
type Conversation struct {
	control.Conversation
	Key Key

	// Len and Chain are the messages that were sent last.
	Len   int
	Chain chat.Hash
}

// TakeRequest moves the conversation on to where a request left it, and returns the
// request with its numbers.
func (c *Conversation) TakeRequest(at *Conversation, r control.Request) *control.Request {
	c.Len, c.Chain, c.Model, c.Dialect, c.Label, c.Folder = at.Len, at.Chain, at.Model, at.Dialect, at.Label, at.Folder
	c.Revision++
	c.Totals.Add(&r)
	r.N, r.Revision = c.Totals.Requests, c.Revision
	c.Last = &r
	return &r
}

// PutInForce says that a plan is in force from now on, and returns what is told of that;
// nil where it is already.
func (c *Conversation) PutInForce(p *plan.Plan, info control.PlanInfo, now time.Time) *control.PlanInfo {
	if c.Plan == p.ID() {
		return nil
	}
	c.Plan, c.Waiting = p.ID(), ""
	c.Revision++
	if info.By != "undo" {
		c.Totals.Compactions++
	}
	info.ID, info.Time = p.ID(), now
	return &info
}

// Link is a part of a chain's hash: enough to tell where two conversations
// part.
type Link [8]byte

// LinkOf returns the link of a chain up to a message.
func LinkOf(h chat.Hash) Link { return Link(h[:8]) }

// Links are the links of messages From, From+1 and so on.
type Links struct {
	From  int
	Links []Link
}

// Pin is a mark on a message, or with Part >= 0 on one of its parts, that was
// set in a conversation, or where On is false taken off there.
type Pin struct {
	Conversation string

	// Len and Chain are the messages up to the pinned one.
	Len   int
	Chain chat.Hash

	Part int
	On   bool

	// Note is a note's text, written after that message, and Noted when, in
	// milliseconds since 1970; "" for a pin. Part is what [NotePart] says then, so
	// that a message may have several notes beside its pins.
	Note  string
	Noted int64
}

// NotePart returns the part of a note with an id.
func NotePart(id string) int { return -2 - notes.Number(id) }

// Notes returns the notes among what [In] returns, oldest first, and the pins that are
// left.
func Notes(pins []Pin) (written []notes.Note, left []Pin) {
	for _, p := range pins {
		if p.Note == "" {
			left = append(left, p)
			continue
		}
		written = append(written, notes.Note{ID: notes.IDOf(-2 - p.Part), Message: p.Len, Time: time.UnixMilli(p.Noted).UTC(), Text: p.Note})
	}
	slices.SortStableFunc(written, func(a, b notes.Note) int { return a.Message - b.Message })
	return written, left
}

// Book keeps what is known of conversations, and which plan is in force in each.
type Book interface {
	// Leaves returns the conversations under a key, those used last first, at
	// most [MaxLeaves], with the pins set and taken off there. Requests that were
	// noted in this process are in it. Every request asks for it, so it is one
	// question.
	Leaves(ctx context.Context, k Key) ([]Conversation, []Pin, error)

	// Links returns the links of a conversation's own messages and of those that
	// it shares, as far as they were noted.
	Links(ctx context.Context, c Conversation) ([]Link, error)

	// Settle puts a plan in force for a conversation whose history is h, and
	// keeps the conversation where it is not kept yet. It returns the plan that
	// is in force then, and the caller uses that: so all who plan the same messages
	// at the same moment send the same bytes. Where another plan than base is in
	// force, nothing changes: Settle returns the plan in force, as long as it covers
	// h. A request that is older than the plan in force does not change what that
	// is; for it the plan is kept, or the one that is there for its prefix
	// returned. When the error is nil, the plan that is returned is durable, as far
	// as the store can be.
	Settle(ctx context.Context, c Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (*plan.Plan, error)

	// Act is Settle for an action: where base is not in force, the error is a
	// [*control.ConflictError], whichever plan is. With no plan and a pin it
	// keeps the pin, in place of one on the same message in the same
	// conversation; with neither, info.Undid becomes what is wanted. A plan ends
	// that. It is durable when it returns.
	Act(ctx context.Context, c Conversation, base plan.ID, p *plan.Plan, info control.PlanInfo, pin *Pin) error

	// Note adds a request to a conversation, whose Len and Chain are then those
	// given; its N and Revision are set. With no request it keeps the
	// conversation where it is not kept yet. A noted request may be lost when the
	// process is killed.
	Note(ctx context.Context, c Conversation, r *control.Request, links Links) error

	// Requests returns a conversation's requests after a revision, oldest
	// first: the newest [control.MaxRequests] of them.
	Requests(ctx context.Context, t Tenant, id string, after int64) ([]control.Request, error)

	// Settled returns what came into force in a conversation, oldest first.
	Settled(ctx context.Context, t Tenant, id string) ([]control.PlanInfo, error)

	// Conversations returns at most that number of a tenant's conversations, those
	// used last first; with a prefix, those whose id begins with it.
	Conversations(ctx context.Context, t Tenant, prefix string, most int) ([]Conversation, error)
}

// MaxLeaves bounds what [Book.Leaves] returns.
const MaxLeaves = 256

// NewConversation returns the conversation under a key whose first message of its own
// ends the chain, which names it. The same messages of two tenants, or in two dialects,
// are two conversations.
func NewConversation(k Key, chain chat.Hash) Conversation {
	h := sha256.New()
	h.Write([]byte(k.Tenant))
	h.Write(k.First[:])
	h.Write(chain[:])
	c := Conversation{Key: k}
	c.ID = hex.EncodeToString(h.Sum(nil)[:12])
	return c
}

// In returns the pins that hold in a history. The lineage is its conversation
// and those that it branched off from, the nearest first: the pin set nearest wins.
func In(pins []Pin, lineage []string, h chat.History) []Pin {
	type place struct{ message, part int }
	wins := make(map[place]int)                   // which pin holds there
	for _, id := range slices.Backward(lineage) { // the nearest comes last
		for i := range pins {
			if p := &pins[i]; p.Conversation == id && p.Len >= 1 && h.StartsWith(p.Len, p.Chain) {
				wins[place{p.Len, p.Part}] = i
			}
		}
	}
	var out []Pin
	for i, p := range pins { // in the order in which they were set
		if at, ok := wins[place{p.Len, p.Part}]; ok && at == i && p.On {
			out = append(out, p)
		}
	}
	return out
}
