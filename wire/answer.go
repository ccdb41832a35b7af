package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Why a model stopped, in words that are the same for all dialects.
const (
	StopEnd      = "end"      // it was done
	StopTools    = "tools"    // it waits for the results of its calls
	StopLength   = "length"   // the output limit was reached
	StopOverflow = "overflow" // the window was full
	StopFilter   = "filter"   // the provider withheld the answer
	StopRefusal  = "refusal"  // the model refused
	StopPause    = "pause"    // the provider interrupted a long turn
	StopCompact  = "compact"  // the provider compacted the conversation
	StopError    = "error"    // it failed; see Failure
)

// Answer is what a model answered.
type Answer struct {
	ID, Model string

	// Message is the answer, ready to be appended to the history.
	Message chat.Message

	// Usage is what the provider counted for this call, zero when it did not
	// say. Extra is what it bills on top, for work of its own such as its own
	// compaction, which was never part of the conversation.
	Usage, Extra chat.Usage

	// Stop is one of the constants, Reason the provider's own word.
	Stop, Reason string

	// Failure is set when the answer is an error inside a success: an event or
	// body that says that the request failed.
	Failure *Verdict
}

// ParseAnswer reads the body of an answer that is not streamed. An error body
// gives an answer with its failure, not an error.
func ParseAnswer(d Dialect, raw []byte) (*Answer, error) {
	if !d.isKnown() {
		return nil, unknownDialect(d)
	}
	raw = bytes.TrimSpace(raw)
	if err := decode.Valid(raw); err != nil {
		return nil, decodeError(d, err, "check that this is the body of an answer, and whole", "")
	}
	v := jsontext.Value(raw)
	s := NewStream(d)
	var err error
	switch {
	case v.Kind() == '[' && d == Gemini: // a stream without server-sent events
		for _, chunk := range decode.Elements(v) {
			if err = s.acc.takeEvent("", chunk); err != nil {
				break
			}
		}
	case v.Kind() != '{':
		return nil, &Error{Dialect: d, Problem: decode.TypeName(v) + " where an answer is expected", Hint: "pass the body as it came"}
	case isFailure(v):
		s.noteFailure(v)
	default:
		err = s.acc.takeWhole(v)
	}
	if err != nil {
		return nil, decodeError(d, err, "check that this is an answer in this dialect", "")
	}
	return s.Answer(), nil
}

// isFailure reports whether a JSON object is an error of a provider.
func isFailure(v jsontext.Value) bool {
	e := decode.Member(v, "error")
	return e.Kind() == '{' && decode.Member(v, "output") == nil || e.Kind() == '"' && len(e) > 2 && decode.Member(v, "choices") == nil
}

// accumulator gathers an answer, whole or piece by piece.
type accumulator interface {
	// takeEvent takes the data of one event.
	takeEvent(name string, data jsontext.Value) error
	// takeWhole takes an answer that is not streamed.
	takeWhole(v jsontext.Value) error
	// parts returns the parts of the answer so far.
	parts() []chat.Part
}

// Stream follows an answer that arrives as server-sent events. It is an
// [io.Writer], so that it can listen to bytes on their way to somebody else.
// What it cannot read it forgets: it never makes the other reader fail.
type Stream struct {
	d       Dialect
	scan    eventScanner
	acc     accumulator
	said    Answer // without its message, as far as it came
	events  int
	content bool
	done    bool
	failure *Verdict
	err     error

	follow bool   // words are handed on
	fresh  []byte // words that were not yet
}

// maxAnswer bounds what is kept of an answer. No model writes that much.
const maxAnswer = 64 << 20

// NewStream returns a stream at its start.
func NewStream(d Dialect) *Stream {
	s := &Stream{d: d}
	switch d {
	case Anthropic:
		s.acc = &anthropicAnswer{s: s}
	case Gemini:
		s.acc = &geminiAnswer{s: s}
	case Responses:
		s.acc = &responsesAnswer{s: s}
	default:
		s.acc = &openAIAnswer{s: s}
	}
	return s
}

// Write takes the next bytes of the stream. It always takes all of them and
// never fails; [Stream.Close] tells what could not be read.
func (s *Stream) Write(p []byte) (int, error) {
	if s.err == nil {
		s.err = s.scan.write(p, s.Event)
	}
	return len(p), nil
}

// Event takes the next event of the stream.
func (s *Stream) Event(e Event) error {
	data := jsontext.Value(bytes.TrimSpace(e.Data))
	s.events++
	if len(data) == 0 {
		return nil
	}
	if string(data) == "[DONE]" {
		s.done = true
		return nil
	}
	if err := decode.Valid(data); err != nil {
		return decodeError(s.d, err, "check that this is a stream of this dialect", "/events/%d", s.events-1)
	}
	name := cmp.Or(decode.Str(data, "type"), e.Name)
	if name == "error" || s.d != Responses && isFailure(data) {
		s.noteFailure(data)
		return nil
	}
	if err := s.acc.takeEvent(name, data); err != nil {
		return decodeError(s.d, err, "check that this is a stream of this dialect", "/events/%d", s.events-1)
	}
	return nil
}

