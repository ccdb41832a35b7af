package resume

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/wire"
)

// writeClaude writes one record for each message of Anthropic's dialect, each the
// parent of the next.
func (s *Session) writeClaude() ([]byte, error) {
	elements, err := s.renderElements(wire.Anthropic, "messages")
	if err != nil {
		return nil, err
	}
	var out []byte
	parent := ""
	for n, e := range elements {
		role, content := decode.Str(e, "role"), decode.Member(e, "content")
		if role == "assistant" && content.Kind() == '"' { // Claude Code reads a list of blocks only
			content = textBlocks("text", decode.Str(content))
		}
		message := []any{"role", role, "content", []byte(content)}
		if role == "assistant" {
			message = []any{
				"id", "msg_" + strings.ReplaceAll(s.recordID(n), "-", ""), "type", "message", "model", s.Model, "role", role, "content", []byte(content),
				"stop_reason", null, "stop_sequence", null, "usage", []byte(`{"input_tokens":0,"output_tokens":0}`),
			}
		}
		var before any = null
		if parent != "" {
			before = parent
		}
		parent = s.recordID(n)
		out = append(append(out, jsonwrite.Of(
			"parentUuid", before, "isSidechain", false, "type", role, "message", jsonwrite.Of(message...), "uuid", parent, "timestamp", formatTime(s.Time),
			"userType", "external", "cwd", s.Folder, "sessionId", s.ID, "version", "2.0.0", "gitBranch", "",
		)...), '\n')
	}
	return out, nil
}

var null = []byte("null")

// renderElements returns the messages as the elements of a request's list.
func (s *Session) renderElements(d wire.Dialect, list string) ([]jsontext.Value, error) {
	body, err := wire.Render(d, "", chat.Request{Output: 1}, chat.Messages(s.messages))
	if err != nil {
		return nil, err
	}
	var elements []jsontext.Value
	for _, e := range decode.Elements(decode.Member(body, list)) {
		elements = append(elements, e)
	}
	if len(elements) == 0 {
		return nil, fmt.Errorf("none of it can be expressed in the dialect %s", d)
	}
	return elements, nil
}

// claudeProject returns the folder in which Claude Code keeps the sessions of a
// working folder: its path with everything but letters and digits as a dash.
func claudeProject(folder string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, folder)
}
