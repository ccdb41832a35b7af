package wire

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// openAIAnswer gathers an answer of chat completions: its first choice.
type openAIAnswer struct {
	s                       *Stream
	message                 chat.Message // of an answer in one piece
	thought, words, refusal []byte
	signature               string // of the thought
	calls                   []*openAIStreamed
}

type openAIStreamed struct {
	index     int
	id        string
	custom    bool
	name      []byte
	args      []byte
	signature string
}

func (a *openAIAnswer) takeHead(v jsontext.Value) error {
	a.s.takeHead(decode.Str(v, "id"), decode.Str(v, "model"))
	for _, path := range [...][]string{{"usage"}, {"x_groq", "usage"}} {
		if u := decode.Path(v, path...); u.Kind() == '{' {
			n, err := decode.OpenAIUsage(u)
			if err != nil {
				return err
			}
			a.s.said.Usage = combineUsage(a.s.said.Usage, *n, largerOf)
		}
	}
	return nil
}

func (a *openAIAnswer) takeWhole(v jsontext.Value) error {
	if err := a.takeHead(v); err != nil {
		return err
	}
	a.s.done = true
	for _, c := range decode.Elements(decode.Member(v, "choices")) {
		a.s.said.Reason = finishReason(c)
		m := decode.Member(c, "message")
		if m.Kind() != '{' {
			return fmt.Errorf("a choice without a message")
		}
		var err error
		a.message, err = decode.OpenAI(m)
		return err
	}
	return nil
}

func finishReason(choice jsontext.Value) string {
	if r := decode.Str(choice, "finish_reason"); r != "" {
		return r
	}
	return decode.Str(choice, "finish_details", "type")
}

func (a *openAIAnswer) takeEvent(_ string, v jsontext.Value) error {
	if err := a.takeHead(v); err != nil {
		return err
	}
	for _, c := range decode.Elements(decode.Member(v, "choices")) {
		if n, _ := decode.Int(decode.Member(c, "index")); n != 0 {
			continue
		}
		if r := finishReason(c); r != "" {
			a.s.said.Reason = r
			a.s.done = true // [DONE] is a courtesy that some servers forget
		}
		if err := a.takeDelta(decode.Member(c, "delta")); err != nil {
			return err
		}
	}
	return nil
}

func (a *openAIAnswer) takeDelta(d jsontext.Value) error {
	thought := false
	for name, v := range decode.Members(d) {
		var err error
		text := v.Kind() == '"' && len(v) > 2
		switch {
		case isNull(v):
		case name == "content" && v.Kind() == '[':
			err = a.takePieces(v)
		case name == "content" && text:
			a.s.content = true
			err = a.s.appendWords(&a.words, v)
		case (name == "reasoning_content" || name == "reasoning") && text && !thought: // servers send both
			thought, a.s.content = true, true
			err = appendBounded(&a.thought, v)
		case name == "reasoning_details":
			for _, r := range decode.Elements(v) {
				a.signature = cmp.Or(decode.Str(r, "signature")+decode.Str(r, "data"), a.signature)
			}
		case name == "refusal":
			a.s.content = true
			err = a.s.appendWords(&a.refusal, v)
		case name == "tool_calls":
			for _, c := range decode.Elements(v) {
				if err = a.takeCall(c); err != nil {
					break
				}
			}
		case name == "function_call":
			err = a.takeFunction(a.callAt(-1, ""), v, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takePieces takes content that comes as a list, as Mistral's models that think
// send it: texts, and thoughts that are lists of texts themselves.
func (a *openAIAnswer) takePieces(v jsontext.Value) error {
	for _, p := range decode.Elements(v) {
		part, err := decode.Block(p)
		if err != nil {
			return err
		}
		text := jsontext.Value(jsonwrite.AppendString(nil, part.Text))
		switch {
		case part.Text == "":
		case part.Kind == chat.Text:
			a.s.content, err = true, a.s.appendWords(&a.words, text)
		case part.Kind == chat.Thinking:
			a.s.content, err = true, appendBounded(&a.thought, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *openAIAnswer) takeCall(c jsontext.Value) error {
	id := decode.Str(c, "id")
	index := len(a.calls)
	if v := decode.Member(c, "index"); v.Kind() == '0' {
		n, err := decode.Int(v)
		if err != nil {
			return err
		}
		index = n
	} else if id == "" && index > 0 {
		index = a.calls[len(a.calls)-1].index
	}
	if len(a.calls) >= maxBlocks {
		return fmt.Errorf("more than %d calls in an answer", maxBlocks)
	}
	call := a.callAt(index, id)
	a.s.content = true
	call.signature = cmp.Or(decode.Str(c, "extra_content", "google", "thought_signature"), call.signature)
	if f := decode.Member(c, "custom"); f.Kind() == '{' {
		call.custom = true
		return a.takeFunction(call, f, true)
	}
	return a.takeFunction(call, decode.Member(c, "function"), false)
}

// callAt returns the call with that index. A server that gives all calls the same
// index tells them apart by their ids.
func (a *openAIAnswer) callAt(index int, id string) *openAIStreamed {
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		if c.index == index && (id == "" || c.id == "" || c.id == id) {
			c.id = cmp.Or(c.id, id)
			return c
		}
	}
	c := &openAIStreamed{index: index, id: id}
	a.calls = append(a.calls, c)
	return c
}

func (a *openAIAnswer) takeFunction(c *openAIStreamed, f jsontext.Value, custom bool) error {
	a.s.content = true
	if name := decode.Str(f, "name"); name != "" && name != string(c.name) { // some repeat it
		if err := appendBounded(&c.name, decode.Member(f, "name")); err != nil {
			return err
		}
	}
	args := decode.Member(f, "arguments")
	if custom {
		args = decode.Member(f, "input")
	}
	if args.Kind() == '{' {
		c.args = append(c.args[:0], args...)
		return nil
	}
	return appendBounded(&c.args, args)
}

func (a *openAIAnswer) parts() []chat.Part {
	parts := append([]chat.Part(nil), a.message.Parts...)
	if len(a.thought) > 0 || a.signature != "" {
		parts = append(parts, chat.Part{Kind: chat.Thinking, Text: string(a.thought), Signature: a.signature})
	}
	if len(a.words) > 0 {
		parts = append(parts, chat.Part{Kind: chat.Text, Text: string(a.words)})
	}
	if len(a.refusal) > 0 {
		parts = append(parts, chat.Part{Kind: chat.Text, Text: string(a.refusal)})
	}
	for _, c := range a.calls {
		p := chat.Part{Kind: chat.ToolCall, ID: c.id, Name: string(c.name), Args: string(c.args), Signature: c.signature}
		switch {
		case c.custom:
			p.Args = decode.FreeForm(jsonwrite.AppendString(nil, p.Args))
		case p.Args == "":
			p.Args = "{}"
		}
		if p.ID == "" && c.index < 0 {
			p.ID = "function:" + p.Name
		}
		parts = append(parts, p)
	}
	return parts
}
