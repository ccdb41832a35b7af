package transport

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/defaults"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/summary"
)

// Headers of answers that say what winnow did.
const (
	// HeaderPlan is the id of the plan under which the request was sent. It is
	// missing when the request went out as it came.
	HeaderPlan = "Winnow-Plan"

	// HeaderTokens is the tokens of the prompt that was sent, as counted here
	// before it was sent.
	HeaderTokens = "Winnow-Tokens"

	// HeaderAvailable is the tokens of input that there is room for.
	HeaderAvailable = "Winnow-Available"

	// HeaderMaxTokens is the limit of the output that was asked for, where that is
	// less than what the request wanted: prompt and output together did not fit.
	HeaderMaxTokens = "Winnow-Max-Tokens"

	// HeaderPassed says why the request was sent as it came, without having
	// been looked at as a conversation: a [Reason], with what it is about.
	HeaderPassed = "Winnow-Passed"
)

// HeaderOff is a header of requests: with any value but 0, false or no, the
// request is sent as it came, and answered with [HeaderPassed]: off. It is not
// passed on.
const HeaderOff = "Winnow-Off"

// Options are what a [Transport] is made of. The zero value works.
type Options struct {
	// Settings are the engine's. Model is set for each request.
	Settings winnow.Settings

	// Registry knows models; nil is the built-in one.
	Registry *model.Registry

	// Summarizer writes folds ahead of time, in the background, from four fifths
	// of the way to the next compaction on. No request waits for it: a fold that is not ready
	// when the trigger is reached is written by the built-in summariser, which
	// needs no model. Nil is the built-in one alone. See [Transport.Close].
	Summarizer summary.Summarizer

	// Same has the model that a conversation talks to write its summaries, in the
	// same way, with the credential of its own last request. It takes the place of
	// Summarizer. One summary reads at most [summary.MostInput] tokens. Requests that
	// are signed (AWS) cannot be made for a caller: there the built-in one writes.
	Same bool

	// SummarizerTimeout is the most time for one summary of Same, with all its calls
	// (default five minutes).
	SummarizerTimeout time.Duration

	// SummaryCap is how many dollars a day the summariser may cost in the
	// background, by SummaryPrices, and with Same by the prices of the model; 0
	// means no limit. When it is reached, folds are written by the built-in
	// summariser until the day is over.
	SummaryCap    float64
	SummaryPrices model.Prices

	// Jobs has summaries prepared by any process that shares the store, where
	// KeepOriginals is set; nil prepares them here.
	Jobs Jobs

	// Kinds says what tools do; nil is the built-in table.
	Kinds *winnow.ToolKinds

	// Base sends the requests; nil is [http.DefaultTransport].
	Base http.RoundTripper

	// Store keeps plans; nil is one in memory.
	Store Store

	// StoreWait is how long requests wait for a store that has just become
	// unreachable (default 1 s; negative for not at all). After that they go on
	// without it.
	StoreWait time.Duration

	// KeepOriginals has the store keep conversations themselves, so that
	// [Transport.Recaller] and [Transport.Control] can answer after a restart. Then
	// content is stored, so it is off unless asked for.
	KeepOriginals bool

	// Redact takes secrets out of plans and of conversations before they are
	// stored; nil stores them as they are. Recall from memory still shows messages
	// as they were sent.
	Redact Redactor

	// Tenant tells whose request it is. Plans are never shared between tenants.
	// Nil tells by the request's own credential, see [Tenants].
	Tenant func(*http.Request) Tenant

	// Credentials are further places where requests carry credentials; used
	// where Tenant is nil.
	Credentials Credentials

	// Agent names the agent whose requests these are, where they are those of one, as
	// winnow wrap --list does; headers that name another agent win. CompactionOff says
	// that this agent was told not to compact by itself.
	Agent         string
	CompactionOff bool

	// Label and Folder say whose requests these are, where they are those of one
	// program in one folder: tools for models find its conversation by them.
	Label, Folder string

	// Name is what this process is called among those that share the store: it is
	// written down with each request that was served here. "" means no name.
	Name string

	// AskLocal has servers on this machine or in this network asked for the window
	// that they have given an open model: Ollama, llama.cpp, vLLM and LM Studio. The
	// setting window wins over their answer.
	AskLocal bool

	// OfferTools declares the tools recall, search_history and note in every request and
	// answers calls of them here, for callers that have neither a shell nor MCP. They
	// see neither the calls nor the results. The setting recall_tool becomes recall
	// where it is empty.
	OfferTools bool

	// Observe measures and counts, and sends every request as it came.
	Observe bool

	// MaxBody is the largest body that is read, in bytes (default 64 MB),
	// packed or not. Larger ones pass unread, and so do those with more than
	// 100,000 messages or a million values, or 5,000 parts in one message.
	MaxBody int64

	// Unpacked is how many bytes of packed requests may be unpacked at once,
	// all calls under way together (default 1 GB). Others wait a while, and
	// then pass unread.
	Unpacked int64

	// Memory is how many bytes of recent requests are kept, so that only what
	// is new in a request must be read (default 512 MB).
	Memory int64

	// Hold is how long the start of a stream is held back to see whether it is
	// an overflow (default 10 s). Nothing is held once the answer has begun.
	Hold time.Duration

	// Observer is told about every call that holds a conversation; nil is none.
	Observer Observer

	// Log is told what the transport did, without any content; nil is silent.
	Log *slog.Logger

	// Now is the clock; nil is the real one. After a pause in which the
	// provider's cache was lost, a rewrite costs nothing extra and is made sooner.
	Now func() time.Time
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	if c.Store == nil {
		c.Store = NewMemory(Bounds{})
	}
	defaults.Set(&c.MaxBody, 64<<20)
	defaults.Set(&c.Unpacked, 1<<30)
	defaults.Set(&c.Memory, 512<<20)
	defaults.Set(&c.Hold, 10*time.Second)
	if c.StoreWait == 0 {
		c.StoreWait = time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Registry == nil {
		c.Registry = model.Default()
	}
	if c.OfferTools && c.Settings.RecallTool == "" {
		c.Settings.RecallTool = recall.ToolRecall
	}
	return c
}
