package viewer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
)

// state is what the plan in force does to a message.
type state uint8

const (
	kept state = iota
	masked
	folded
	dropped
	answered
	stripped // its signed thinking is left out
)

// sign stands before what an edit touched, so that it is seen without colours.
func (s state) sign() string {
	return [...]string{" ", "~", "=", "-", "+", "~"}[s]
}

func (s state) ink() ink {
	return [...]ink{plain, inkMask, inkFold, inkDrop, inkAnswer, inkMask}[s]
}

func (s state) word() string {
	return [...]string{"", "masked", "folded", "dropped", "answered", "thinking left out"}[s]
}

// pinSign stands beside what is pinned.
const pinSign = "*"

// paragraphs returns the content of a message. Parts whose text an edit wrote
// carry the edit's sign.
func paragraphs(m *chat.Message, edits []*plan.Edit) []paragraph {
	var out []paragraph
	for i := range m.Parts {
		out = appendPart(out, &m.Parts[i], edits)
	}
	if len(out) == 0 {
		out = append(out, paragraph{ink: quiet, lead: "(empty)"})
	}
	return out
}

func appendPart(out []paragraph, p *chat.Part, edits []*plan.Edit) []paragraph {
	in, lead := plain, ""
	for _, e := range edits {
		if e.Text != "" && (p.Text == e.Text || p.Args == e.Text) {
			s := stateOf(e)
			in, lead = s.ink(), s.sign()+" "
		}
	}
	pick := func(usual ink) ink {
		if in != plain {
			return in
		}
		return usual
	}
	hang := spaces(len(lead))
	switch p.Kind {
	case chat.Text:
		return append(out, paragraph{ink: pick(plain), lead: lead, hang: hang, text: p.Text})
	case chat.Thinking:
		text := cmp.Or(p.Text, "(thinking that only its provider can read)")
		return append(out, paragraph{ink: pick(aside), lead: lead, hang: hang, text: text})
	case chat.ToolCall:
		return appendCall(out, p, pick(inkCall), lead)
	case chat.ToolResult:
		mine := pick(inkTool)
		if p.Failed {
			out = append(out, paragraph{ink: inkWrong, lead: lead + "failed"})
		}
		if p.Text != "" || len(p.Content) == 0 {
			text := cmp.Or(p.Text, "(nothing)")
			out = append(out, paragraph{ink: mine, lead: lead, hang: hang, text: text})
		}
		for i := range p.Content {
			out = appendPart(out, &p.Content[i], nil)
		}
		return out
	case chat.Image, chat.Document:
		what := fmt.Sprintf("[%s %s %s, %s]", p.Kind, p.Name, p.Media, bytesText(len(p.Data)))
		out = append(out, paragraph{ink: pick(quiet), lead: lead, hang: hang, text: strings.Join(strings.Fields(what), " ")})
		if p.Text != "" {
			out = append(out, paragraph{ink: pick(inkTool), lead: lead, hang: hang, text: p.Text})
		}
		return out
	}
	return append(out, paragraph{ink: pick(quiet), lead: lead, hang: hang, text: "[" + p.Name + ", " + bytesText(len(p.Data)) + "]"})
}

// callArg is an argument of a call, strings without their quotes.
type callArg struct{ name, value string }

func callArgs(p *chat.Part) []callArg {
	if decode.Valid([]byte(p.Args)) != nil {
		if p.Args == "" {
			return nil
		}
		return []callArg{{"", p.Args}}
	}
	var args []callArg
	for k, v := range decode.Members(jsontext.Value(p.Args)) {
		value := string(v)
		if v.Kind() == '"' {
			if b, err := jsontext.AppendUnquote(nil, v); err == nil {
				value = string(b)
			}
		}
		args = append(args, callArg{k, value})
	}
	return args
}

// telling are names of arguments that say what a call is about, the best first.
var telling = []string{"command", "cmd", "file_path", "path", "file", "filename", "url", "query", "pattern", "q", "name"}

// callWords names a call on one line: the tool and the argument that says most.
func callWords(p *chat.Part) string {
	text := short(p.Name, 24)
	args := callArgs(p)
	if len(args) == 0 {
		return text
	}
	for _, name := range telling {
		for _, a := range args {
			if a.name == name && a.value != "" {
				return text + " " + head(a.value)
			}
		}
	}
	return text + " " + head(args[0].value)
}

// appendCall writes a call as a person would: the tool's name and its
// arguments, the strings among them without quotes.
func appendCall(out []paragraph, p *chat.Part, in ink, lead string) []paragraph {
	args := callArgs(p)
	name := short(p.Name, 24)
	head := lead + "→ " + name
	if len(args) == 0 {
		return append(out, paragraph{ink: in, lead: head})
	}
	if len(args) == 1 {
		return append(out, paragraph{ink: in, lead: head + " ", hang: spaces(width(lead) + 2), text: args[0].value})
	}
	out = append(out, paragraph{ink: in, lead: head})
	for _, a := range args {
		label := short(a.name, 16) + ": "
		out = append(out, paragraph{ink: in, lead: spaces(width(lead)+2) + label, hang: spaces(width(lead) + 4), text: a.value})
	}
	return out
}

func stateOf(e *plan.Edit) state {
	switch e.Kind {
	case plan.Mask:
		return masked
	case plan.Fold, plan.State:
		return folded
	case plan.Drop:
		return dropped
	}
	return answered
}

// speaker names who speaks in a message.
func speaker(m *chat.Message) (string, ink) {
	switch {
	case m.Role == chat.Tool:
		return "tool", inkTool
	case m.Role == chat.Assistant:
		return "model", inkModel
	case m.Role == chat.System:
		return "system", inkFold
	case m.Has(chat.ToolResult):
		return "tool", inkTool
	case m.Synthetic:
		return "note", quiet
	}
	return "user", inkUser
}

// tells returns the words that a line of the tree shows of a message.
func tells(m *chat.Message) string {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind == chat.Text && strings.TrimSpace(head(p.Text)) != "" {
			return head(p.Text)
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case chat.ToolCall:
			return "→ " + callWords(p)
		case chat.ToolResult, chat.Thinking:
			if p.Text != "" {
				return head(p.Text)
			}
		}
	}
	return "(" + strconv.Itoa(len(m.Parts)) + " parts)"
}

// head is as much of a text as one line can show.
func head(s string) string { return s[:min(len(s), 1000)] }

func bytesText(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n) + " bytes"
	case n < 1000_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " kB"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
}

// number writes an integer with separators.
func number(n int) string { return text.Number(n) }

// plural writes a count with its noun.
func plural(n int, noun string) string { return text.Plural(n, noun) }
