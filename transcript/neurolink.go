package transcript

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/neurolink"
)

// readNeuroLink reads NeuroLink's stored conversations: messages whose tags say
// what a compaction hides. Messages are never deleted there, so the originals
// are all present: hidden ones are read like the others, and the summaries and
// truncation markers that hide them become compactions.
func readNeuroLink(in *input) ([]Session, error) {
	var out []Session
	var lines *builder
	for r := range in.eachRecord() {
		switch {
		case r.raw.Kind() == '[', decode.Member(r.raw, "messages") != nil:
			out = append(out, in.neuroLinkSession(r.raw))
		default:
			if lines == nil {
				lines = in.newBuilder()
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
	b := in.newBuilder()
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
	t, err := neurolink.Message(raw)
	m := t.Message
	switch {
	case t.IsTruncationMarker:
		b.noteCompaction(Compaction{Trigger: "truncation", Line: b.in.lineOf(raw)})
		return
	case neurolink.IsSummary(raw):
		b.noteCompaction(Compaction{Summary: decode.Str(raw, "content"), Trigger: "condense", Line: b.in.lineOf(raw)})
		return
	case err != nil:
		b.noteBroken(raw, err)
		return
	case neurolink.IsCall(raw):
		if last := b.lastAssistant(); last != nil { // calls follow the text they were made with
			decode.Join(last, &m)
			return
		}
	}
	markSynthetic(&m)
	b.addMessage(m)
}
