package source

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/wire"
)

// Write returns a view of the session as bytes. An empty format means the session's
// own: a body is written as it was but for what the view's plan changes. What has
// no writer of its own becomes an OpenAI array of messages, or an OpenAI body where
// the session has tool definitions, which an array has no place for.
func (s *Session) Write(v plan.View, to string) ([]byte, error) {
	if s.Body != nil && (to == "" || to == string(s.Body.Dialect())) {
		return s.Body.Encode(v)
	}
	dialect := wire.OpenAI
	if to != "" {
		d, err := wire.ParseDialect(to)
		if err != nil {
			return nil, fmt.Errorf("winnow cannot write the format %q; use openai, responses, anthropic or gemini", to)
		}
		dialect = d
	}
	return s.renderBody(dialect, v, to == "" && len(s.Request.Tools) == 0)
}

// Size returns a function that tells how many bytes [Session.Write] gives for a
// view. It is nil for a session that is not a request's body and not to be
// written as one: then nothing is sent.
func (s *Session) Size(to string) func(plan.View) (int, error) {
	if s.Body == nil && to == "" {
		return nil
	}
	return func(v plan.View) (int, error) {
		out, err := s.Write(v, to)
		return len(out), err
	}
}

// renderBody writes the session as a body, or as a bare array of messages.
func (s *Session) renderBody(d wire.Dialect, messages chat.Sequence, bare bool) ([]byte, error) {
	model := s.Model
	if bare {
		model = ""
	}
	out, err := wire.Render(d, model, s.Request, s.portableTo(d, messages))
	if err != nil {
		return nil, err
	}
	if bare {
		if list := decode.Member(out, "messages"); list != nil {
			out = slices.Clone(list)
		}
	}
	return append(out, '\n'), nil
}

// Encoded returns the session as a body in a dialect, for checks that read
// bytes: as it came where it came in that dialect, else rendered. An output
// limit is part of every rendered body, since one dialect demands it.
func (s *Session) Encoded(d wire.Dialect) ([]byte, error) {
	if s.Body != nil && s.Body.Dialect() == d {
		return s.Body.Raw(), nil
	}
	req := s.Request
	req.Output = cmp.Or(req.Output, 4096)
	model := cmp.Or(s.Model, "model")
	return wire.Render(d, model, req, s.portableTo(d, req.History))
}

// portableTo returns messages without the signatures of thinking where they go to
// another provider than the signer, which would refuse them.
func (s *Session) portableTo(d wire.Dialect, messages chat.Sequence) chat.Sequence {
	if d == s.Dialect() {
		return messages
	}
	return unsigned{messages}
}

// unsigned is a sequence without signatures.
type unsigned struct{ chat.Sequence }

// At returns message i, a copy where a signature is left out.
func (u unsigned) At(i int) *chat.Message {
	m := u.Sequence.At(i)
	if !slices.ContainsFunc(m.Parts, func(p chat.Part) bool { return p.Signature != "" }) {
		return m
	}
	plain := *m
	plain.Parts = slices.Clone(m.Parts)
	for i := range plain.Parts {
		plain.Parts[i].Signature = ""
	}
	return &plain
}

// Dialect returns the dialect in which the session was, or probably was, sent.
func (s *Session) Dialect() wire.Dialect {
	if s.Body != nil {
		return s.Body.Dialect()
	}
	switch s.Format {
	case transcript.Anthropic, transcript.ClaudeCode:
		return wire.Anthropic
	case transcript.Responses, transcript.Codex:
		return wire.Responses
	case transcript.Gemini, transcript.GeminiCLI:
		return wire.Gemini
	}
	return wire.OpenAI
}

// Find returns the index of the message that a person named by id or index.
// The id may be that of any record that the message was made of.
func (s *Session) Find(name string) (int, error) {
	h := s.Request.History
	name = cmp.Or(s.joined[name], name)
	for i := range h.Len() {
		if id := s.MessageID(i); id != "" && id == name {
			return i, nil
		}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < h.Len() {
		return n, nil
	}
	return 0, fmt.Errorf("no message has the id or index %q; indexes run from 0 to %d", name, h.Len()-1)
}

// MessageID returns the id that the file gives message i, or "".
func (s *Session) MessageID(i int) string {
	if id := s.Request.History.At(i).ID; id != "" || s.Body == nil {
		return id
	}
	return decode.Str(s.Body.Message(i), "id")
}

// looksLikeBody reports whether data may be the body of one request and no
// agent's session file: it starts as an object or array, and what its first
// records look like is what a provider is sent.
func looksLikeBody(data []byte) bool {
	f, _, ok := transcript.Detect(data)
	bodies := []transcript.Format{transcript.OpenAI, transcript.Anthropic, transcript.Responses, transcript.Gemini}
	return ok && slices.Contains(bodies, f)
}
