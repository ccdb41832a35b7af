package token

import (
	"cmp"
	"sync"

	"github.com/winnow-llm/winnow/chat"
)

// Options change how a [Counter] counts. The zero value is right for most uses.
type Options struct {
	// Exact counts with the o200k vocabulary: exactly for [O200K], and for the
	// others weighted by how their boundary tables compare. It is slower (tens
	// of MB/s instead of hundreds) and closer. The default is tables alone.
	Exact bool

	// CacheSize is the number of messages whose counts are remembered. The
	// default is 65,536; a negative value remembers none.
	CacheSize int
}

// Counter counts tokens for one family. It is safe for concurrent use and
// meant to be shared: its cache serves every conversation. No counter and the
// zero value count for [Unknown].
type Counter struct {
	family  Family
	profile *profile
	exact   bool
	text    func(string) int
	cache   *cache
	named   *formula // another system's estimator counts; nil where this package does
}

// New returns a counter for the family. Options may be nil. A family that this
// package does not know is counted as [Unknown]. The name of an estimator, one of
// [Names], is a family too: it counts everything as that system does, whatever the
// options say.
func New(f Family, o *Options) *Counter {
	p, ok := profiles[f]
	if c := newFormula(f, o); !ok && c != nil {
		return c
	}
	if !ok {
		f, p = Unknown, profiles[Unknown]
	}
	c := &Counter{family: f, profile: p, exact: o != nil && o.Exact, cache: o.newCache()}
	if c.text = byTable(f, p); c.exact {
		c.text = byVocabulary(f, p)
	}
	return c
}

// newCache returns what remembers counts; nil for nothing.
func (o *Options) newCache() *cache {
	size := 1 << 16
	if o != nil {
		size = cmp.Or(o.CacheSize, size)
	}
	if size < 0 {
		return nil
	}
	return newCache(size)
}

// unknownMedia is what a picture costs whose size is not known, and a file whose
// content is not.
const unknownMedia = 1024

// standard counts where nobody made a counter.
var standard = sync.OnceValue(func() *Counter { return New(Unknown, nil) })

// orDefault returns the counter, or one for [Unknown] in place of none and of the zero
// value.
func (c *Counter) orDefault() *Counter {
	if c == nil || c.profile == nil && c.named == nil {
		return standard()
	}
	return c
}

// Family returns the family the counter counts for.
func (c *Counter) Family() Family { return c.orDefault().family }

// Method returns how the counter counts text.
func (c *Counter) Method() Method {
	c = c.orDefault()
	switch {
	case c.named != nil:
		return ByFormula
	case !c.exact:
		return Estimated
	case c.family == O200K:
		return Exact
	}
	return Weighted
}

// Band returns the relative half-width of the counter's counts.
func (c *Counter) Band() float64 {
	c = c.orDefault()
	if c.named != nil {
		return 0 // that system has none
	}
	if c.exact {
		return c.profile.exactBand
	}
	return c.profile.tableBand
}

// Spread returns the relative half-width within which the true count lies whatever
// the model is. For [Unknown] that is far more than [Counter.Band]: its counts are
// those of the model that needs most, and of a kilobyte or more no known vocabulary
// has less than a third of that.
func (c *Counter) Spread() float64 {
	if c.family == Unknown {
		return 0.67
	}
	return c.Band()
}

// Count returns a number that this counter made, with its method and band.
func (c *Counter) Count(tokens int) Count {
	return Count{Tokens: tokens, Method: c.Method(), Band: c.Band()}
}

// Text returns the tokens of a text, without any framing. Strings that look
// like special tokens count as the plain text they are.
func (c *Counter) Text(s string) int {
	c = c.orDefault()
	if s == "" {
		return 0
	}
	return c.text(s)
}

// Part returns the tokens of a part with the framing that belongs to it. Images
// cost what they measure: their bytes are never counted as text. The ids of calls
// and results are in the framing, which was measured with them; they cost
// nothing more however long they are (some are hundreds of characters of
// encoded state, and providers do not charge for that).
func (c *Counter) Part(p *chat.Part) int {
	c = c.orDefault()
	if c.named != nil {
		return c.named.partTokens(p)
	}
	switch p.Kind {
	case chat.Text:
		return c.Text(p.Text)
	case chat.Thinking:
		if p.Text == "" {
			return blobTokens(len(p.Data) + len(p.Signature))
		}
		return c.Text(p.Text)
	case chat.ToolCall:
		return c.Text(p.Name) + c.Text(p.Args) + c.profile.pair - c.profile.pair/2
	case chat.ToolResult:
		n := c.Text(p.Text) + c.profile.pair/2
		for i := range p.Content {
			n += c.Part(&p.Content[i])
		}
		return n
	case chat.Image:
		return c.imageTokens(p)
	case chat.Document:
		return c.Text(p.Name) + c.documentTokens(p)
	}
	return c.opaqueTokens(p.Data)
}

// Message returns the tokens of a message: its parts and its framing. Results
// bring their framing along, so a message of results alone has none of its own.
func (c *Counter) Message(m *chat.Message) int {
	c = c.orDefault()
	if c.named != nil {
		return c.named.messageTokens(m)
	}
	n, own := 0, m.Role != chat.Tool
	if m.Role == chat.User && len(m.Parts) > 0 {
		own = false
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		n += c.Part(p)
		own = own || p.Kind != chat.ToolResult
	}
	if m.Role == chat.Assistant {
		return n + c.profile.step
	}
	if own {
		n += c.profile.message
	}
	return n
}

// At returns the tokens of message i, as [Counter.Message] does, and remembers
// them by the message's content. When they are known it allocates nothing.
func (c *Counter) At(h chat.History, i int) int {
	c = c.orDefault()
	if c.cache == nil {
		return c.Message(h.At(i))
	}
	d := h.Digest(i)
	n, ok := c.cache.get(&d)
	if !ok {
		n = c.Message(h.At(i))
		c.cache.set(&d, n)
	}
	return n
}

// System returns the tokens of a system prompt.
func (c *Counter) System(parts []chat.Part) int {
	c = c.orDefault()
	if len(parts) == 0 {
		return 0
	}
	if c.named != nil {
		return c.named.messageTokens(&chat.Message{Role: chat.System, Parts: parts})
	}
	n := c.profile.message
	for i := range parts {
		n += c.Part(&parts[i])
	}
	return n
}

// perTool is what a definition's braces and field names cost.
const perTool = 12

// Tools returns the tokens of tool definitions, with what some providers add
// to the prompt when there are tools at all.
func (c *Counter) Tools(defs []chat.ToolDef) int {
	c = c.orDefault()
	if len(defs) == 0 {
		return 0
	}
	if c.named != nil {
		return c.named.Tools(defs)
	}
	n := c.profile.tools
	for i := range defs {
		d := &defs[i]
		n += perTool + c.Text(d.Name) + c.Text(d.Description) + c.Text(d.Schema)
	}
	return n
}

// Conversation returns the framing of a whole conversation.
func (c *Counter) Conversation() int {
	c = c.orDefault()
	if c.named != nil {
		return c.named.none
	}
	return c.profile.conversation
}

// Messages returns the tokens of a whole conversation without system prompt
// and tools.
func (c *Counter) Messages(s chat.Sequence) int {
	n := c.Conversation()
	for i := range s.Len() {
		n += c.Message(s.At(i))
	}
	return n
}

// Request returns the tokens of everything that a request sends.
func (c *Counter) Request(r *chat.Request) int {
	n := c.Conversation() + c.System(r.System) + c.Tools(r.Tools)
	for i := range r.History.Len() {
		n += c.At(r.History, i)
	}
	return n
}
