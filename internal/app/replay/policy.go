package replay

import (
	"context"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/token"
)

// Policy decides what a model sees of a conversation that grows. Ours and the peers'
// have this one shape, so that they can be compared.
type Policy struct {
	Name string // stands in tables and is unique among policies
	LLM  bool   // its summaries are a stand-in's: it is simulated

	// Happened says that it repeats what a client sent. The provider took those
	// requests, so none is refused for its size.
	Happened bool

	// Begin starts on one session. What it returns is used by one goroutine.
	Begin func(Setup) (Step, error)
}

// Step returns what the model sees at the next request. The history is the
// session's, untouched, up to that request; each call's history starts with
// that of the call before. A message that stays as it is must be returned
// as the same pointer, the history's own or one returned before. Idle is how long
// before this request the last one was answered; 0 is unknown.
type Step func(ctx context.Context, h chat.History, idle time.Duration) (Sent, error)

// Sent is what a policy sends.
type Sent struct {
	Messages []*chat.Message

	// Calls are the calls to a model that were made to get there.
	Calls []SummaryCall
}

// SummaryCall is a call to a model that writes a summary.
type SummaryCall struct {
	Read   int // tokens of the prompt that the provider's cache has
	Input  int // other tokens of the prompt
	Output int

	// Took is how long it took; 0 is as long as such calls usually take.
	Took time.Duration
}

// llmBlocks is how long an agent waits for an LLM's summary where its session
// records none: the median of those that are recorded.
const llmBlocks = 73 * time.Second

// Setup is what a compactor works with.
type Setup struct {
	// Window is the model's, Trigger the prompt's size from which on everybody
	// compacts, so that rows differ in what is done and not in when. Only where
	// costs say so do our presets depart from it.
	Window, Trigger int

	Agent table.Agent // that wrote the session, where that is known

	run  *driver // what the engine and the policy that repeats the client know besides
	book *book
}

// Tokens returns a message's size. It is remembered by the pointer.
func (s *Setup) Tokens(m *chat.Message) int { return s.book.sizeOf(m) }

// Counter counts as everything is counted in a replay.
func (s *Setup) Counter() *token.Counter { return s.book.counter }

// Declare sets the size of a message that is not its text's: of a stand-in's.
func (s *Setup) Declare(m *chat.Message, tokens int) {
	s.book.own[m] = tokens
}

// Total returns the size of a request with these messages.
func (s *Setup) Total(msgs []*chat.Message) int {
	n := s.book.fixed
	for _, m := range msgs {
		n += s.Tokens(m)
	}
	return n
}

// book remembers what is known about the messages of one replay.
type book struct {
	*index
	own map[*chat.Message]int // tokens of messages that a policy made
}

// sizeOf returns the tokens of a message.
func (b *book) sizeOf(m *chat.Message) int {
	if i, ok := b.raw[m]; ok {
		return b.tokens[i]
	}
	n, ok := b.own[m]
	if !ok {
		n = b.scaleTokens(b.counter.Message(m))
		b.own[m] = n
	}
	return n
}

// sameContent reports whether two messages have the same content.
func (b *book) sameContent(x, y *chat.Message) bool {
	if x == y {
		return true
	}
	if x.Role != y.Role || len(x.Parts) != len(y.Parts) {
		return false
	}
	return b.hash(x) == b.hash(y)
}

func (b *book) hash(m *chat.Message) chat.Hash {
	if i, ok := b.raw[m]; ok {
		return b.session.History.Digest(int(i))
	}
	return m.Digest()
}

// Presets returns the engine as every surface runs it when nothing is set, which is
// the preset default, and thrifty.
func Presets() []Policy {
	return []Policy{Ours("winnow", winnow.Settings{}), Ours("winnow thrifty", winnow.Settings{Preset: "thrifty"})}
}

// None returns the policy that compacts nothing.
func None() Policy { return Keeping("none", false, nil, nil) }
