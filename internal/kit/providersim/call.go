package providersim

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"sort"
	"strconv"
	"time"

	"github.com/winnow-llm/winnow/internal/text"
)

// dialect is one provider's way to ask and to answer.
type dialect interface {
	traits() *traits

	// readRequest checks the request against the provider's rules and fills in what
	// the call needs: model, tools, prompt.
	readRequest(c *call) *refusal

	// signBlocks gives the answer's blocks their ids and signatures.
	signBlocks(c *call)

	// answerBody is the answer in one piece; events is the same as a stream.
	answerBody(c *call) object
	answerEvents(c *call) []event

	// tooLong is the refusal of a prompt over the window. sum is set where the
	// prompt alone would fit and only with the wanted output does not.
	tooLong(c *call, shape Overflow, sum bool) *refusal
}

// traits tell dialects apart.
type traits struct {
	name    string
	maxBody int64     // the largest body, in bytes
	leading int       // events of a stream before the first content
	failed  string    // the event that says inside a stream what went wrong
	stops   [4]string // why an answer ended
}

// failedEvent says inside a stream of which n events were sent that something went wrong.
func (c *call) failedEvent(r *refusal, n int) event {
	body := c.errorBody(r)
	if d, ok := c.d.(responsesDialect); ok {
		body = object{"type", "response.failed", "sequence_number", n, "response", d.responseObject(c, "failed", r, list{}, nil)}
	}
	return event{c.d.traits().failed, encodeJSON(body)}
}

// stopReason says why the answer ended, as the provider does.
func (c *call) stopReason() string { return c.d.traits().stops[c.stopped] }

// stop is why an answer ended.
type stop int

const (
	stopEnd stop = iota
	stopCalls
	stopLength
	stopWindow
)

// event is one event of a stream.
type event struct {
	name string // empty where the dialect does not name events
	data []byte
}

// call is one request while it is served.
type call struct {
	s    *Server
	d    dialect
	http *http.Request
	v    value
	rec  Record

	model    string
	settings Model
	window   int

	counting bool
	stream   bool
	array    bool // Gemini's stream as one JSON array
	assist   bool // Gemini's answer inside another object
	usageOut bool // chat: a last chunk with usage is wanted

	maxOutput int
	sumCounts bool // prompt and wanted output share the window
	ask       Ask

	prompt *prompt
	life   time.Duration // of what is cached without marks; 0: marks decide

	compaction bool

	blocks  []Block
	stopped stop
	usage   usage
	created time.Time
}

// countBody answers the endpoint that only counts. Chat completions have none.
func (c *call) countBody() object {
	n := c.prompt.tokens
	switch c.d.traits().name {
	case Responses:
		return object{"object", "response.input_tokens", "input_tokens", n}
	case Gemini:
		return object{"totalTokens", n, "promptTokensDetails", list{object{"modality", "TEXT", "tokenCount", n}}}
	}
	return object{"input_tokens", n}
}

// billedUsage returns the usage that is paid for: Gemini reports thoughts beside the
// output, the others inside it.
func (c *call) billedUsage() usage {
	u := c.usage
	if c.d.traits().name == Gemini {
		u.output += u.thinking
	}
	return u
}

// makeID makes the n-th id of an answer. It depends on the prompt and the seed.
func (c *call) makeID(prefix string, n int) string {
	h := sha256.New()
	h.Write(c.s.signer.key[:])
	if c.prompt != nil {
		h.Write(c.prompt.sum[:])
	}
	h.Write([]byte(prefix + strconv.Itoa(n)))
	return prefix + hex.EncodeToString(h.Sum(nil)[:12])
}

// makeNonce returns a number for signatures, made like an id.
func (c *call) makeNonce(n int) []byte { return []byte(c.makeID("nonce", n)) }

// requestID names a request in errors, also before there is a prompt.
func (c *call) requestID() string { return c.makeID("req_", 0) }

// letAgentAnswer lets the agent answer and fits the answer into the wanted output.
func (c *call) letAgentAnswer(big int) {
	c.ask.Dialect, c.ask.Model = c.d.traits().name, c.model
	c.ask.Rand = rand.New(rand.NewPCG(c.s.opts.Seed, shortDigest(c.prompt.sum)))
	c.ask.Want = c.http.Header.Get("Sim-Answer")
	c.ask.body, c.ask.sum, c.ask.segs, c.ask.owner = c.v, c.prompt.sum, c.prompt.segs, c.callerName()
	switch {
	case c.compaction:
		c.blocks = []Block{{Kind: Text, Text: writeProse(c.ask.Rand, c.ask.LastText, 6)}}
		if c.s.opts.Drive != nil {
			c.blocks[0].Text = c.s.opts.Drive.writeCompaction(&c.ask, c.s.signer.encryptedToken(c.makeNonce(0)))
		}
	default:
		c.blocks = c.s.opts.Agent(&c.ask)
		if big > 0 {
			c.blocks = []Block{{Kind: Text, Text: fillerText(c.ask.Rand, big)}}
		}
		c.trimAnswer()
	}
	c.d.signBlocks(c)
	c.usage.output = c.countBlocks(c.blocks)
	for _, b := range c.blocks {
		if b.Kind == Thinking {
			c.usage.thinking += c.s.opts.Count([]byte(b.Text))
		}
	}
}

// countBlocks gives the tokens of blocks, as the same blocks cost in a prompt: those of
// OpenAI's responses are items with their own framing. Gemini reports thoughts apart,
// and they do not come back.
func (c *call) countBlocks(blocks []Block) int {
	n, framed := 0, 0
	d := c.d.traits().name
	for _, b := range blocks {
		switch {
		case b.Kind == Call && (d == Anthropic || d == Gemini):
			args, _ := parseValue([]byte(b.Args))
			n += c.prompt.countCall(b.Name, args)
		case b.Kind == Call:
			n += c.prompt.countCallText(b.Name, []byte(b.Args))
		case b.Kind == Thinking && d == Gemini:
			continue
		default:
			n += c.s.opts.Count([]byte(b.Text))
		}
		framed++
	}
	if d != Responses {
		framed = min(framed, 1)
	}
	return n + framed*tokensPerMessage
}

// trimAnswer shortens the answer to the output that was asked for, as a model that
// runs out of tokens: texts are cut, calls that no longer fit are gone.
func (c *call) trimAnswer() {
	for _, b := range c.blocks {
		if b.Kind == Call {
			c.stopped = stopCalls
		}
	}
	if c.maxOutput <= 0 {
		return
	}
	for i, b := range c.blocks {
		if c.countBlocks(c.blocks[:i+1]) <= c.maxOutput {
			continue
		}
		c.stopped = stopLength
		keep := c.blocks[:i:i]
		if b.Kind == Text {
			n := sort.Search(len(b.Text), func(n int) bool { // the longest start that fits
				return c.countBlocks(append(keep, Block{Kind: Text, Text: text.Head(b.Text, n+1)})) > c.maxOutput
			})
			if t := text.Head(b.Text, n); t != "" {
				keep = append(keep, Block{Kind: Text, Text: t})
			}
		}
		c.blocks = keep
		return
	}
}

// cutIntoDeltas cuts a text into the deltas of a stream: about two dozen bytes each,
// more for long texts so that there are never more than some hundred.
func cutIntoDeltas(s string) []string {
	size := max(24, len(s)/256)
	var out []string
	for len(s) > 0 {
		p := cmp.Or(text.Head(s, size), s)
		out = append(out, p)
		s = s[len(p):]
	}
	return out
}
