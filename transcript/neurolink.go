package transcript

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readNeuroLink reads NeuroLink's stored conversations: messages whose tags say
// what a compaction hides. Messages are never deleted there, so the originals
// are all present: hidden ones are read like the others, and the summaries and
// truncation markers that hide them become compactions.
func readNeuroLink(in *input) ([]Session, error) {
	var out []Session
	var lines *builder
	for _, r := range in.records {
		switch {
		case r.raw.Kind() == '[' && decode.Member(firstElement(r.raw), "messages") != nil:
			for _, v := range decode.Elements(r.raw) {
				out = append(out, in.neuroLinkSession(v))
			}
		case r.raw.Kind() == '[', decode.Member(r.raw, "messages") != nil:
			out = append(out, in.neuroLinkSession(r.raw))
		default:
			if lines == nil {
				lines = in.builder()
			}
			lines.neuroLink(r.raw)
		}
	}
	if lines != nil {
		decode.Pair(lines.msgs)
		out = append(out, lines.finish())
	}
	return out, nil
}

func (in *input) neuroLinkSession(raw jsontext.Value) Session {
	b := in.builder()
	messages := raw
	if raw.Kind() == '{' {
		b.s.ID, b.s.Title = decode.Str(raw, "sessionId"), decode.Str(raw, "title")
		messages = decode.Member(raw, "messages")
	}
	for _, v := range decode.Elements(messages) {
		b.neuroLink(v)
	}
	decode.Pair(b.msgs)
	return b.finish()
}

func (b *builder) neuroLink(raw jsontext.Value) {
	role := decode.Str(raw, "role")
	switch {
	case isSet(raw, "isTruncationMarker"):
		b.compacted(Compaction{Trigger: "truncation", Line: b.in.lineOf(raw)})
		return
	case decode.Str(raw, "condenseId") != "" || isSet(raw, "metadata", "isSummary"):
		b.compacted(Compaction{Summary: decode.Str(raw, "content"), Trigger: "condense", Line: b.in.lineOf(raw)})
		return
	}
	m := chat.Message{ID: decode.Str(raw, "id"), Time: millis(decode.Member(raw, "timestamp"))}
	switch role {
	case "tool_call":
		m.Role = chat.Assistant
		p := chat.Part{Kind: chat.ToolCall, Name: decode.Str(raw, "tool"), Args: "{}"}
		if args := decode.Member(raw, "args"); args.Kind() == '{' {
			p.Args = string(args)
		}
		p.Signature = decode.Str(raw, "metadata", "thoughtSignature")
		m.Parts = []chat.Part{p}
		if last := b.last(); last != nil { // calls follow the text they were made with
			decode.Join(last, &m)
			return
		}
	case "tool_result":
		m.Role = chat.Tool
		p := chat.Part{Kind: chat.ToolResult, Name: decode.Str(raw, "tool"), Text: decode.Str(raw, "content")}
		if result := decode.Member(raw, "result"); result.Kind() == '{' {
			ok, err := decode.Bool(decode.Member(result, "success"))
			p.Failed = err == nil && !ok && decode.Member(result, "success") != nil || decode.Str(result, "error") != ""
			if p.Text == "" {
				p.Text = string(result)
			}
		} else if p.Text == "" && result != nil {
			p.Text = string(result)
		}
		m.Parts = []chat.Part{p}
	default:
		plain, err := decode.OpenAI(raw)
		if err != nil {
			b.broken(raw, err)
			return
		}
		m.Role, m.Parts = plain.Role, plain.Parts
		markSynthetic(&m)
	}
	b.add(m)
}
