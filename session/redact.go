package session

import "github.com/winnow-llm/winnow/internal/redact"

// Redactor takes secrets out of messages. The zero value knows the forms in
// which well-known services issue their keys; Values are further secrets by
// themselves, Patterns further forms.
type Redactor = redact.Redactor

// redactor returns what takes secrets out of this session's messages; nil for
// nothing.
func (s *Session) redactor() *Redactor {
	if s.o.Redact != nil || s.o.Live == nil {
		return s.o.Redact
	}
	if s.o.Live("", "").Redact {
		return &Redactor{}
	}
	return nil
}

// clean takes secrets out of a text that a hook supplied.
func (s *Session) clean(text string) string {
	if r := s.redactor(); r != nil {
		text, _ = r.Text(text)
	}
	return text
}
