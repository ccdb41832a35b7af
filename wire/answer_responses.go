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
	s     *Stream
	items []*responsesStreamed
	whole []chat.Part // of the finished response
}

// responsesStreamed is an item on its way: whole once it is done.
type responsesStreamed struct {
	parts []chat.Part
	done  bool
	words []byte
}

func (a *responsesAnswer) takeWhole(v jsontext.Value) error {
	a.s.done = true
	a.s.takeHead(decode.Str(v, "id"), decode.Str(v, "model"))
	if u := decode.Member(v, "usage"); u.Kind() == '{' {
		n, err := decode.ResponsesUsage(u)
		if err != nil {
			return err
		}
		a.s.said.Usage = *n
	}
	reason := decode.Str(v, "status")
	switch reason {
	case "incomplete":
		reason = cmp.Or(decode.Str(v, "incomplete_details", "reason"), reason)
	case "failed":
		a.s.noteFailure(v)
	case "in_progress", "queued":
		a.s.done = false
	}
	a.s.said.Reason = reason
	var parts []chat.Part
	for i, item := range decode.Elements(decode.Member(v, "output")) {
		m, err := decode.Item(item)
		if err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
		parts = append(parts, m.Parts...)
	}
	if len(parts) > 0 {
		a.whole = parts
		a.s.content = true
	}
	return nil
}

func (a *responsesAnswer) takeEvent(name string, v jsontext.Value) error {
	switch name {
	case "response.created", "response.in_progress", "response.queued":
		r := decode.Member(v, "response")
		a.s.takeHead(decode.Str(r, "id"), decode.Str(r, "model"))
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
		return a.s.appendWords(&it.words, decode.Member(v, "delta"))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		a.s.content = true
	}
	return nil
}

func (a *responsesAnswer) parts() []chat.Part {
	parts := append([]chat.Part(nil), a.whole...)
	if len(parts) > 0 {
		return parts
	}
	for _, it := range a.items { // it broke off, or the server does not repeat what it sent
		if it.done {
			parts = append(parts, it.parts...)
		} else if len(it.words) > 0 {
			parts = append(parts, chat.Part{Kind: chat.Text, Text: string(it.words)})
		}
	}
	return parts
}
