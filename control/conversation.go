package control

import (
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Conversation is a conversation in a list.
type Conversation struct {
	ID string `json:"id"`

	// Parent is the conversation that this one branched off from, "" for none,
	// and Shared how many messages it has in common with it.
	Parent string `json:"parent,omitempty"`
	Shared int    `json:"shared,omitempty"`

	// Source is "gateway" or "session". Name is what somebody called it, Title
	// how the user's first message begins, Folder what it is about; "" where
	// that is not known or not kept.
	Source string `json:"source"`
	Name   string `json:"name,omitempty"`
	Title  string `json:"title,omitempty"`
	Folder string `json:"folder,omitempty"`

	// Label is what the program that sends it is known by, as winnow wrap gives
	// one to the agent that it runs.
	Label string `json:"label,omitempty"`

	Model   string `json:"model,omitempty"`
	Dialect string `json:"dialect,omitempty"`

	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`

	// Revision counts what happened to the conversation: requests and actions.
	// It never falls, and is the id of events.
	Revision int64 `json:"revision"`

	// Plan is the one in force, "" for none: what actions are based on.
	Plan plan.ID `json:"plan"`

	// Waiting is a plan that is taken back as soon as the turn under way is over,
	// because the thinking in that turn is bound to the request as sent; "" for
	// none.
	Waiting plan.ID `json:"waiting,omitempty"`

	Messages int `json:"messages"` // of the history, as sent last
	Pins     int `json:"pins"`     // in force

	// Last is the last request, nil where none was recorded. Totals are those of
	// all requests, including those whose own records are gone.
	Last   *Request `json:"last,omitempty"`
	Totals Totals   `json:"totals"`
}

// Totals are sums over the requests of a conversation.
type Totals struct {
	Requests    int `json:"requests"`
	Compactions int `json:"compactions"` // plans that came into force, undos not counted
	Overflows   int `json:"overflows"`

	// Counted is the tokens of all prompts as counted here, Saved how many more
	// they would have had without plans; negative where plans made them larger.
	Counted int64 `json:"counted"`
	Saved   int64 `json:"saved"`

	// Usage is what providers reported, for Reported of the requests.
	Usage    Usage `json:"usage"`
	Reported int   `json:"reported"`

	// CacheShare is the share of the reported prompts that was read from the
	// provider's cache; nil where nothing was reported.
	CacheShare *float64 `json:"cache_share"`

	// Dollars is what Priced of the requests cost, by the registry's prices and
	// what providers reported; nil where no request could be priced.
	Dollars *float64 `json:"dollars"`
	Priced  int      `json:"priced"`
}

// Usage is the tokens of calls as their provider reported them, each counted
// once.
type Usage struct {
	Input      int64 `json:"input"` // neither read from the cache nor written to it
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Output     int64 `json:"output"`
}

// Add adds a request to the totals.
func (t *Totals) Add(r *Request) {
	t.Requests++
	t.Overflows += r.Overflows
	t.Counted += int64(r.Tokens)
	t.Saved += int64(r.Saved)
	if r.Usage == nil {
		return
	}
	t.Reported++
	t.Usage.Input += r.Usage.Input
	t.Usage.CacheRead += r.Usage.CacheRead
	t.Usage.CacheWrite += r.Usage.CacheWrite
	t.Usage.Output += r.Usage.Output
	t.CacheShare = t.Usage.CacheShare()
	if r.Dollars != nil {
		t.Priced++
		if t.Dollars == nil {
			t.Dollars = new(0.0)
		}
		t.Dollars = new(*t.Dollars + *r.Dollars)
	}
}

// CacheShare returns the share of the prompt that was read from the cache; nil where
// there was none.
func (u Usage) CacheShare() *float64 {
	prompt := u.Input + u.CacheRead + u.CacheWrite
	if prompt <= 0 {
		return nil
	}
	return new(float64(u.CacheRead) / float64(prompt))
}

// Add adds the usage that a provider reported for one call.
func (u *Usage) Add(v chat.Usage) {
	u.Input += int64(v.Input)
	u.CacheRead += int64(v.CacheRead)
	u.CacheWrite += int64(v.CacheWrite)
	u.Output += int64(v.Output)
}

// Request is one request of a conversation, as it was sent.
type Request struct {
	// N counts the conversation's requests from 1, Revision is the
	// conversation's when this one was recorded.
	N        int       `json:"n"`
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	Model    string    `json:"model,omitempty"`

	// Gateway names the gateway that served the request, where several share a
	// store; "" where it has no name.
	Gateway string `json:"gateway,omitempty"`

	// Messages is how many the history had, Sent how many the model saw.
	Messages int `json:"messages"`
	Sent     int `json:"sent"`

	// Tokens is the prompt as counted before it was sent, by Method; Kinds say
	// what it was spent on, and add up to it.
	Tokens int          `json:"tokens"`
	Method token.Method `json:"method"`
	Kinds  budget.Kinds `json:"kinds"`

	// Window is the model's, Available what the prompt may have of it.
	Window    int `json:"window"`
	Available int `json:"available"`

	// CompactAt is the count of tokens from which on the conversation is
	// compacted, and CompactWhy how it comes about. CommitAt is where a rewrite
	// pays by the model's prices; 0 where that is not known.
	CompactAt  int    `json:"compact_at"`
	CompactWhy string `json:"compact_why,omitempty"`
	CommitAt   int    `json:"commit_at,omitempty"`

	// Plan is the one under which it was sent, "" for none. New says that it
	// came into force with this request, Why for what reason. Saved is how many
	// more tokens the prompt would have had without it.
	Plan  plan.ID `json:"plan,omitempty"`
	New   bool    `json:"new,omitempty"`
	Why   string  `json:"why,omitempty"`
	Saved int     `json:"saved"`

	// Usage, CacheShare and Dollars are what the provider reported and what that
	// costs; nil where it is not known.
	Usage      *Usage   `json:"usage"`
	CacheShare *float64 `json:"cache_share"`
	Dollars    *float64 `json:"dollars"`

	// Passed says why it was sent as it came, Overflows how often the provider
	// called it too long, Status what it was answered with.
	Passed    string `json:"passed,omitempty"`
	Overflows int    `json:"overflows,omitempty"`
	Status    int    `json:"status,omitempty"`
}
