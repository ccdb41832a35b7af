package session

import "github.com/winnow-llm/winnow/internal/redact"

// Redactor takes secrets out of messages. The zero value knows the forms in
// which well-known services issue their keys; Values are further secrets by
// themselves, Patterns further forms.
type Redactor = redact.Redactor

// redactorInUse returns what takes secrets out of this session's messages; nil for
// nothing.
func (s *Session) redactorInUse() *Redactor {
	if s.o.Redact != nil || s.o.Live == nil {
		return s.o.Redact
	}
	if s.o.Live("", "").Redact {
		return &Redactor{}
	}
	return nil
}

// cleanText takes secrets out of a text that a hook supplied.
func (s *Session) cleanText(text string) string {
	if r := s.redactorInUse(); r != nil {
		text, _ = r.Text(text)
	}
	return text
}
