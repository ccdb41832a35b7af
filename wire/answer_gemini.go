package wire

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// geminiAnswer gathers an answer of generateContent: its first candidate. An
// answer in one piece is a stream of one chunk.
type geminiAnswer struct {
	s     *Stream
	all   []chat.Part
	texts [][]byte // of the parts that are words, as they grow
}

func (a *geminiAnswer) takeWhole(v jsontext.Value) error {
	err := a.takeEvent("", v)
	a.s.done = true
	return err
}

func (a *geminiAnswer) takeEvent(_ string, v jsontext.Value) error {
	if in := decode.Member(v, "response"); in.Kind() == '{' && decode.Member(v, "candidates") == nil {
		v = in // as the code assist endpoint wraps it
	}
	a.s.takeHead(decode.Str(v, "responseId"), decode.Str(v, "modelVersion"))
	if u := decode.Member(v, "usageMetadata"); u.Kind() == '{' {
		n, err := decode.GeminiUsage(u)
		if err != nil {
			return err
		}
		a.s.said.Usage = *n
	}
	if r := decode.Str(v, "promptFeedback", "blockReason"); r != "" {
		a.s.said.Reason, a.s.done = r, true
	}
	for _, c := range decode.Elements(decode.Member(v, "candidates")) {
		if r := decode.Str(c, "finishReason"); r != "" {
			a.s.said.Reason, a.s.done = r, true
		}
		parts, err := decode.GeminiParts(decode.Path(c, "content", "parts"))
		if err != nil {
			return err
		}
		for i := range parts {
			if err := a.addPart(parts[i]); err != nil {
				return err
			}
		}
		break
	}
	return nil
}

// addPart appends a part, or goes on with the words of the last one.
func (a *geminiAnswer) addPart(p chat.Part) error {
	words := p.Kind == chat.Text || p.Kind == chat.Thinking
	a.s.content = a.s.content || p.Text != "" || !words
	if p.Kind == chat.Text {
		a.s.say(p.Text)
	}
	n := len(a.all)
	if words && n > 0 && a.all[n-1].Kind == p.Kind && a.all[n-1].Signature == "" {
		if len(a.texts[n-1])+len(p.Text) > maxAnswer {
			return fmt.Errorf("an answer of more than %d bytes", maxAnswer)
		}
		a.texts[n-1] = append(a.texts[n-1], p.Text...)
		a.all[n-1].Signature = p.Signature
		return nil
	}
	if words && p.Text == "" && p.Signature == "" {
		return nil
	}
	if n >= maxBlocks {
		return fmt.Errorf("more than %d parts in an answer", maxBlocks)
	}
	a.all = append(a.all, p)
	a.texts = append(a.texts, []byte(p.Text))
	return nil
}

func (a *geminiAnswer) parts() (parts []chat.Part) {
	calls := 0
	for i, p := range a.all {
		switch p.Kind {
		case chat.Text, chat.Thinking:
			p.Text = string(a.texts[i])
		case chat.ToolCall:
			if calls++; p.ID == "" {
				p.ID = "call_" + strconv.Itoa(calls)
			}
		}
		parts = append(parts, p)
	}
	return parts
}
