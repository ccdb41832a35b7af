package pifile

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// Draft is an entry that has no place in the tree yet: its type, and its
// members beyond the ones that every entry has.
type Draft struct {
	Type string
	Body []byte
}

// Record gives a draft its place.
func (d *Draft) Record(id, parent string, at time.Time) []byte {
	w := jsonwrite.Writer{B: make([]byte, 0, 128+len(d.Body))}
	w.Open('{')
	w.Str("type", d.Type)
	writePlace(&w, id, parent)
	w.Str("timestamp", at.UTC().Format(TimeForm))
	if len(d.Body) > 0 {
		w.Element(d.Body)
	}
	return append(w.B, '}')
}

// writePlace writes the members that say where an entry stands.
func writePlace(w *jsonwrite.Writer, id, parent string) {
	w.Str("id", id)
	if parent == "" {
		w.Raw("parentId", "null")
	} else {
		w.Str("parentId", parent)
	}
}

// Origin is what pi wants to know of an answer that a message does not say.
type Origin struct{ Provider, Model string }

func (o Origin) apiName() string {
	switch o.Provider {
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

// MessageDrafts writes a message as entries: one, or one for each result that it
// carries and one for what else is in it.
func MessageDrafts(m *chat.Message, o Origin) []Draft {
	switch m.Role {
	case chat.Assistant:
		return []Draft{MessageDraft(func(w *jsonwrite.Writer) { answerBody(w, m, o) })}
	case chat.System:
		return []Draft{MessageDraft(func(w *jsonwrite.Writer) {
			w.Str("role", "system")
			w.Str("content", m.Text())
			w.Num("timestamp", int(m.Time))
		})}
	}
	var list []Draft
	var rest []chat.Part
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != chat.ToolResult {
			rest = append(rest, *p)
			continue
		}
		list = append(list, MessageDraft(func(w *jsonwrite.Writer) {
			w.Str("role", "toolResult")
			w.Str("toolCallId", p.ID)
			w.Str("toolName", p.Name)
			w.Name("content")
			w.B = AppendBlocks(w.B, resultParts(p))
			w.Flag("isError", p.Failed)
			w.Num("timestamp", int(m.Time))
		}))
	}
	if len(rest) == 0 && len(list) > 0 {
		return list
	}
	if m.Synthetic {
		var w jsonwrite.Writer
		w.Str("customType", "winnow")
		w.Name("content")
		w.B = appendContent(w.B, rest)
		w.Flag("display", false)
		return append(list, Draft{TypeCustomMessage, w.B})
	}
	return append(list, MessageDraft(func(w *jsonwrite.Writer) {
		w.Str("role", "user")
		w.Name("content")
		w.B = appendContent(w.B, rest)
		w.Num("timestamp", int(m.Time))
	}))
}

// resultParts returns what a tool said, as blocks.
func resultParts(p *chat.Part) []chat.Part {
	if p.Text == "" {
		return p.Content
	}
	return append([]chat.Part{{Kind: chat.Text, Text: p.Text}}, p.Content...)
}

// MessageDraft writes an entry whose message has the members that fill writes.
func MessageDraft(fill func(*jsonwrite.Writer)) Draft {
	var w jsonwrite.Writer
	w.OpenMember("message", '{')
	fill(&w)
	w.Close('}')
	return Draft{TypeMessage, w.B}
}

func answerBody(w *jsonwrite.Writer, m *chat.Message, o Origin) {
	w.Str("role", "assistant")
	w.Name("content")
	w.B = AppendBlocks(w.B, m.Parts)
	o.Model = cmp.Or(m.Model, o.Model)
	w.Str("api", o.apiName())
	w.Str("provider", o.Provider)
	w.Str("model", o.Model)
	u := cmp.Or(m.Usage, &chat.Usage{})
	w.OpenMember("usage", '{')
	w.Num("input", u.Input)
	w.Num("output", u.Output)
	w.Num("cacheRead", u.CacheRead)
	w.Num("cacheWrite", u.CacheWrite)
	if u.CacheWriteLong > 0 {
		w.Num("cacheWrite1h", u.CacheWriteLong)
	}
	if u.Thinking > 0 {
		w.Num("reasoning", u.Thinking)
	}
	w.Num("totalTokens", u.Context())
	w.Raw("cost", `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}`)
	w.Close('}')
	stop := "stop"
	if m.Has(chat.ToolCall) {
		stop = "toolUse"
	}
	w.Str("stopReason", stop)
	w.Num("timestamp", int(m.Time))
}

// Replacement writes the content of a message as a context edit puts it in place.
func Replacement(parts []chat.Part) string {
	if len(parts) == 1 && parts[0].Kind == chat.ToolResult {
		parts = resultParts(&parts[0])
	}
	if len(parts) == 0 {
		return "null"
	}
	return `{"content":` + string(AppendBlocks(nil, parts)) + `}`
}

// appendContent writes parts as a string where one says it all.
func appendContent(b []byte, parts []chat.Part) []byte {
	if len(parts) == 1 && parts[0].Kind == chat.Text && parts[0].Signature == "" {
		return jsonwrite.AppendString(b, parts[0].Text)
	}
	return AppendBlocks(b, parts)
}

// AppendBlocks appends parts as a list of blocks.
func AppendBlocks(b []byte, parts []chat.Part) []byte {
	w := jsonwrite.Writer{B: append(b, '[')}
	for i := range parts {
		w.Open('{')
		appendBlock(&w, &parts[i])
		w.Close('}')
	}
	return append(w.B, ']')
}

// appendBlock writes a part as one of pi's four blocks. A part that is none of
// them becomes a text that names it; what it was is kept beside the message.
func appendBlock(w *jsonwrite.Writer, p *chat.Part) {
	sign := func(name string) {
		if p.Signature != "" {
			w.Str(name, p.Signature)
		}
	}
	switch p.Kind {
	case chat.Text:
		w.Str("type", "text")
		w.Str("text", p.Text)
		sign("textSignature")
	case chat.Thinking:
		w.Str("type", "thinking")
		w.Str("thinking", p.Text)
		sign("thinkingSignature")
	case chat.ToolCall:
		w.Str("type", "toolCall")
		w.Str("id", p.ID)
		w.Str("name", p.Name)
		args := "{}"
		if v := jsontext.Value(p.Args); v.Kind() == '{' && v.IsValid(jsontext.AllowDuplicateNames(true)) {
			args = OneLine(p.Args)
		}
		w.Raw("arguments", args)
		sign("thoughtSignature")
	case chat.Image:
		if strings.Contains(p.Data, ":") { // an address, which pi does not know
			w.Str("type", "text")
			w.Str("text", "[image at "+p.Data+"]")
			return
		}
		w.Str("type", "image")
		w.Str("data", p.Data)
		w.Str("mimeType", p.Media)
	default:
		w.Str("type", "text")
		switch {
		case p.Text != "":
			w.Str("text", p.Text)
		case p.Name != "":
			w.Str("text", "["+p.Kind.String()+" "+p.Name+"]")
		default:
			w.Str("text", "["+p.Kind.String()+"]")
		}
	}
}

// OneLine takes line breaks out of JSON, where they can only stand between
// values: a record is one line.
func OneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r") {
		return s
	}
	v := jsontext.Value(s)
	if v.Compact(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true)) != nil {
		return "{}"
	}
	return string(v)
}
