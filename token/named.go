package token

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
)

// ConversationEstimator estimates texts and whole conversations. A [Counter] is one.
type ConversationEstimator interface {
	// Text returns the tokens of a text.
	Text(s string) int

	// Messages returns the tokens of the messages with all framing.
	Messages(s chat.Sequence) int

	// Tools returns the tokens of tool definitions.
	Tools(defs []chat.ToolDef) int
}

// Names returns the names that [Named] knows.
func Names() []string { return slices.Sorted(maps.Keys(estimators)) }

// Named returns an estimator that another system uses. They are here to be
// compared with and to run that system's own cases: the truth is up to twice what
// they say. [New] takes their names for families.
//
//	chars/4              characters divided by four, nothing else
//	neurolink:PROVIDER   four characters a token (three with ":code" after the
//	                     provider), a multiplier per provider and 15 % on top;
//	                     without a provider no multiplier
//	operator-use         a quarter of the characters of each message, 1,200 for
//	                     a picture
//	pi                   the same, rounded up
//	picoclaw             two tokens for five characters, 256 for media
//	umbra                a quarter of the length as JSON
func Named(name string) (ConversationEstimator, error) {
	if e, ok := estimators[name]; ok {
		return e, nil
	}
	return nil, fmt.Errorf("token: no estimator is called %q; the names are %s", name, strings.Join(Names(), ", "))
}

// estimators are those of other systems by their names.
var estimators = func() map[string]ConversationEstimator {
	all := map[string]ConversationEstimator{
		"chars/4":      characters{per: 4, factor: 1},
		"operator-use": characters{per: 4, factor: 1, image: 1200, down: true},
		"pi":           characters{per: 4, factor: 1, image: 1200},
		"picoclaw":     picoclaw{},
		"umbra":        umbra{},
	}
	for p, m := range providerMultipliers {
		c := characters{per: 4, factor: m * 1.15, message: 4, conversation: 24, image: 1024}
		all["neurolink:"+p] = c
		c.per = 3
		all["neurolink:"+p+":code"] = c
	}
	all["neurolink"] = all["neurolink:openai"]
	return all
}()

// providerMultipliers are those of the neurolink compactor, relative to GPT.
var providerMultipliers = map[string]float64{
	"anthropic": 1.23, "google-ai": 1.18, "vertex": 1.18, "mistral": 1.26,
	"openai": 1, "azure": 1, "bedrock": 1.23, "ollama": 1, "litellm": 1, "huggingface": 1, "sagemaker": 1,
}

// characters divides the number of UTF-16 units, which JavaScript calls a
// string's length.
type characters struct {
	per                          int
	factor                       float64
	message, conversation, image int
	down                         bool // round down, to no less than one
}

func (c characters) units(n int) int {
	if c.down && n > 0 {
		return max(1, n/c.per)
	}
	// Products such as 100 * 1.15 must not round up by a float's last bit.
	return int(math.Ceil(float64((n+c.per-1)/c.per)*c.factor - 1e-9))
}

func (c characters) Text(s string) int { return c.units(utf16Len(s)) }

func (c characters) Messages(s chat.Sequence) int {
	n := c.conversation
	for i := range s.Len() {
		chars := 0
		eachPart(s.At(i).Parts, func(p *chat.Part) {
			if file, ok := fileText(p); ok {
				chars += utf16Len(file)
				return
			}
			if isMedia(p) {
				n += c.image
				return
			}
			chars += utf16Len(p.Text) + utf16Len(p.Name) + utf16Len(p.Args)
			if p.Kind == chat.Opaque {
				chars += utf16Len(p.Data)
			}
		})
		n += c.units(chars) + c.message
	}
	return n
}

func (c characters) Tools(defs []chat.ToolDef) int {
	n := 0
	for i := range defs { // a quarter of the length as JSON, for every provider
		n += (toolLen(&defs[i]) + 3) / 4
	}
	return n
}

// picoclaw counts runes: two tokens for five, 12 runes of framing a message and
// 20 a tool, 256 tokens for media after that conversion.
type picoclaw struct{}

func (picoclaw) Text(s string) int { return utf8.RuneCountInString(s) * 2 / 5 }

func (picoclaw) Messages(s chat.Sequence) int {
	n := 0
	for i := range s.Len() {
		m := s.At(i)
		chars, media, texts := 12, 0, 0
		eachPart(m.Parts, func(p *chat.Part) {
			if file, ok := fileText(p); ok {
				chars += utf8.RuneCountInString(file)
				return
			}
			if isMedia(p) {
				media++
				return
			}
			chars += utf8.RuneCountInString(p.Text)
			switch p.Kind {
			case chat.Text:
				texts++
			case chat.ToolCall:
				chars += len(p.ID) + len("function") + len(p.Name) + len(p.Args)
			case chat.ToolResult:
				chars += len(p.ID)
			}
		})
		if m.Role == chat.System && texts > 1 {
			chars += 20 * texts // the parts of a system prompt carry framing of their own
		}
		n += chars*2/5 + 256*media
	}
	return n
}

