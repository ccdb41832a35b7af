package resume

import (
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/wire"
)

// writeCodex writes the session's header and one record for each item of the responses
// dialect. The user's messages stand there a second time, as events: Codex takes
// the title of a session and what it shows from those.
func (s *Session) writeCodex() ([]byte, error) {
	items, err := s.renderElements(wire.Responses, "input")
	if err != nil {
		return nil, err
	}
	var out []byte
	record := func(kind string, fill func(*jsonwrite.Writer)) {
		w := jsonwrite.Object()
		w.Str("timestamp", formatTime(s.Time))
		w.Str("type", kind)
		w.OpenMember("payload", '{')
		fill(w)
		w.Close('}')
		w.Close('}')
		out = append(append(out, w.B...), '\n')
	}
	record("session_meta", func(w *jsonwrite.Writer) {
		w.Str("id", s.ID)
		w.Str("timestamp", formatTime(s.Time))
		w.Str("cwd", s.Folder)
		w.Str("originator", "winnow")
		w.Str("cli_version", "0.0.0")
		w.Str("source", "cli")
		w.Str("model_provider", "openai")
	})
	for _, item := range items {
		record("response_item", func(w *jsonwrite.Writer) {
			if decode.Str(item, "type") == "" { // a message in its short form, which Codex does not read
				w.Str("type", "message")
			}
			for name, v := range decode.Members(item) {
				if name == "content" && v.Kind() == '"' { // the short form again
					kind := "input_text"
					if decode.Str(item, "role") == "assistant" {
						kind = "output_text"
					}
					v = textBlocks(kind, decode.Str(v))
				}
				w.Raw(name, string(v))
			}
		})
		if text := userWords(item); text != "" {
			record("event_msg", func(w *jsonwrite.Writer) {
				w.Str("type", "user_message")
				w.Str("message", text)
				w.Raw("images", "[]")
			})
		}
	}
	return out, nil
}

// userWords returns the words of a user's message, "" for any other item.
func userWords(item []byte) string {
	if decode.Str(item, "role") != "user" {
		return ""
	}
	content := decode.Member(item, "content")
	if content.Kind() == '"' {
		return decode.Str(content)
	}
	text := ""
	for _, part := range decode.Elements(content) {
		text += decode.Str(part, "text")
	}
	return text
}
