package wire

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// responsesAnswer gathers an answer of OpenAI's responses.
type responsesAnswer struct {
	s                 *Stream
	id, model, reason string
	items             []*responsesStreamed
	parts             []chat.Part // of the finished response
	usage             chat.Usage
}

// responsesStreamed is an item on its way: whole once it is done.
type responsesStreamed struct {
	parts []chat.Part
	done  bool
	words []byte
}

func (a *responsesAnswer) takeWhole(v jsontext.Value) error {
	a.s.done = true
	a.id = cmp.Or(decode.Str(v, "id"), a.id)
	a.model = cmp.Or(decode.Str(v, "model"), a.model)
	if u := decode.Member(v, "usage"); u.Kind() == '{' {
		n, err := decode.ResponsesUsage(u)
		if err != nil {
			return err
		}
		a.usage = *n
	}
	a.reason = decode.Str(v, "status")
	switch a.reason {
	case "incomplete":
		a.reason = cmp.Or(decode.Str(v, "incomplete_details", "reason"), a.reason)
	case "failed":
		a.s.noteFailure(v)
	case "in_progress", "queued":
		a.s.done = false
	}
	var parts []chat.Part
	for i, item := range decode.Elements(decode.Member(v, "output")) {
		m, err := decode.Item(item)
		if err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
		parts = append(parts, m.Parts...)
	}
	if len(parts) > 0 {
		a.parts = parts
		a.s.content = true
	}
	return nil
}

func (a *responsesAnswer) takeEvent(name string, v jsontext.Value) error {
	switch name {
	case "response.created", "response.in_progress", "response.queued":
		r := decode.Member(v, "response")
		a.id, a.model = decode.Str(r, "id"), decode.Str(r, "model")
	case "response.completed", "response.incomplete", "response.failed", "response.done", "response.cancelled":
		return a.takeWhole(decode.Member(v, "response"))
	case "response.output_item.added": // a long thought has begun, and its caller may show that
		a.s.content = true
		_, err := streamedAt(&a.items, v, "output_index")
		return err
	case "response.output_item.done":
		it, err := streamedAt(&a.items, v, "output_index")
		if err != nil {
			return err
		}
		a.s.content = true
		m, err := decode.Item(decode.Member(v, "item"))
		it.parts, it.done, it.words = m.Parts, true, nil
		return err
	case "response.output_text.delta", "response.refusal.delta":
		it, err := streamedAt(&a.items, v, "output_index")
		if err != nil {
			return err
		}
		a.s.content = true
		return appendBounded(&it.words, decode.Member(v, "delta"))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		a.s.content = true
	}
	return nil
}

func (a *responsesAnswer) fillAnswer(out *Answer) {
	out.ID, out.Model, out.Reason, out.Usage = a.id, a.model, a.reason, a.usage
	out.Message.Parts = append([]chat.Part(nil), a.parts...)
	if len(a.parts) == 0 { // it broke off, or the server does not repeat what it sent
		for _, it := range a.items {
			if it.done {
				out.Message.Parts = append(out.Message.Parts, it.parts...)
			} else if len(it.words) > 0 {
				out.Message.Parts = append(out.Message.Parts, chat.Part{Kind: chat.Text, Text: string(it.words)})
			}
		}
	}
	if out.Stop = stopOf(responsesStops, a.reason); out.Stop == StopEnd && out.Message.Has(chat.ToolCall) {
		out.Stop = StopTools
	}
}

var responsesStops = map[string]string{
	"completed": StopEnd, "max_output_tokens": StopLength, "incomplete": StopLength, "content_filter": StopFilter,
	"failed": StopError, "cancelled": StopError,
}
