package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/wire"
)

// splice is the streams of all rounds as one: that of an answer without the calls of
// tools of ours. What ends a stream is held back until it is known whether another
// round follows; everything else is handed on as it comes. Parts are numbered anew
// where some are left out.
type splice struct {
	o      *offering
	in     io.ReadCloser
	events *wire.Events
	stream *wire.Stream
	out    bytes.Buffer
	err    error // that follows out

	held   []heldEvent
	hidden map[int]bool // parts of this round, by their number
	number map[int]int  // the numbers under which others are handed on
	next   int          // the next number
	seq    int          // of the next event (Responses)
	first  any          // the answer's id
	items  []any        // of the answer so far (Responses)
	shown  []chat.Part  // of the rounds before
}

// heldEvent is an event that ends a stream. Doc is nil where it is not an object.
type heldEvent struct {
	wire.Event
	doc document
}

// beginRound begins a round.
func (s *splice) beginRound(in io.ReadCloser) {
	s.in, s.events, s.stream = in, wire.NewEvents(in), wire.NewStream(s.o.end.Dialect)
	s.held, s.hidden, s.number = nil, map[int]bool{}, map[int]int{}
}

// Read implements [io.Reader].
func (s *splice) Read(p []byte) (int, error) {
	for s.out.Len() == 0 {
		if s.err != nil {
			return 0, s.err
		}
		e, err := s.events.Next()
		switch {
		case err == io.EOF:
			s.endRound()
		case err != nil:
			s.err = err
		default:
			_ = s.stream.Event(e) // what cannot be read is not ours
			s.takeEvent(e)
		}
	}
	return s.out.Read(p)
}

// Close implements [io.Closer].
func (s *splice) Close() error { return s.in.Close() }

// endRound asks the model again where it waits for us, and ends the answer else.
func (s *splice) endRound() {
	a := s.stream.Answer()
	_, rest, _ := s.o.splitCalls(&a.Message)
	resp, err := s.o.nextRound(a)
	if resp == nil && err == nil {
		hides := s.o.finishAnswer(a, s.shown)
		for _, e := range s.held {
			if e.doc == nil || !hides && len(s.o.rounds) == 0 {
				s.emitEvent(e.Event)
				continue
			}
			s.o.finishDocument(e.doc, hides)
			if r := e.doc.child("response"); r != nil && s.o.end.Dialect == wire.Responses {
				r["output"] = s.items
			}
			s.emitDocument(e.Name, e.doc)
		}
		s.err = io.EOF
		return
	}
	_ = s.in.Close()
	if err == nil && (resp.StatusCode != http.StatusOK || !isEventStream(resp)) {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // what came of it
		_ = resp.Body.Close()
		s.emitEvent(wire.Event{Name: "error", Data: bytes.ReplaceAll(bytes.TrimSpace(raw), []byte("\n"), []byte(" "))})
		s.err = io.EOF
		return
	}
	if err != nil {
		s.err = err
		return
	}
	s.shown = append(s.shown, rest...)
	for _, e := range s.held { // what it says beside that it ends
		if c := e.doc.unwrap().first("choices"); c != nil && len(c.child("delta")) > 0 {
			c["finish_reason"] = nil
			s.emitDocument(e.Name, e.doc)
		}
		if c := e.doc.unwrap().first("candidates"); c != nil && len(c.child("content").list("parts")) > 0 {
			delete(c, "finishReason")
			s.emitDocument(e.Name, e.doc)
		}
	}
	s.beginRound(resp.Body)
}

// takeEvent hands on an event of a round, or what is left of it.
func (s *splice) takeEvent(e wire.Event) {
	doc, ok := readDocument(e.Data)
	if !ok {
		s.held = append(s.held, heldEvent{Event: e}) // [DONE]
		return
	}
	switch n := numberedParts[s.o.end.Dialect]; {
	case n != nil:
		s.takeNumbered(n, e, doc)
	case s.o.end.Dialect == wire.Gemini:
		s.takeGemini(e, doc)
	default:
		s.takeOpenAI(e, doc)
	}
}

// renumberPart gives a part its number in the answer. It is false for one of ours.
func (s *splice) renumberPart(doc document, name string) (changed, shown bool) {
	n := doc.int(name)
	if s.hidden[n] {
		return false, false
	}
	if _, ok := s.number[n]; !ok {
		s.number[n] = s.next
		s.next++
	}
	doc[name] = s.number[n]
	return s.number[n] != n, true
}

