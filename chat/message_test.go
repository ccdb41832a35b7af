package chat_test

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func TestMessageText(t *testing.T) {
	text := func(s string) chat.Part { return chat.Part{Kind: chat.Text, Text: s} }
	thinking := chat.Part{Kind: chat.Thinking, Text: "hm"}
	for _, c := range []struct {
		parts []chat.Part
		want  string
	}{
		{nil, ""},
		{[]chat.Part{text("a")}, "a"},
		{[]chat.Part{text(""), text("a"), text("")}, "a"},
		{[]chat.Part{text("a"), thinking, text("b"), text(""), text("c")}, "a\nb\nc"},
		{[]chat.Part{thinking, {Kind: chat.ToolResult, Text: "r"}}, ""},
	} {
		m := chat.Message{Role: chat.User, Parts: c.parts}
		if got := m.Text(); got != c.want {
			t.Errorf("%v: %q, want %q", c.parts, got, c.want)
		}
	}
}

func TestKindNames(t *testing.T) {
	for k, want := range map[chat.Kind]string{chat.Text: "text", chat.ToolResult: "tool_result", chat.Opaque: "opaque", 99: "unknown"} {
		if k.String() != want {
			t.Errorf("kind %d is called %q, want %q", k, k, want)
		}
	}
}

func TestSizes(t *testing.T) {
	image := chat.Part{Kind: chat.Image, Data: "0123456789"}
	result := chat.Part{Kind: chat.ToolResult, ID: "A", Text: "seen", Content: []chat.Part{image}}
	m := chat.Message{Role: chat.Tool, Parts: []chat.Part{result, image}}
	s := m.Size()
	if s.Images != 2 || s.Bytes < 25 || s.Tokens != 0 {
		t.Errorf("size %+v", s)
	}
	if p := result.Size(); s.Bytes <= p.Bytes {
		t.Errorf("the message has %d bytes, its first part %d", s.Bytes, p.Bytes)
	}
	m.Wire = 7
	if got := m.Size(); got.Bytes != 7 || got.Images != 2 {
		t.Errorf("a message that was 7 bytes on the wire measures %+v", got)
	}
	if d := s.Add(s).Sub(s); d != s {
		t.Errorf("%+v + itself - itself = %+v", s, d)
	}
}

func TestUsage(t *testing.T) {
	u := chat.Usage{Input: 1000, CacheRead: 200, CacheWrite: 100, Output: 500}
	if u.Prompt() != 1300 || u.Context() != 1800 {
		t.Errorf("prompt %d, context %d", u.Prompt(), u.Context())
	}
}

func TestCallMessageHasNoEmptyText(t *testing.T) {
	call := chat.Call("A", "read", "{}")
	if m := chat.CallMessage("", call); len(m.Parts) != 1 {
		t.Errorf("%d parts", len(m.Parts))
	}
	if m := chat.CallMessage("reading", call); len(m.Parts) != 2 || m.Text() != "reading" {
		t.Errorf("%d parts, text %q", len(m.Parts), m.Text())
	}
}
