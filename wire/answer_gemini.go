package wire

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// geminiAnswer gathers an answer of generateContent: its first candidate. An
// answer in one piece is a stream of one chunk.
type geminiAnswer struct {
	s                 *Stream
	id, model, reason string
	parts             []chat.Part
	texts             [][]byte // of the parts that are words, as they grow
	usage             chat.Usage
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
	a.id = cmp.Or(decode.Str(v, "responseId"), a.id)
	a.model = cmp.Or(decode.Str(v, "modelVersion"), a.model)
	if u := decode.Member(v, "usageMetadata"); u.Kind() == '{' {
		n, err := decode.GeminiUsage(u)
		if err != nil {
			return err
		}
		a.usage = *n
	}
	if r := decode.Str(v, "promptFeedback", "blockReason"); r != "" {
		a.reason, a.s.done = r, true
	}
	for _, c := range decode.Elements(decode.Member(v, "candidates")) {
		if r := decode.Str(c, "finishReason"); r != "" {
			a.reason, a.s.done = r, true
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
	n := len(a.parts)
	if words && n > 0 && a.parts[n-1].Kind == p.Kind && a.parts[n-1].Signature == "" {
		if len(a.texts[n-1])+len(p.Text) > maxAnswer {
			return fmt.Errorf("an answer of more than %d bytes", maxAnswer)
		}
		a.texts[n-1] = append(a.texts[n-1], p.Text...)
		a.parts[n-1].Signature = p.Signature
		return nil
	}
	if words && p.Text == "" && p.Signature == "" {
		return nil
	}
	if n >= maxBlocks {
		return fmt.Errorf("more than %d parts in an answer", maxBlocks)
	}
	a.parts = append(a.parts, p)
	a.texts = append(a.texts, []byte(p.Text))
	return nil
}

func (a *geminiAnswer) fillAnswer(out *Answer) {
	out.ID, out.Model, out.Reason, out.Usage = a.id, a.model, a.reason, a.usage
	calls := 0
	for i, p := range a.parts {
		switch p.Kind {
		case chat.Text, chat.Thinking:
			p.Text = string(a.texts[i])
		case chat.ToolCall:
			if calls++; p.ID == "" {
				p.ID = "call_" + strconv.Itoa(calls)
			}
		}
		out.Message.Parts = append(out.Message.Parts, p)
	}
	switch a.reason {
	case "STOP":
		out.Stop = StopEnd
		if calls > 0 {
			out.Stop = StopTools
		}
	case "MAX_TOKENS":
		out.Stop = StopLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE", "OTHER":
		out.Stop = StopFilter
	case "":
	default:
		if out.Stop = stopOf(nil, a.reason); out.Stop == "" {
			out.Stop = StopError
		}
	}
}