// numbered says how a dialect streams parts that have numbers.
type numbered struct {
	begins, ends []string // events of a whole answer
	number       string   // the member with a part's number
	part, call   string   // the member with a part, and the type of one that is a call
}

var numberedParts = map[wire.Dialect]*numbered{
	wire.Anthropic: {
		begins: []string{"message_start"}, ends: []string{"message_delta", "message_stop"},
		number: "index", part: "content_block", call: "tool_use",
	},
	wire.Responses: {
		begins: []string{"response.created", "response.in_progress", "response.queued"},
		ends:   []string{"response.completed", "response.incomplete", "response.failed"},
		number: "output_index", part: "item", call: "function_call",
	},
}

// takeNumbered takes an event of a dialect whose parts have numbers. The events of
// Responses have numbers too.
func (s *splice) takeNumbered(n *numbered, e wire.Event, doc document) {
	kind, again, changed := doc.str("type"), len(s.o.rounds) > 0, false
	switch {
	case slices.Contains(n.begins, kind) && again:
		return
	case slices.Contains(n.ends, kind):
		s.held = append(s.held, heldEvent{e, doc})
		if _, ok := doc["sequence_number"]; ok {
			doc["sequence_number"] = s.seq
		}
		return
	case doc[n.number] != nil:
		part, shown := doc.child(n.part), false
		if part.str("type") == n.call && s.o.isOurs(part.str("name")) {
			s.hidden[doc.int(n.number)] = true
		}
		if changed, shown = s.renumberPart(doc, n.number); !shown {
			return
		}
		if kind == "response.output_item.done" {
			s.items = append(s.items, map[string]any(part))
		}
	}
	if _, ok := doc["sequence_number"]; ok {
		changed = changed || doc.int("sequence_number") != s.seq
		doc["sequence_number"] = s.seq
		s.seq++
	}
	if changed || again && s.o.end.Dialect == wire.Responses {
		s.emitDocument(e.Name, doc)
		return
	}
	s.emitEvent(e)
}

func (s *splice) takeOpenAI(e wire.Event, doc document) {
	choice := doc.first("choices")
	if choice == nil { // usage
		s.held = append(s.held, heldEvent{e, doc})
		return
	}
	delta := choice.child("delta")
	changed, empty := len(s.o.rounds) > 0, len(delta) == 0
	if s.first == nil {
		s.first = doc["id"]
	}
	if changed {
		doc["id"] = s.first
		delete(delta, "role") // it was said
	}
	if calls := delta.list("tool_calls"); len(calls) > 0 {
		var rest []any
		for _, c := range calls {
			call := asDocument(c)
			if s.o.isOurs(call.child("function").str("name")) {
				s.hidden[call.int("index")] = true
			}
			other, shown := s.renumberPart(call, "index")
			if changed = changed || other || !shown; shown {
				rest = append(rest, c)
			}
		}
		if delta["tool_calls"] = rest; rest == nil {
			delete(delta, "tool_calls")
		}
	}
	switch {
	case choice["finish_reason"] != nil:
		s.held = append(s.held, heldEvent{e, doc})
	case !changed:
		s.emitEvent(e)
	case len(delta) > 0 || empty:
		s.emitDocument(e.Name, doc)
	}
}

func (s *splice) takeGemini(e wire.Event, doc document) {
	candidate := doc.unwrap().first("candidates")
	if candidate == nil {
		s.emitEvent(e)
		return
	}
	before, signature := len(candidate.child("content").list("parts")), s.o.signature
	s.o.hideCalls(doc)
	after := len(candidate.child("content").list("parts"))
	switch {
	case candidate["finishReason"] != nil:
		s.held = append(s.held, heldEvent{e, doc})
	case after == before && s.o.signature == signature:
		s.emitEvent(e)
	case after > 0:
		s.emitDocument(e.Name, doc)
	}
}

// emitEvent hands an event on.
func (s *splice) emitEvent(e wire.Event) {
	if e.Name != "" {
		s.out.WriteString("event: " + e.Name + "\n")
	}
	s.out.WriteString("data: " + strings.ReplaceAll(string(e.Data), "\n", "\ndata: ") + "\n\n")
}