func (s *Stream) noteFailure(v jsontext.Value) {
	f := Classify(0, nil, v)
	s.failure = &f
}

// Close says that no more bytes come. The error tells what could not be read,
// and that a stream ended before its answer did.
func (s *Stream) Close() error {
	if s.err == nil {
		s.err = s.scan.end(s.Event)
	}
	if s.err == nil && !s.done && s.failure == nil {
		return &Error{Dialect: s.d, Problem: fmt.Sprintf("the stream ended after %d events, in the middle of the answer", s.events), Hint: "try again"}
	}
	return s.err
}

// Content reports whether a word, thought or call of the answer has arrived, or
// the beginning of one. Until then the request can be repeated and nobody notices.
func (s *Stream) Content() bool { return s.content }

// Done reports whether the answer is complete.
func (s *Stream) Done() bool { return s.done }

// Failure returns the error that came inside the stream; nil for none.
func (s *Stream) Failure() *Verdict { return s.failure }

// Answer returns what came so far.
func (s *Stream) Answer() *Answer {
	a := s.said
	a.Message = chat.Message{ID: a.ID, Role: chat.Assistant, Model: a.Model, Parts: s.acc.parts()}
	if a.Usage != (chat.Usage{}) {
		u := a.Usage
		a.Message.Usage = &u
	}
	calls := a.Message.Has(chat.ToolCall)
	switch a.Stop = s.stopOf(a.Reason); {
	case s.failure != nil:
		a.Failure, a.Stop = s.failure, StopError
	case calls && a.Stop == StopEnd && s.d != Anthropic, calls && a.Reason == "" && s.done:
		a.Stop = StopTools // some servers do not tell the two apart
	}
	return &a
}

// stops is what reasons to stop mean, in all dialects.
var stops = map[string]string{
	"stop": StopEnd, "eos": StopEnd, "end_turn": StopEnd, "stop_sequence": StopEnd, "completed": StopEnd, "STOP": StopEnd,
	"tool_calls": StopTools, "function_call": StopTools, "tool_use": StopTools,
	"length": StopLength, "max_tokens": StopLength, "max_output_tokens": StopLength, "incomplete": StopLength, "MAX_TOKENS": StopLength,
	"content_filter": StopFilter, "safety": StopFilter, "SAFETY": StopFilter, "RECITATION": StopFilter, "BLOCKLIST": StopFilter,
	"PROHIBITED_CONTENT": StopFilter, "SPII": StopFilter, "IMAGE_SAFETY": StopFilter, "LANGUAGE": StopFilter, "OTHER": StopFilter,
	"content_filtered": StopFilter, "guardrail_intervened": StopFilter, // Bedrock
	"error": StopError, "failed": StopError, "cancelled": StopError, "malformed_model_output": StopError, "malformed_tool_use": StopError,
	"refusal": StopRefusal, "pause_turn": StopPause, "compaction": StopCompact,
}

// stopOf returns what a reason to stop means; "" where that is not known. That the
// window was full is told in several words (model_context_window_exceeded,
// context_length_exceeded), the same in every dialect. Gemini has a name for each
// fault.
func (s *Stream) stopOf(reason string) string {
	if stop, ok := stops[reason]; ok {
		return stop
	}
	if r := strings.ToLower(reason); strings.Contains(r, "context_window") || strings.Contains(r, "context_length") {
		return StopOverflow
	}
	if s.d == Gemini && reason != "" {
		return StopError
	}
	return ""
}

// takeHead takes over an answer's id and model where they are told.
func (s *Stream) takeHead(id, model string) {
	s.said.ID, s.said.Model = cmp.Or(id, s.said.ID), cmp.Or(model, s.said.Model)
}

// streamedAt returns the piece of an answer that a member of an event numbers.
func streamedAt[T any](list *[]*T, event jsontext.Value, member string) (*T, error) {
	at := decode.Member(event, member)
	n, err := decode.Int(at)
	if err != nil || n < 0 || n >= maxBlocks {
		return nil, fmt.Errorf("%s %s of an answer", member, at)
	}
	for len(*list) <= n {
		*list = append(*list, new(T))
	}
	return (*list)[n], nil
}

// say notes words of the answer that are to be handed on.
func (s *Stream) say(words string) {
	if s.follow {
		s.fresh = append(s.fresh, words...)
	}
}

// appendWords appends to the words of an answer that is being streamed.
func (s *Stream) appendWords(to *[]byte, v jsontext.Value) error {
	n := len(*to)
	err := appendBounded(to, v)
	s.say(string((*to)[n:]))
	return err
}

// appendBounded appends to a text that is being streamed, within bounds.
func appendBounded(to *[]byte, v jsontext.Value) error {
	s, err := decode.String(v)
	if err != nil {
		return err
	}
	if len(*to)+len(s) > maxAnswer {
		return fmt.Errorf("an answer of more than %d bytes", maxAnswer)
	}
	*to = append(*to, s...)
	return nil
}