func (picoclaw) Tools(defs []chat.ToolDef) int {
	chars := 0
	for i := range defs {
		chars += len(defs[i].Name) + len(defs[i].Description) + len(defs[i].Schema) + 20
	}
	return chars * 2 / 5
}

// umbra takes a quarter of the messages' length as a JSON array.
type umbra struct{}

func (umbra) Text(s string) int { return quarter(jsonLen(s)) }

func (umbra) Messages(s chat.Sequence) int {
	n := len("[]") + max(0, s.Len()-1)
	for i := range s.Len() {
		n += umbraLen(s.At(i))
	}
	return quarter(n)
}

func (umbra) Tools(defs []chat.ToolDef) int {
	if len(defs) == 0 {
		return 0
	}
	n := len("[]") + len(defs) - 1
	for i := range defs {
		n += toolLen(&defs[i])
	}
	return quarter(n)
}

// toolLen returns the length of a tool's definition as JSON.
func toolLen(d *chat.ToolDef) int {
	return len(`{"name":,"description":,"parameters":}`) + jsonLen(d.Name) + jsonLen(d.Description) + max(len("{}"), utf16Len(d.Schema))
}

// umbraLen returns the length of a message in that system's own JSON.
func umbraLen(m *chat.Message) int {
	n := len(`{"role":,"content":}`) + jsonLen(string(m.Role))
	var words strings.Builder
	said, calls := false, 0
	eachPart(m.Parts, func(p *chat.Part) {
		switch p.Kind {
		case chat.ToolCall:
			n += len(`{"id":,"name":,"arguments":}`) + jsonLen(p.ID) + jsonLen(p.Name) + max(len("{}"), utf16Len(p.Args)) + min(calls, 1)
			calls++
			return
		case chat.ToolResult:
			n += len(`,"toolCallId":`) + jsonLen(p.ID)
		case chat.Image, chat.Document, chat.Opaque:
			n += utf16Len(p.Data)
		}
		words.WriteString(p.Text)
		said = said || p.Text != ""
	})
	if calls > 0 {
		n += len(`,"toolCalls":[]`)
	}
	if said || calls == 0 {
		return n + jsonLen(words.String())
	}
	return n + len("null")
}

func quarter(n int) int { return max(1, (n+3)/4) }

// jsonLen returns the length of the string as JSON in UTF-16 units.
func jsonLen(s string) int {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return utf16Len(s) + 2
	}
	return utf16Len(b.String()) - 1 // the encoder ends with a newline
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// fileText returns the text of an attached file: those systems put it into the
// message.
func fileText(p *chat.Part) (string, bool) {
	if p.Kind != chat.Document {
		return "", false
	}
	return FileText(p)
}

func isMedia(p *chat.Part) bool { return p.Kind == chat.Image || p.Kind == chat.Document }

// eachPart visits the parts and what stands inside tool results.
func eachPart(parts []chat.Part, f func(*chat.Part)) {
	for i := range parts {
		f(&parts[i])
		eachPart(parts[i].Content, f)
	}
}

// formula counts with the estimator of another system. Those systems estimate
// whole conversations; what a message or a part has is what it adds to one.
type formula struct {
	ConversationEstimator

	none int // what a conversation without messages has
}

// newFormula returns a counter for the estimator of that name, or nil where there
// is none.
func newFormula(f Family, o *Options) *Counter {
	e, err := Named(string(f))
	if err != nil {
		return nil
	}
	return &Counter{family: f, profile: profiles[Unknown], text: e.Text, named: &formula{e, e.Messages(chat.Messages{})}, cache: o.newCache()}
}

// messageTokens returns what a message adds to a conversation.
func (f *formula) messageTokens(m *chat.Message) int {
	return max(0, f.Messages(chat.Messages{*m})-f.none)
}

// partTokens returns what a part adds to a message.
func (f *formula) partTokens(p *chat.Part) int {
	role := chat.User
	switch p.Kind {
	case chat.ToolCall, chat.Thinking:
		role = chat.Assistant
	case chat.ToolResult:
		role = chat.Tool
	}
	without := chat.Message{Role: role}
	return max(0, f.messageTokens(&chat.Message{Role: role, Parts: []chat.Part{*p}})-f.messageTokens(&without))
}
