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
		w := jsonwrite.Object()
		if parent == "" {
			w.Raw("parentUuid", "null")
		} else {
			w.Str("parentUuid", parent)
		}
		w.Flag("isSidechain", false)
		w.Str("type", role)
		w.OpenMember("message", '{')
		if role == "assistant" {
			w.Str("id", "msg_"+strings.ReplaceAll(s.recordID(n), "-", ""))
			w.Str("type", "message")
			w.Str("model", s.Model)
		}
		w.Str("role", role)
		w.Raw("content", string(content))
		if role == "assistant" {
			w.Raw("stop_reason", "null")
			w.Raw("stop_sequence", "null")
			w.Raw("usage", `{"input_tokens":0,"output_tokens":0}`)
		}
		w.Close('}')
		parent = s.recordID(n)
		w.Str("uuid", parent)
		w.Str("timestamp", formatTime(s.Time))
		w.Str("userType", "external")
		w.Str("cwd", s.Folder)
		w.Str("sessionId", s.ID)
		w.Str("version", "2.0.0")
		w.Str("gitBranch", "")
		w.Close('}')
		out = append(append(out, w.B...), '\n')
	}
	return out, nil
}

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
