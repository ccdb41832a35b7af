package token

import (
	"fmt"
	"math"
)

// Family names a tokenizer: models of one family split text in the same way.
// Which model belongs to which family is the model package's knowledge.
type Family string

// The families. Claude's vocabularies are not public; up to version 4.6 and
// from 4.7 on they differ a lot.
const (
	O200K     Family = "o200k"     // GPT-4o, GPT-4.1, GPT-5, o1 and later
	CL100K    Family = "cl100k"    // GPT-3.5 and GPT-4
	Claude2   Family = "claude2"   // Claude 1 and 2, whose vocabulary was public
	Claude    Family = "claude"    // Claude 3 up to 4.6
	Claude5   Family = "claude5"   // Claude 4.7 and later
	Llama3    Family = "llama3"    // Llama 3 and 4
	Gemma3    Family = "gemma3"    // Gemma 3, Gemini
	Tekken    Family = "tekken"    // Mistral
	Qwen3     Family = "qwen3"     // Qwen
	DeepSeek3 Family = "deepseek3" // DeepSeek
	Unknown   Family = ""          // counted as the worst of all the others
)

// allFamilies returns every family with a tokenizer of its own, so without [Unknown].
func allFamilies() []Family {
	return []Family{O200K, CL100K, Claude2, Claude, Claude5, Llama3, Gemma3, Tekken, Qwen3, DeepSeek3}
}

// ParseFamily returns the family of that name. The empty string and "unknown"
// stand for [Unknown].
func ParseFamily(s string) (Family, error) {
	if s == "" || s == "unknown" {
		return Unknown, nil
	}
	if _, ok := profiles[Family(s)]; !ok {
		return Unknown, fmt.Errorf("token: no tokenizer family %q; the families are %v", s, allFamilies())
	}
	return Family(s), nil
}

// String returns the family's name, "unknown" for [Unknown].
func (f Family) String() string {
	if f == Unknown {
		return "unknown"
	}
	return string(f)
}

// Method says how a count was made.
type Method string

// The methods, best first.
const (
	Anchored  Method = "anchored"  // from usage that the provider reported
	Exact     Method = "exact"     // with the family's own vocabulary
	Weighted  Method = "weighted"  // with another family's vocabulary, weighted
	Estimated Method = "estimated" // from a boundary table
	ByFormula Method = "formula"   // as another system estimates; see [Named]
)

// Count is a number of tokens, how it was found and how far off it may be.
type Count struct {
	Tokens int    `json:"tokens"`
	Method Method `json:"method"`

	// Band is the relative half-width of the interval that holds the true count:
	// 0.03 is 3 % either way. The upper end was above every known count of a text
	// of more than a kilobyte; 95 in 100 estimates are within 6.5 %.
	Band float64 `json:"band"`
}

// Upper returns the upper end of the interval. Checks against a limit use it
// instead of a blanket safety factor.
func (c Count) Upper() int { return c.Tokens + int(math.Ceil(float64(c.Tokens)*c.Band)) }

// Lower returns the lower end of the interval.
func (c Count) Lower() int { return c.Tokens - int(math.Ceil(float64(c.Tokens)*c.Band)) }

// profile is what is known of a family.
type profile struct {
	// table is the boundary table that counts text, scale what its sum is
	// multiplied by.
	table string
	scale float64

	// public says that the vocabulary is known, so that nothing is to be learned
	// about how it counts text.
	public bool

	// others is how many tokens stand for one of o200k in scripts that no table
	// was trained on; 0 says that the family's vocabulary is that of o200k.
	others float64

	// Tokens that providers charge beyond the text: for a call with its result,
	// for a step (an assistant message), for any other message, for a request
	// that has tools at all, for a conversation.
	pair, step, message, tools, conversation int

	// page is what a page of a PDF costs, as far as providers say: 258 for
	// Gemini, 1,500 to 3,000 for Claude, text and picture for GPT.
	page int

	// What a picture costs: tokens of a tile, tokens of any picture, or, where both
	// are 0, the longest side in points that it is shrunk to; see pictureTokens.
	tile, image int
	side        float64

	// Half-widths of the two ways of counting: no text of more than a kilobyte
	// whose true count is known has more than the upper end.
	tableBand, exactBand float64
}

// The framing was measured as growth of reported prompts that the text does
// not explain. For families nobody reported usage for, it is what their chat
// templates add.
var profiles = map[Family]*profile{
	O200K:     {table: "o200k", scale: 1, public: true, pair: 27, step: 3, message: 4, conversation: 3, page: 2000, tile: 170, tableBand: 0.08, exactBand: 0.03},
	CL100K:    {table: "cl100k", scale: 1, public: true, others: 2.75, pair: 27, step: 3, message: 4, conversation: 3, page: 2000, tile: 170, tableBand: 0.09, exactBand: 0.10},
	Claude2:   {table: "claude2", scale: 1, others: 3, pair: 65, step: 4, message: 4, tools: 346, conversation: 3, page: 3000, side: 1568, tableBand: 0.09, exactBand: 0.12},
	Claude:    {table: "claude", scale: 1.14, others: 3.3, pair: 65, step: 4, message: 4, tools: 346, conversation: 3, page: 3000, side: 1568, tableBand: 0.12, exactBand: 0.08},
	Claude5:   {table: "o200k", scale: 1.56, others: 1.56, pair: 49, step: 14, message: 4, tools: 346, conversation: 3, page: 3000, side: 2576, tableBand: 0.12, exactBand: 0.08},
	Llama3:    {table: "llama3", scale: 1, public: true, others: 2.1, pair: 30, step: 5, message: 5, conversation: 5, page: 2000, side: 1568, tableBand: 0.08, exactBand: 0.06},
	Gemma3:    {table: "gemma3", scale: 1, public: true, others: 1.25, pair: 29, step: 21, message: 5, conversation: 3, page: 258, image: 1120, tableBand: 0.15, exactBand: 0.12},
	Tekken:    {table: "tekken", scale: 1, public: true, others: 1.5, pair: 30, step: 5, message: 4, conversation: 3, page: 2000, side: 1568, tableBand: 0.12, exactBand: 0.12},
	Qwen3:     {table: "qwen3", scale: 1, public: true, others: 2.1, pair: 30, step: 5, message: 5, conversation: 3, page: 2000, side: 1568, tableBand: 0.08, exactBand: 0.06},
	DeepSeek3: {table: "deepseek3", scale: 1, public: true, others: 2.1, pair: 46, step: 4, message: 4, conversation: 3, page: 2000, side: 1568, tableBand: 0.09, exactBand: 0.07},
	Unknown:   {table: "unknown", scale: 1.56, others: 3.3, pair: 65, step: 21, message: 5, tools: 346, conversation: 24, page: 3000, side: 2576, tableBand: 0.05, exactBand: 0.05},
}
