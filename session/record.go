package session

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
)

// writer builds JSON objects member by member.
type writer struct{ b []byte }

func (w *writer) name(k string) {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' && w.b[n-1] != ':' {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), k...), '"', ':')
}

func (w *writer) str(k, v string) {
	w.name(k)
	w.b = appendString(w.b, v)
}

func (w *writer) strOrNull(k, v string) {
	if v == "" {
		w.raw(k, "null")
		return
	}
	w.str(k, v)
}

func (w *writer) num(k string, n int) {
	w.name(k)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
}

func (w *writer) flag(k string, v bool) {
	w.name(k)
	w.b = strconv.AppendBool(w.b, v)
}

func (w *writer) raw(k, v string) {
	w.name(k)
	w.b = append(w.b, v...)
}

func (w *writer) list(k string, list []string) {
	w.name(k)
	w.b = append(w.b, '[')
	for i, s := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = appendString(w.b, s)
	}
	w.b = append(w.b, ']')
}

// appendString writes a JSON string. What is no UTF-8 is replaced, because
// JSON cannot hold it.
func appendString(b []byte, s string) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

// draft is an entry that has no place in the tree yet: its type, and its
// members beyond the ones that every entry has.
type draft struct {
	kind Type
	body []byte
}

// record gives a draft its place.
func (d *draft) record(id, parent string, at time.Time) []byte {
	w := writer{make([]byte, 0, 128+len(d.body))}
	w.b = append(w.b, '{')
	w.str("type", string(d.kind))
	w.str("id", id)
	w.strOrNull("parentId", parent)
	w.str("timestamp", at.UTC().Format(timeForm))
	if len(d.body) > 0 {
		w.b = append(append(w.b, ','), d.body...)
	}
	return append(w.b, '}')
}

// origin is what pi wants to know of an answer that a message does not say.
type origin struct {
	provider, model string
}

func (o origin) api() string {
	switch o.provider {
	case "anthropic":
		return "anthropic-messages"
	case "openai":
		return "openai-responses"
	case "openai-codex":
		return "openai-codex-responses"
	case "google":
		return "google-generative-ai"
	}
	return "openai-completions"
}

// messageDrafts writes a message as entries of pi: one, or one for each result
// that it carries and one for what else is in it.
func messageDrafts(m *chat.Message, o origin) []draft {
	switch m.Role {
	case chat.Assistant:
		return []draft{messageDraft(func(w *writer) { answerBody(w, m, o) })}
	case chat.System:
		return []draft{messageDraft(func(w *writer) {
			w.str("role", "system")
			w.str("content", m.Text())
			w.num("timestamp", int(m.Time))
		})}
	}
	var list []draft
	var rest []chat.Part
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != chat.ToolResult {
			rest = append(rest, *p)
			continue
		}
		list = append(list, messageDraft(func(w *writer) {
			w.str("role", "toolResult")
			w.str("toolCallId", p.ID)
			w.str("toolName", p.Name)
			w.name("content")
			blocks := p.Content
			if p.Text != "" {
				blocks = append([]chat.Part{{Kind: chat.Text, Text: p.Text}}, blocks...)
			}
			w.b = appendBlocks(w.b, blocks)
			w.flag("isError", p.Failed)
			w.num("timestamp", int(m.Time))
		}))
	}
	if len(rest) == 0 && len(list) > 0 {
		return list
	}
	if m.Synthetic {
		var w writer
		w.str("customType", "winnow")
		w.name("content")
		w.b = appendContent(w.b, rest)
		w.flag("display", false)
		return append(list, draft{TypeCustomMessage, w.b})
	}
	return append(list, messageDraft(func(w *writer) {
		w.str("role", "user")
		w.name("content")
		w.b = appendContent(w.b, rest)
		w.num("timestamp", int(m.Time))
	}))
}

func messageDraft(fill func(*writer)) draft {
	var w writer
	w.name("message")
	w.b = append(w.b, '{')
	fill(&w)
	w.b = append(w.b, '}')
	return draft{TypeMessage, w.b}
}

func answerBody(w *writer, m *chat.Message, o origin) {
	w.str("role", "assistant")
	w.name("content")
	w.b = appendBlocks(w.b, m.Parts)
	if m.Model != "" {
		o.model = m.Model
	}
	w.str("api", o.api())
	w.str("provider", o.provider)
	w.str("model", o.model)
	w.name("usage")
	w.b = appendUsage(w.b, m.Usage)
	stop := "stop"
	if m.Has(chat.ToolCall) {
		stop = "toolUse"
	}
	w.str("stopReason", stop)
	w.num("timestamp", int(m.Time))
}

func appendUsage(b []byte, u *chat.Usage) []byte {
	if u == nil {
		u = &chat.Usage{}
	}
	w := writer{append(b, '{')}
	w.num("input", u.Input)
	w.num("output", u.Output)
	w.num("cacheRead", u.CacheRead)
	w.num("cacheWrite", u.CacheWrite)
	if u.Thinking > 0 {
		w.num("reasoning", u.Thinking)
	}
	w.num("totalTokens", u.Context())
	w.raw("cost", `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}`)
	return append(w.b, '}')
}

// appendContent writes parts as a string where one says it all.
func appendContent(b []byte, parts []chat.Part) []byte {
	if len(parts) == 1 && parts[0].Kind == chat.Text && parts[0].Signature == "" {
		return appendString(b, parts[0].Text)
	}
	return appendBlocks(b, parts)
}

func appendBlocks(b []byte, parts []chat.Part) []byte {
	w := writer{append(b, '[')}
	for i := range parts {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, '{')
		appendBlock(&w, &parts[i])
		w.b = append(w.b, '}')
	}
	return append(w.b, ']')
}

// appendBlock writes a part as one of pi's four blocks. A part that is none of
// them becomes a text that names it; what it was is kept beside the message.
func appendBlock(w *writer, p *chat.Part) {
	sign := func(name string) {
		if p.Signature != "" {
			w.str(name, p.Signature)
		}
	}
	switch p.Kind {
	case chat.Text:
		w.str("type", "text")
		w.str("text", p.Text)
		sign("textSignature")
	case chat.Thinking:
		w.str("type", "thinking")
		w.str("thinking", p.Text)
		sign("thinkingSignature")
	case chat.ToolCall:
		w.str("type", "toolCall")
		w.str("id", p.ID)
		w.str("name", p.Name)
		args := "{}"
		if v := jsontext.Value(p.Args); v.Kind() == '{' && v.IsValid(jsontext.AllowDuplicateNames(true)) {
			args = oneLine(p.Args)
		}
		w.raw("arguments", args)
		sign("thoughtSignature")
	case chat.Image:
		if strings.Contains(p.Data, ":") { // an address, which pi does not know
			w.str("type", "text")
			w.str("text", "[image at "+p.Data+"]")
			return
		}
		w.str("type", "image")
		w.str("data", p.Data)
		w.str("mimeType", p.Media)
	default:
		w.str("type", "text")
		switch {
		case p.Text != "":
			w.str("text", p.Text)
		case p.Name != "":
			w.str("text", "["+p.Kind.String()+" "+p.Name+"]")
		default:
			w.str("text", "["+p.Kind.String()+"]")
		}
	}
}

// oneLine takes line breaks out of JSON, where they can only stand between
// values: a record is one line.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r") {
		return s
	}
	v := jsontext.Value(s)
	if v.Compact(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true)) != nil {
		return "{}"
	}
	return string(v)
}
