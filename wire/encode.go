package wire

import (
	"fmt"
	"strconv"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// source is the parts of a view's message that come from one message of the
// history, with its bytes, or parts that edits made.
type source struct {
	bits  []bit
	orig  *chat.Message
	raw   []byte // from the first element to the end of the last
	elems []span // in raw
}

// bit is one part of a message of a view, with the plan's note about it.
type bit struct {
	plan.PartOrigin
	p *chat.Part
}

// Encode returns the body for a view of the body's history. With no plan, or
// one that changes nothing, these are the bytes that came; the caller must not
// change what is returned. In a body of Anthropic's a call whose id an earlier call
// has gets another one, with its result: the provider refuses it otherwise.
//
// The error wraps [plan.ErrMismatch] when the view is of another history.
func (b *Body) Encode(v plan.View) ([]byte, error) {
	w := writer{b: b, v: v}
	if b.dialect == Anthropic {
		w.renamed = renameRepeated(v)
	}
	p := v.Plan()
	if p == nil && w.renamed == nil {
		return b.applyOutputLimit(b.raw), nil
	}
	h := v.History()
	if n := b.req.History.Len(); h.Len() != n || h.Chain(n) != b.req.History.Chain(n) {
		return nil, fmt.Errorf("wire: the view is of another history (%d messages) than this body's (%d messages): %w; apply the plan to the history of the body", h.Len(), n, plan.ErrMismatch)
	}
	if len(b.elems) == 0 || w.renamed == nil && len(p.Edits) == 0 && len(p.Strip) == 0 && p.Join == plan.JoinNone {
		return b.applyOutputLimit(b.raw), nil
	}
	w.writeMessages()
	return b.applyOutputLimit(w.out), nil
}

// Size returns how many bytes [Body.Encode] writes for a view.
func (b *Body) Size(v plan.View) (int, error) {
	out, err := b.Encode(v)
	return len(out), err
}

// writer writes the messages of a view.
type writer struct {
	b   *Body
	v   plan.View
	out []byte

	renamed map[int]*chat.Message // messages with ids that are not those of the history
	count   int                   // elements in the list so far
	run     span                  // elements that wait to be copied as they stand
}

func (w *writer) writeMessages() {
	b := w.b
	text := b.list == b.elems[0] // the list is a string that stands for one message
	w.out = make([]byte, 0, len(b.raw)+256)
	w.out = append(w.out, b.raw[:b.elems[0].From]...)
	if text {
		w.out = append(w.out, '[')
	}
	w.run = span{0, b.lead}
	for i := range w.v.Len() {
		if k := w.v.Raw(i); k >= 0 && !text && w.renamed[i] == nil {
			from, to := b.elementRange(k)
			if w.run.To != from {
				w.flushRun()
				w.run.From = from
			}
			w.run.To = to
			continue
		}
		w.flushRun()
		for _, p := range w.changedPieces(i, text) {
			if m := w.renamed[i]; m != nil {
				p.data = renameBlocks(p.data, m)
			}
			w.writeSeparator(p.sep)
			w.out = append(w.out, p.data...)
		}
		w.run = span{-1, -1}
	}
	w.flushRun()
	if text {
		w.out = append(w.out, ']')
	}
	w.out = append(w.out, b.raw[b.elems[len(b.elems)-1].To:]...)
}

// writeSeparator writes what stands between two elements.
func (w *writer) writeSeparator(sep []byte) {
	if w.count > 0 {
		if sep == nil {
			sep = []byte{','}
		}
		w.out = append(w.out, sep...)
	}
	w.count++
}

// separatorBefore returns what stands before element k; nil for the first.
func (b *Body) separatorBefore(k int) []byte {
	if k == 0 {
		return nil
	}
	return b.raw[b.elems[k-1].To:b.elems[k].From]
}

// flushRun copies the elements that wait, with what stands between them.
func (w *writer) flushRun() {
	if w.run.From < w.run.To {
		b := w.b
		w.writeSeparator(b.separatorBefore(w.run.From))
		w.out = append(w.out, b.raw[b.elems[w.run.From].From:b.elems[w.run.To-1].To]...)
		w.count += w.run.To - w.run.From - 1
	}
	w.run = span{w.run.To, w.run.To}
}

// changedPieces returns the elements of a message that edits touch.
func (w *writer) changedPieces(i int, text bool) []piece {
	b, m := w.b, w.v.At(i)
	var sources []source
	var sep []byte
	var answers map[string]*plan.Edit // results that edits made, by the call's id
	own, at := 0, 0                   // sources with bytes of their own; parts so far
	for _, s := range w.v.Sources(i) {
		src := source{bits: make([]bit, len(s.Parts))}
		for k, from := range s.Parts {
			p := &m.Parts[at]
			at++
			src.bits[k] = bit{from, p}
			if from.Fate == plan.Made && p.Kind == chat.ToolResult {
				if answers == nil {
					answers = make(map[string]*plan.Edit)
				}
				answers[p.ID] = &w.v.Plan().Edits[from.Edit]
			}
		}
		if s.Message >= 0 && !text {
			from, to := b.elementRange(s.Message)
			src.orig = w.v.History().At(s.Message)
			src.raw = b.Message(s.Message)
			base := b.elems[from].From
			for k := from; k < to; k++ {
				src.elems = append(src.elems, span{b.elems[k].From - base, b.elems[k].To - base})
			}
			if own == 0 {
				sep = b.separatorBefore(from)
			}
			own++
		}
		sources = append(sources, src)
	}
	call := func(id string) []byte {
		if e := answers[id]; e != nil {
			return b.partBytes(e.From, e.Part)
		}
		return nil
	}
	var pieces []piece
	if own == 0 {
		pieces = b.dialect.renderMessage(m, call)
	} else {
		pieces = b.dialect.assembleMessage(m, sources, call)
	}
	if len(pieces) > 0 {
		pieces[0].sep = sep
	}
	return pieces
}

// partBytes returns the bytes of a part that is an element or an item of its own in
// the dialects that need to look at it again.
func (b *Body) partBytes(msg, part int) []byte {
	switch b.dialect {
	case Gemini:
		if a := geminiContent(b.Message(msg)); part < len(a.elems) {
			return a.piece(part).data
		}
	case Responses:
		from, to := b.elementRange(msg)
		for k := from; k < to; k++ {
			it := readItem(b.elems[k].in(b.raw))
			if part < it.parts {
				return it.data
			}
			part -= it.parts
		}
	}
	return nil
}

// callFinder returns the bytes of the call with an id, where they are known.
type callFinder func(id string) []byte

func noCalls(string) []byte { return nil }

// assembleMessage writes a message from the bytes of the messages it is made of.
func (d Dialect) assembleMessage(m *chat.Message, sources []source, find callFinder) []piece {
	switch d {
	case Anthropic:
		return assembleAnthropic(m, sources)
	case Gemini:
		return assembleGemini(sources, find)
	case Responses:
		return assembleResponses(m, sources, find)
	}
	return assembleOpenAI(m, sources)
}

// applyOutputLimit puts the output limit in place, if one was set, with the budget of
// thinking that it leaves.
func (b *Body) applyOutputLimit(out []byte) []byte {
	if b.output == 0 || b.output == b.req.Output {
		return out
	}
	o := readObject(out)
	value := strconv.AppendInt(nil, int64(b.output), 10)
	if b.dialect == Gemini {
		name, inner := "generationConfig", "maxOutputTokens"
		if o.find("generation_config") >= 0 {
			name = "generation_config"
		}
		config := readObject([]byte("{}"))
		if v := o.get(name); v.Kind() == '{' {
			config = readObject(v)
		}
		if config.find("max_output_tokens") >= 0 {
			inner = "max_output_tokens"
		}
		return o.with(change{name, config.with(change{inner, value})})
	}
	set := false
	for _, name := range outputMembers[b.dialect] {
		if !isNull(o.get(name)) {
			o = readObject(o.with(change{name, value}))
			set = true
		}
	}
	if b.thinking > 0 {
		thinking := readObject(o.get("thinking"))
		budget := strconv.AppendInt(nil, int64(b.thinking), 10)
		o = readObject(o.with(change{"thinking", thinking.with(change{"budget_tokens", budget})}))
	}
	if set {
		return o.raw
	}
	return o.with(change{b.dialect.outputName(b.model), value})
}
