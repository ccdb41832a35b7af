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
	record := func(kind string, payload ...any) {
		all := jsonwrite.Of("timestamp", formatTime(s.Time), "type", kind, "payload", jsonwrite.Of(payload...))
		out = append(append(out, all...), '\n')
	}
	record(
		"session_meta", "id", s.ID, "timestamp", formatTime(s.Time), "cwd", s.Folder, "originator", "winnow", "cli_version", "0.0.0",
		"source", "cli", "model_provider", "openai",
	)
	for _, item := range items {
		var payload []any
		if decode.Str(item, "type") == "" { // a message in its short form, which Codex does not read
			payload = append(payload, "type", "message")
		}
		for name, v := range decode.Members(item) {
			if name == "content" && v.Kind() == '"' { // the short form again
				kind := "input_text"
				if decode.Str(item, "role") == "assistant" {
					kind = "output_text"
				}
				v = textBlocks(kind, decode.Str(v))
			}
			payload = append(payload, name, []byte(v))
		}
		record("response_item", payload...)
		if text := userWords(item); text != "" {
			record("event_msg", "type", "user_message", "message", text, "images", []byte("[]"))
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
