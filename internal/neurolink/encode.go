package neurolink

import (
	"cmp"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// Encode writes a conversation and returns how many messages it was given. Calls and
// results become messages of their own, as there. Thinking, documents and opaque parts
// have no place in this format. Room is about how many bytes that takes.
func Encode(id, title string, system []chat.Part, messages iter.Seq[Tagged], room int) (data []byte, n int) {
	data = append(make([]byte, 0, room), '{')
	data = append(jsonwrite.AppendMembers(data, "sessionId", id, "title", jsonwrite.Optional(title)), `,"messages":[`...)
	start := len(data)
	put := func(encoded ...[]byte) {
		for _, m := range encoded {
			if len(data) > start {
				data = append(data, ',')
			}
			data = append(data, m...)
		}
	}
	if len(system) > 0 {
		m := chat.Message{Parts: system}
		put(encodeMessage("system", &Tagged{Message: chat.Message{ID: "system"}}, "", "content", m.Text()))
	}
	for t := range messages {
		put(encodeTagged(n, &t)...)
		n++
	}
	return append(data, "]}\n"...), n
}

// encodeMessage returns one message of NeuroLink's with these members of its own.
func encodeMessage(role string, t *Tagged, suffix string, own ...any) []byte {
	members := append([]any{"id", t.ID + suffix, "role", role}, own...)
	if t.Time > 0 {
		members = append(members, "timestamp", time.UnixMilli(t.Time).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	var metadata any
	switch {
	case t.CondenseID != "":
		metadata = []byte(`{"isSummary":true}`)
	case t.Truncated || t.IsTruncationMarker:
		metadata = []byte(`{"truncated":true}`)
	}
	return jsonwrite.Of(append(
		members,
		"condenseId", jsonwrite.Optional(t.CondenseID), "condenseParent", jsonwrite.Optional(t.CondenseParent),
		"truncationId", jsonwrite.Optional(t.TruncationID), "truncationParent", jsonwrite.Optional(t.TruncationParent),
		"isTruncationMarker", jsonwrite.Optional(t.IsTruncationMarker), "metadata", metadata,
	)...)
}

// encodeTagged returns a message as one or more of NeuroLink's.
func encodeTagged(i int, t *Tagged) (all [][]byte) {
	if t.ID == "" {
		named := *t
		named.ID = cmp.Or(t.CondenseID+t.TruncationID, "m"+strconv.Itoa(i))
		t = &named
	}
	role := map[chat.Role]string{chat.User: "user", chat.Assistant: "assistant", chat.System: "system"}[t.Role]
	if t.CondenseID != "" || t.IsTruncationMarker {
		role = "system"
	}
	put := func(role string, own ...any) {
		suffix := ""
		if n := len(all); n > 0 {
			suffix = "-" + strconv.Itoa(n+1)
		}
		all = append(all, encodeMessage(role, t, suffix, own...))
	}
	var content []chat.Part
	flush := func() {
		if len(content) > 0 && role != "" {
			put(role, "content", encodeContent(content))
		}
		content = nil
	}
	for k := range t.Parts {
		switch p := &t.Parts[k]; p.Kind {
		case chat.Text, chat.Image:
			content = append(content, *p)
		case chat.ToolCall:
			flush()
			args, sealed := "{}", []byte(nil)
			if v := jsontext.Value(p.Args); v.Kind() == '{' && v.IsValid(jsontext.AllowDuplicateNames(true)) {
				args = p.Args
			}
			if p.Signature != "" {
				sealed = jsonwrite.Of("thoughtSignature", p.Signature)
			}
			put("tool_call", "content", "", "tool", p.Name, "args", []byte(args), "metadata", sealed)
		case chat.ToolResult:
			flush()
			put("tool_result", "content", p.Text, "tool", p.Name, "result", jsonwrite.Of("success", !p.Failed))
		}
	}
	flush()
	return all
}

// encodeContent returns words as one text, and words with pictures as a list.
func encodeContent(parts []chat.Part) any {
	if len(parts) == 1 && parts[0].Kind == chat.Text {
		return parts[0].Text
	}
	var blocks [][]byte
	for i := range parts {
		p := &parts[i]
		if p.Kind == chat.Text {
			blocks = append(blocks, jsonwrite.Of("type", "text", "text", p.Text))
			continue
		}
		url := p.Data
		if !strings.Contains(url, ":") {
			url = "data:" + p.Media + ";base64," + p.Data
		}
		blocks = append(blocks, jsonwrite.Of("type", "image_url", "image_url", jsonwrite.Of("url", url)))
	}
	return jsonwrite.List(blocks)
}
