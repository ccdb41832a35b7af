package wire

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Problem is one thing for which a provider would refuse a body.
type Problem struct {
	// Rule names what is broken, in a word that stays the same.
	Rule string `json:"rule"`
	// At is the element of the array of messages, -1 for the body as a whole.
	At int `json:"at"`
	// Path is the exact place, in the manner of providers: messages.3.content.0.
	Path string `json:"path,omitempty"`
	// Message says what is wrong and what to do.
	Message string `json:"message"`
}

// String returns place and message.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Rules that problems name.
const (
	RuleShape       = "shape"             // not a request, or a member of the wrong type
	ruleNoMessages  = "no_messages"       // nothing to answer
	ruleRole        = "role"              // unknown, or with content that it must not have
	ruleUserFirst   = "user_first"        // the first message is not a user's
	ruleEmpty       = "empty_message"     // a message without content
	ruleEmptyText   = "empty_text"        // a text without words
	RuleUnanswered  = "unanswered_call"   // a call without its result
	RuleOrphan      = "orphan_result"     // a result without its call
	RuleDuplicate   = "duplicate_result"  // a call that is answered twice
	ruleCallID      = "call_id"           // a call without an id, or with another's
	ruleArguments   = "call_arguments"    // arguments that are not an object
	ruleResultOrder = "result_order"      // results that do not stand first
	ruleServerTool  = "server_tool"       // a provider's own call and its result
	ruleThinking    = "thinking"          // thinking that is missing or incomplete
	ruleCacheMarks  = "cache_control"     // too many cache markers, or misplaced ones
	ruleImages      = "images"            // too many images
	ruleSize        = "size"              // too many bytes or messages
	ruleMaxTokens   = "max_tokens"        // an output limit that cannot be
	ruleReasoning   = "reasoning_order"   // reasoning without the item it belongs to
	ruleCallOrder   = "call_order"        // a call that does not follow input
	ruleSignature   = "thought_signature" // a call without the signature of its thought
	ruleCompaction  = "compaction_order"  // a provider's compaction item in the wrong place
	ruleContentType = "content_type"      // content that this role cannot have
	ruleResultCount = "result_count"      // other than one result for each call
)

// Limits of bodies.
const (
	maxProblems    = 200       // nobody reads more
	anthropicBytes = 32 << 20  // of a body
	anthropicList  = 100_000   // messages
	anthropicMarks = 4         // blocks with cache_control
	geminiBytes    = 100 << 20 // of a body with inline data
)

// dummySignature is what Gemini accepts in place of a signature that is lost.
const dummySignature = "skip_thought_signature_validator"

// Validate reads a body as its provider does and returns what it would be
// refused for, in order; none for a body that is well. It shares no code with
// [chat.Rules] and looks at nothing but the bytes.
//
// It reports what is wrong whatever the model. Limits of single models (window,
// image sizes, prefill) are not its business.
func Validate(d Dialect, raw []byte) []Problem {
	c := checker{d: d, raw: raw}
	if !d.isKnown() {
		c.addProblem(RuleShape, -1, "", "there is no dialect %q; use openai, responses, anthropic or gemini", d)
		return c.problems
	}
	l, err := scanLayout(d, raw)
	if err != nil {
		e := err.(*Error)
		c.addProblem(RuleShape, -1, "", "%s", (&Error{Dialect: d, Path: e.Path, Problem: e.Problem, Hint: e.Hint}).Error())
		return c.problems
	}
	c.layout = *l
	switch d {
	case Anthropic:
		c.checkAnthropic()
	case Gemini:
		c.checkGemini()
	case Responses:
		c.checkResponses()
	default:
		c.checkOpenAI()
	}
	return c.problems
}

// checker gathers problems.
type checker struct {
	layout
	d        Dialect
	raw      []byte
	problems []Problem
	images   int
	marks    int
}

func (c *checker) addProblem(rule string, at int, path, format string, args ...any) {
	if len(c.problems) == maxProblems {
		return
	}
	p := Problem{Rule: rule, At: at, Message: fmt.Sprintf(format, args...)}
	if at >= 0 {
		p.Path = fmt.Sprintf("%s.%d", c.d.listMember(), at)
		if path != "" {
			p.Path += "." + path
		}
	} else {
		p.Path = path
	}
	c.problems = append(c.problems, p)
}

// elementAt returns element i, which may be anything.
func (c *checker) elementAt(i int) jsontext.Value { return jsontext.Value(c.elems[i].in(c.raw)) }

// pending are calls that wait for results.
type pending struct {
	at   int
	ids  []string       // in order
	left map[string]int // by id, how many calls still wait
}

func (p *pending) add(id string) {
	if p.left == nil {
		p.left = map[string]int{}
	}
	p.ids = append(p.ids, id)
	p.left[id]++
}

// answer takes note of a result; known is false when there is no call with that id, and
// twice true when all of them have their results.
func (p *pending) answer(id string) (known, twice bool) {
	n, known := p.left[id]
	if n > 0 {
		p.left[id]--
	}
	return known, known && n == 0
}

// takeOpen returns the calls that still wait, which then wait no more.
func (p *pending) takeOpen() []string {
	var out []string
	for _, id := range p.ids {
		if p.left[id] > 0 {
			p.left[id]--
			out = append(out, id)
		}
	}
	return out
}

// isBlank reports whether a JSON string has no words.
func isBlank(v jsontext.Value) bool {
	if v.Kind() != '"' {
		return isNull(v)
	}
	if len(v) > 2 && v[1] > ' ' && v[1] != '\\' && v[1] < 0x80 {
		return false
	}
	s, _ := decode.String(v)
	return strings.Trim(s, " \n\r\t\v\f\u00a0") == ""
}

func (c *checker) checkImages(limit int) {
	if c.images > limit {
		c.addProblem(ruleImages, -1, "", "%d images where %d are allowed; replace old images by a text", c.images, limit)
	}
}
