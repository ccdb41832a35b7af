package wire

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Insertion puts messages into a request that its sender does not know of.
type Insertion struct {
	// From and To are the messages of the history that give way: From to To-1.
	From, To int

	// Messages take their place.
	Messages []chat.Message

	// Results are put in front of the results in the message after that, which
	// answers other calls of the same message.
	Results []chat.Part
}

// Insert returns the body with messages put in and tools declared beside its own.
// Insertions are in order, and do not overlap. All other bytes stay as they came.
func (b *Body) Insert(all []Insertion, tools []chat.ToolDef) ([]byte, error) {
	if b.bare || len(b.elems) > 0 && b.list == b.elems[0] {
		return nil, &Error{Dialect: b.dialect, Problem: "the messages are not an array inside a request", Hint: "send them as an array"}
	}
	list := array{raw: b.list.in(b.raw)}
	for _, e := range b.elems {
		list.elems = append(list.elems, span{e.From - b.list.From, e.To - b.list.From})
	}
	var pieces []piece
	next := 0 // element
	for _, in := range all {
		from, to := len(b.elems), len(b.elems)
		if in.From < b.req.History.Len() {
			from, _ = b.elementRange(in.From)
			_, to = b.elementRange(in.To - 1)
		}
		for ; next < from; next++ {
			pieces = append(pieces, list.piece(next))
		}
		eachRendered(b.dialect, chat.Messages(in.Messages), 0, func(p piece) { pieces = append(pieces, p) })
		if next = to; len(in.Results) == 0 {
			continue
		}
		var results []piece
		eachRendered(b.dialect, chat.Messages{{Role: chat.Tool, Parts: in.Results}}, 0, func(p piece) { results = append(results, p) })
		if b.dialect == OpenAI || b.dialect == Responses {
			pieces = append(pieces, results...)
			continue
		}
		if next == len(b.elems) || len(results) != 1 {
			return nil, &Error{Dialect: b.dialect, Problem: "no results follow the calls", Hint: "send them"}
		}
		joined, err := b.dialect.prependParts(b.elems[next].in(b.raw), results[0].data)
		if err != nil {
			return nil, err
		}
		p := list.piece(next)
		pieces = append(pieces, piece{sep: p.sep, data: joined})
		next++
	}
	for ; next < len(b.elems); next++ {
		pieces = append(pieces, list.piece(next))
	}
	return b.spliceListAndTools(list.with(pieces), tools)
}

// prependParts puts the parts of one message in front of those of another.
func (d Dialect) prependParts(message, others []byte) ([]byte, error) {
	name := map[Dialect]string{Anthropic: "content", Gemini: "parts"}[d]
	o, first := readObject(message), decode.Member(others, name)
	parts := o.get(name)
	if parts.Kind() != '[' || first.Kind() != '[' {
		return nil, &Error{Dialect: d, Problem: fmt.Sprintf("%s where results are expected", decode.TypeName(parts)), Hint: "send the results as an array"}
	}
	inner := bytes.TrimSpace(parts[1:])
	joined := append(bytes.Clone(first[:len(first)-1]), ',')
	if inner[0] == ']' {
		joined = joined[:len(joined)-1]
	}
	return o.with(change{name, append(joined, inner...)}), nil
}

// spliceListAndTools returns the body with another list of messages and with more tools.
func (b *Body) spliceListAndTools(list []byte, tools []chat.ToolDef) ([]byte, error) {
	type edit struct {
		at   span
		text []byte
	}
	edits := []edit{{b.list, list}}
	if len(tools) > 0 {
		own := newList(renderTools(b.dialect, tools))
		declared := edit{span{b.list.To, b.list.To}, append([]byte(`,"tools":`), own...)}
		for i := range b.fields {
			if b.fields[i].name != "tools" {
				continue
			}
			value := jsontext.Value(b.fields[i].val.in(b.raw))
			if declared = (edit{b.fields[i].val, own}); value.Kind() == '[' && len(readArray(value).elems) > 0 {
				declared.text = append(append(bytes.Clone(value[:len(value)-1]), ','), own[1:]...)
			}
		}
		if edits = append(edits, declared); declared.at.From < b.list.From {
			edits[0], edits[1] = edits[1], edits[0]
		}
	}
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, b.raw[at:e.at.From]...), e.text...)
		at = e.at.To
	}
	return append(out, b.raw[at:]...), nil
}
