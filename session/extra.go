package session

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/pifile"
)

// Some messages have more in them than pi's form can hold: documents, opaque
// parts, results and words in one message. Before the entries of such a message
// stands one of type custom that holds the message whole and names the entries.
// Who does not know it reads the entries; who does takes the message.

// extra is the content of such an entry.
type extra struct {
	Entries []string `json:"entries"`
	Message wholly   `json:"message"`
}

type wholly struct {
	Role      chat.Role   `json:"role"`
	Parts     []wholePart `json:"parts"`
	Synthetic bool        `json:"synthetic,omitempty"`
	Model     string      `json:"model,omitempty"`
	Usage     *chat.Usage `json:"usage,omitempty"`
	Time      int64       `json:"time,omitempty"`
}

type wholePart struct {
	Kind      string      `json:"kind"`
	Text      string      `json:"text,omitempty"`
	ID        string      `json:"id,omitempty"`
	Name      string      `json:"name,omitempty"`
	Args      string      `json:"args,omitempty"`
	Media     string      `json:"media,omitempty"`
	Data      string      `json:"data,omitempty"`
	Signature string      `json:"signature,omitempty"`
	Failed    bool        `json:"failed,omitempty"`
	Content   []wholePart `json:"content,omitempty"`
}

func wholeParts(parts []chat.Part) []wholePart {
	var out []wholePart
	for i := range parts {
		p := &parts[i]
		out = append(out, wholePart{p.Kind.String(), p.Text, p.ID, p.Name, p.Args, p.Media, p.Data, p.Signature, p.Failed, wholeParts(p.Content)})
	}
	return out
}

func chatParts(parts []wholePart) []chat.Part {
	var out []chat.Part
	for i := range parts {
		p := &parts[i]
		kind := chat.Opaque
		for k := chat.Text; k <= chat.Opaque; k++ {
			if k.String() == p.Kind {
				kind = k
			}
		}
		out = append(out, chat.Part{
			Kind: kind, Text: p.Text, ID: p.ID, Name: p.Name, Args: p.Args, Media: p.Media, Data: p.Data,
			Signature: p.Signature, Failed: p.Failed, Content: chatParts(p.Content),
		})
	}
	return out
}

func customDraft(kind string, data []byte) draft {
	return pifile.NewDraft(pifile.TypeCustom, "customType", kind, "data", data)
}

// marshalPlain writes JSON without escaping what is only special in HTML.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// parseExtra reads such an entry's data; ok is false for anything else.
func parseExtra(data jsontext.Value) (entries []string, m *chat.Message, ok bool) {
	var x extra
	if data.Kind() != '{' || json.Unmarshal(data, &x) != nil || len(x.Entries) == 0 {
		return nil, nil, false
	}
	return x.Entries, &chat.Message{
		Role: x.Message.Role, Parts: chatParts(x.Message.Parts), Synthetic: x.Message.Synthetic,
		Model: x.Message.Model, Usage: x.Message.Usage, Time: x.Message.Time,
	}, true
}

// readsBackAs reports whether reading the drafts back gives the message again.
func readsBackAs(drafts []draft, m *chat.Message) bool {
	if len(drafts) != 1 {
		return false
	}
	e := parseEntry(drafts[0].Record("", "", time.Time{}))
	return e.Message != nil && e.Message.Digest() == m.Digest()
}

// tidyParts returns the parts of a message as a session can keep it: text that JSON can
// hold, and results that name their tool.
func tidyParts(parts []chat.Part, tool func(id string) string) []chat.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		p := &parts[i]
		for _, s := range []*string{&p.Text, &p.ID, &p.Name, &p.Args, &p.Media, &p.Data, &p.Signature} {
			*s = strings.ToValidUTF8(*s, "\uFFFD")
		}
		if p.Kind == chat.ToolResult && p.Name == "" {
			p.Name = tool(p.ID)
		}
		if line := pifile.OneLine(p.Args); p.Kind == chat.ToolCall && line != p.Args && decode.Valid([]byte(p.Args)) == nil {
			p.Args = line
		}
		p.Content = tidyParts(p.Content, tool)
	}
	return parts
}
