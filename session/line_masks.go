package session

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/plan"
)

// contextMasks returns the edits that do to the plan's messages what context edits of
// other programs do.
func (l *line) contextMasks(h chat.History, want func(i int) bool) []plan.Edit {
	var at []int
	for i := range l.edits {
		if i < h.Len() && want(i) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil
	}
	slices.Sort(at)
	o := chat.NewOutline(h)
	var out []plan.Edit
	for _, i := range at {
		v := l.edits[i]
		if v.Kind() == '{' {
			out = append(out, replaceContent(h.At(i), i, parseContent(decode.Member(v, "content")))...)
			continue
		}
		out = append(out, l.omitMessage(h, o, i)...)
	}
	return out
}

const leftOut = "[left out of the context]"

// omitMessage returns the edits that take message i away. An exchange goes as a
// whole or stays, without content.
func (l *line) omitMessage(h chat.History, o *chat.Outline, i int) []plan.Edit {
	m := h.At(i)
	from, to := i, i+1
	if x := o.ExchangeOf(i); x >= 0 {
		e := o.Exchanges[x]
		from, to = e.From, e.To
		for k := from; k < to; k++ {
			if v, ok := l.edits[k]; !ok || v.Kind() == '{' {
				return replaceContent(m, i, nil)
			}
		}
		if i > from {
			return nil // the first message takes all of it
		}
	}
	return []plan.Edit{{Kind: plan.Drop, From: from, To: to, Part: -1, Text: leftOut, Stage: "import"}}
}

// replaceContent returns masks that put content in place of a message's words and
// pictures. Calls stay, because their results do.
func replaceContent(m *chat.Message, i int, content []chat.Part) []plan.Edit {
	words := ""
	for k := range content {
		if content[k].Kind == chat.Text {
			if words != "" {
				words += "\n"
			}
			words += content[k].Text
		}
	}
	var out []plan.Edit
	put := false
	for k := range m.Parts {
		p := &m.Parts[k]
		e := plan.Edit{Kind: plan.Mask, From: i, To: i + 1, Part: k, Stage: "import"}
		switch {
		case p.Kind == chat.ToolCall:
			continue
		case p.Kind == chat.ToolResult:
			e.Text = words
		case p.Kind == chat.Text && p.Signature == "" && !put:
			e.Text, put = words, true
		case p.Kind == chat.Text && p.Text == "":
			continue
		}
		out = append(out, e)
	}
	return out
}

// maskedContent returns, for each message from from on that stays and is
// changed by masks, its content as it is seen. That is what context edits say.
func maskedContent(v plan.View, from int) map[int][]chat.Part {
	out := make(map[int][]chat.Part)
	for i := range v.Len() {
		o := v.Origin(i)
		if o.Message < from || len(o.Edits) == 0 || len(o.Joined) > 0 {
			continue
		}
		out[o.Message] = v.At(i).Parts
	}
	return out
}
