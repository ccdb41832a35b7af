package viewer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
)

// look is how it is shown what an edit did: by a sign, so that it is seen without
// colours, and by a word.
type look struct {
	sign, word string
	ink        ansi.Style
}

var looks = map[plan.Kind]look{
	plan.Mask:     {"~", "masked", inkMask},
	plan.Fold:     {"=", "folded", inkFold},
	plan.State:    {"=", "folded", inkFold},
	plan.Drop:     {"-", "dropped", inkWrong},
	plan.Answer:   {"+", "answered", inkGood},
	stripped.Kind: {"~", "thinking left out", inkMask},
}

// lookOf returns how an edit is shown, or that nothing was done.
func lookOf(e *plan.Edit) look {
	if e == nil {
		return look{sign: " "}
	}
	return looks[e.Kind]
}

// pinSign stands beside what is pinned.
const pinSign = "*"

// messageParagraphs returns the content of a message. Parts whose text an edit wrote
// carry the edit's sign.
func messageParagraphs(m *chat.Message, edits []*plan.Edit) []paragraph {
	var out []paragraph
	for i := range m.Parts {
		out = appendPart(out, &m.Parts[i], edits)
	}
	if len(out) == 0 {
		out = append(out, paragraph{ink: quiet, text: "(empty)"})
	}
	return out
}

func appendPart(out []paragraph, p *chat.Part, edits []*plan.Edit) []paragraph {
	by := slices.IndexFunc(edits, func(e *plan.Edit) bool { return e.Text != "" && (p.Text == e.Text || p.Args == e.Text) })
	add := func(ink ansi.Style, s string, hang int) {
		if by >= 0 {
			look := lookOf(edits[by])
			ink, s, hang = look.ink, look.sign+" "+s, hang+2
		}
		out = append(out, paragraph{ink: ink, text: s, hang: hang})
	}
	switch p.Kind {
	case chat.Text:
		if p.Text != "" {
			add(plain, p.Text, 0)
		}
	case chat.Thinking:
		add(aside, cmp.Or(p.Text, "(thinking that only its provider can read)"), 0)
	case chat.ToolCall:
		args := work.KeyArgs(p, math.MaxInt)
		if len(args) == 1 {
			add(inkCall, "→ "+p.Name+" "+args[0].Value, 2)
			break
		}
		add(inkCall, "→ "+p.Name, 2)
		for _, a := range args {
			add(inkCall, "  "+a.Key+": "+a.Value, 2)
		}
	case chat.ToolResult:
		if p.Failed {
			add(inkWrong, "failed", 0)
		}
		if p.Text != "" || len(p.Content) == 0 {
			add(quiet, cmp.Or(p.Text, "(nothing)"), 0)
		}
		for i := range p.Content {
			out = appendPart(out, &p.Content[i], nil)
		}
	default:
		what := fmt.Sprintf("[%s %s %s, %s]", p.Kind, p.Name, p.Media, show.Size(int64(len(p.Data))))
		add(quiet, strings.Join(strings.Fields(what), " "), 0)
		if p.Text != "" {
			add(quiet, p.Text, 0)
		}
	}
	return out
}

// speakerOf names who speaks in a message.
func speakerOf(m *chat.Message) (string, ansi.Style) {
	switch {
	case m.Role == chat.Tool, m.Role == chat.User && m.Has(chat.ToolResult):
		return "tool", quiet
	case m.Role == chat.Assistant:
		return "model", strong
	case m.Role == chat.System:
		return "system", inkFold
	case m.Synthetic:
		return "note", quiet
	}
	return "user", accent
}

// describeMessage returns what a line of the tree says of a message: its words, or else its
// first call or result.
func describeMessage(m *chat.Message) said {
	s := said{text: "(empty)"}
	s.who, s.ink = speakerOf(m)
	for i, found := 0, false; i < len(m.Parts); i++ {
		about, kind := conview.About(chat.Messages{*m}, 0, i), m.Parts[i].Kind
		if strings.TrimSpace(about) == "" || found && kind != chat.Text {
			continue
		}
		if s.text, found = about, true; kind == chat.ToolCall {
			s.text = "→ " + about
		}
		if kind == chat.Text {
			break
		}
	}
	return s
}

// resultWords names what a message of results answers: the calls, each as a
// person would type it.
func resultWords(h chat.History, i int) string {
	var words []string
	m := h.At(i)
	for k := range m.Parts {
		if p := &m.Parts[k]; p.Kind == chat.ToolResult && len(words) < 4 {
			words = append(words, shortenTo(conview.About(h, i, k), 400))
		}
	}
	return strings.Join(words, ", ")
}

// How numbers, and counts with their nouns, are written.
var number, plural = text.Number, text.Plural