func (s *splice) emitDocument(name string, doc document) {
	s.emitEvent(wire.Event{Name: name, Data: writeDocument(doc)})
}

// document is a JSON object that is written again.
type document map[string]any

func readDocument(raw []byte) (document, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var doc document
	err := d.Decode(&doc)
	return doc, err == nil && doc != nil
}

func writeDocument(doc document) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(doc) // it was read from JSON
	return bytes.TrimSpace(b.Bytes())
}

func asDocument(v any) document {
	switch v := v.(type) {
	case map[string]any:
		return v
	case document:
		return v
	}
	return nil
}

func (d document) child(name string) document { return asDocument(d[name]) }

func (d document) list(name string) []any {
	all, _ := d[name].([]any)
	return all
}

func (d document) first(name string) document {
	if all := d.list(name); len(all) > 0 {
		return asDocument(all[0])
	}
	return nil
}

func (d document) str(name string) string {
	s, _ := d[name].(string)
	return s
}

func (d document) int(name string) int {
	n, _ := d[name].(json.Number)
	i, _ := n.Int64() // what is not a number is 0
	return int(i)
}

// unwrap returns the answer inside what Gemini's code assist wraps around it.
func (d document) unwrap() document {
	if r := d.child("response"); r != nil && r["candidates"] != nil {
		return r
	}
	return d
}

// add adds to numbers that are there.
func (d document) add(n int, names ...string) {
	for _, name := range names {
		if _, ok := d[name]; ok && n > 0 {
			d[name] = d.int(name) + n
		}
	}
}

// hideCalls leaves calls of ours out of an answer.
func (o *offering) hideCalls(doc document) {
	filter := func(d document, name string, call func(document) string) {
		if all := d.list(name); all != nil {
			d[name] = slices.DeleteFunc(all, func(x any) bool { return o.isOurs(call(asDocument(x))) })
		}
	}
	switch o.end.Dialect {
	case wire.Anthropic:
		filter(doc, "content", func(b document) string { return b.str("name") })
	case wire.Responses:
		filter(doc, "output", func(b document) string { return b.str("name") })
	case wire.Gemini:
		parts := doc.unwrap().first("candidates").child("content")
		for _, x := range parts.list("parts") {
			o.moveSignature(asDocument(x))
		}
		filter(parts, "parts", func(p document) string { return p.child("functionCall").str("name") })
	default:
		if m := doc.first("choices").child("message"); m != nil {
			filter(m, "tool_calls", func(c document) string { return c.child("function").str("name") })
			if len(m.list("tool_calls")) == 0 {
				delete(m, "tool_calls")
			}
		}
	}
}

// moveSignature hands the signature of a call of ours on to the caller's call behind it:
// Gemini signs the first of parallel calls, and refuses an answer whose first has none,
// which is what it gets back where the exchange is forgotten.
func (o *offering) moveSignature(part document) {
	const name = "thoughtSignature"
	call := part.child("functionCall")
	switch {
	case call == nil:
	case o.isOurs(call.str("name")):
		o.signature = cmp.Or(o.signature, part.str(name))
	case part.str(name) == "" && o.signature != "":
		part[name] = o.signature
		o.signature = ""
	default:
		o.signature = ""
	}
}

// finishDocument makes the end of the last round that of the answer: with what the model
// wrote in all rounds, and with the prompt of the last, since callers take that for the
// size of the conversation.
func (o *offering) finishDocument(doc document, hides bool) {
	if hides {
		o.hideCalls(doc)
	}
	switch o.end.Dialect {
	case wire.Anthropic:
		doc.child("usage").add(o.output, "output_tokens")
		for _, d := range []document{doc, doc.child("delta")} {
			if d.str("stop_reason") == "tool_use" && o.ended {
				d["stop_reason"] = "end_turn"
			}
		}
	case wire.Responses:
		for _, d := range []document{doc, doc.child("response")} {
			d.child("usage").add(o.output, "output_tokens", "total_tokens")
		}
	case wire.Gemini:
		doc.unwrap().child("usageMetadata").add(o.output, "candidatesTokenCount", "totalTokenCount")
	default:
		doc.child("usage").add(o.output, "completion_tokens", "total_tokens")
		if c := doc.first("choices"); c.str("finish_reason") == "tool_calls" && o.ended {
			c["finish_reason"] = "stop"
		}
	}
}
