package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// story writes the messages of the session, one after the other, over a
// repository that changes as the agent edits it.
type story struct {
	msgs  []chat.Message
	repo  map[string]string
	calls int
}

func newStory() *story { return &story{repo: newRepo()} }

func (s *story) user(text string) { s.msgs = append(s.msgs, chat.TextMessage(chat.User, text)) }
func (s *story) say(text string)  { s.msgs = append(s.msgs, chat.TextMessage(chat.Assistant, text)) }

// step is a call with the result that it gets.
type step struct {
	tool   string
	args   map[string]any
	result string
}

// do makes calls in one message and answers them in order.
func (s *story) do(text string, steps ...step) {
	var calls []chat.Part
	var results []chat.Message
	for _, st := range steps {
		id := s.nextID()
		calls = append(calls, chat.Call(id, st.tool, arguments(st.args)))
		results = append(results, chat.ResultMessage(id, st.result))
	}
	s.msgs = append(append(s.msgs, chat.CallMessage(text, calls...)), results...)
}

// lost makes a call whose result never came.
func (s *story) lost(text string, st step) {
	s.msgs = append(s.msgs, chat.CallMessage(text, chat.Call(s.nextID(), st.tool, arguments(st.args))))
}

func (s *story) nextID() string {
	s.calls++
	return fmt.Sprintf("call_%04d", s.calls)
}

func arguments(args map[string]any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(args); err != nil {
		panic("demo: " + err.Error())
	}
	return strings.TrimSpace(b.String())
}

func (s *story) read(path string) step {
	return step{"read_file", map[string]any{"path": path}, numbered(s.repo[path], 1, 0)}
}

func (s *story) readPart(path string, offset, limit int) step {
	return step{"read_file", map[string]any{"path": path, "offset": offset, "limit": limit}, numbered(s.repo[path], offset, limit)}
}

func (s *story) grep(pattern, under string) step {
	return step{"grep", map[string]any{"pattern": pattern, "path": under}, search(s.repo, pattern, under, 80)}
}

func (s *story) list(under string) step {
	return step{"list_files", map[string]any{"path": under}, tree(s.repo, under)}
}

func (s *story) write(path, content string) step {
	s.repo[path] = content
	return step{"write_file", map[string]any{"path": path, "content": content}, fmt.Sprintf("wrote %d bytes to %s", len(content), path)}
}

// edit replaces the first line that holds a piece of text.
func (s *story) edit(path, piece, replacement string) step {
	text := s.repo[path]
	for line := range strings.Lines(text) {
		if strings.Contains(line, piece) {
			s.repo[path] = strings.Replace(text, line, replacement+"\n", 1)
			return step{"edit_file", map[string]any{"path": path, "old_string": strings.TrimRight(line, "\n"), "new_string": replacement}, "edited " + path + ": 1 replacement"}
		}
	}
	s.repo[path] = text + "\n" + replacement + "\n"
	return step{"edit_file", map[string]any{"path": path, "old_string": piece, "new_string": replacement}, "edited " + path + ": appended at the end"}
}

func bash(command, result string) step {
	return step{"bash", map[string]any{"command": command, "timeout": 120}, result}
}

// dashboard is the picture that the user sends.
func dashboard() chat.Part {
	return chat.Part{Kind: chat.Image, Media: "image/png", Data: chart}
}

// chart is a PNG of 240 by 80 pixels: bars that rise where the trouble starts.
// It stands here as it is, so that no change of a compressor changes the session.
const chart = "iVBORw0KGgoAAAANSUhEUgAAAPAAAABQAgMAAABaJxDvAAAACVBMVEX///8gYMDQMDDilAZPAAAAqklEQVR4nOzLMarDMBCE" +
	"4ZWR4OHKPKzUKYNPIRXqJdjNeUzKnMKkMj5lepFd0oWE+Ythmo8QQuj3+xtoPfcDrHcZh3XrB1hvX8bb1g+w2rAfy/3RD7CO" +
	"j1cBAwMDfx5P5MkRJev8q9h75yilyTgqnn1wLqU6Geek4hBcTrXOxlFxDCHnWnk2joFLbpU5GkfHpbTGLNE4KpYiTVgkGueq" +
	"4jcCBv4+/AwAAP//0TR+sO7nLBMAAAAASUVORK5CYII="
