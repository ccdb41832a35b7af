package providersim

import (
	"crypto/sha256"
	"hash/maphash"
)

// What the simulated tokenizer adds around content.
const (
	tokensPerPrompt  = 3
	tokensPerMessage = 4
	tokensPerTool    = 8
	tokensPerImage   = 1024
)

// grain is the step in which the implicit caches of OpenAI and Gemini count,
// in bytes of the canonical prompt: 128 tokens of four bytes.
const grain = 512

// digest stands for everything in a prompt up to some place.
type digest [sha256.Size]byte

// segment is one piece of a prompt: a tool, a part of the system prompt, a part
// of a message.
type segment struct {
	end    int    // canonical bytes up to and with this segment
	tokens int    // tokens up to and with this segment
	sum    digest // of everything up to and with this segment
	mark   mark   // the cache breakpoint that the client put here
}

// mark is a cache breakpoint.
type mark byte

const (
	markNone mark = iota
	markShort
	markLong
)

// prompt is a request's content in the order in which the provider reads it.
// It is the base of everything that depends on content: tokens, cache,
// signatures and the agent's choices.
type prompt struct {
	segs   []segment
	tokens int
	tools  int // tokens of the tool definitions alone

	sum     digest
	size    int
	scratch []byte
	count   func([]byte) int

	// grains are hashes of every prefix that ends on a grain, for the implicit caches;
	// hash is that of everything so far.
	grains []uint64
	hash   maphash.Hash
}

// grainSeed makes the hashes of grains. They never leave the process.
var grainSeed = maphash.MakeSeed()

func newPrompt(count func([]byte) int) *prompt {
	p := &prompt{count: count, tokens: tokensPerPrompt}
	p.hash.SetSeed(grainSeed)
	return p
}

// add appends a segment: its kind (who speaks, what it is), its canonical bytes
// and its tokens.
func (p *prompt) add(kind string, canon []byte, tokens int, m mark) {
	p.tokens += tokens
	h := sha256.New()
	h.Write(p.sum[:])
	for _, b := range [][]byte{[]byte(kind), {0}, canon} {
		h.Write(b)
		p.feed(b)
	}
	h.Sum(p.sum[:0])
	p.segs = append(p.segs, segment{end: p.size, tokens: p.tokens, sum: p.sum, mark: m})
}

// addValue appends a JSON value as a segment, without the members in leave.
func (p *prompt) addValue(kind string, v value, tokens int, m mark, leave ...string) {
	p.scratch = v.appendCanonical(p.scratch[:0], leave...)
	p.add(kind, p.scratch, tokens, m)
}

// addMessage adds the framing of one more message.
func (p *prompt) addMessage() { p.tokens += tokensPerMessage }

// feed hashes canonical bytes, grain by grain.
func (p *prompt) feed(b []byte) {
	for len(b) > 0 {
		n := min(grain-p.size%grain, len(b))
		p.hash.Write(b[:n])
		p.size += n
		b = b[n:]
		if p.size%grain == 0 {
			p.grains = append(p.grains, p.hash.Sum64())
		}
	}
}

// tokensAt returns the tokens of the first n canonical bytes; inside a segment
// in proportion.
func (p *prompt) tokensAt(n int) int {
	bytes, tokens := 0, 0
	for _, s := range p.segs {
		if n < s.end {
			return tokens + (s.tokens-tokens)*(n-bytes)/(s.end-bytes)
		}
		bytes, tokens = s.end, s.tokens
	}
	return tokens
}

// mediaTokens returns the cost of base64 data: a picture has a fixed one, a document
// one that grows with its size.
func mediaTokens(document bool, size int) int {
	if document {
		return max(tokensPerImage, size/24)
	}
	return tokensPerImage
}

// countText counts a string value.
func (p *prompt) countText(v value) int { return p.count(v.bytes()) }

// countCall counts a call whose arguments are a value, countCallText one whose arguments
// are a text.
func (p *prompt) countCall(name string, args value) int {
	return p.count([]byte(name)) + p.countJSON(args)
}

func (p *prompt) countCallText(name string, args []byte) int {
	return p.count([]byte(name)) + p.count(args)
}

// countJSON counts a value as compact JSON would be.
func (p *prompt) countJSON(v value) int {
	if !v.ok() {
		return 0
	}
	p.scratch = v.appendCanonical(p.scratch[:0])
	return p.count(p.scratch)
}
