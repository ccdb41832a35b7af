// Package contents names the parts of a conversation in a few words, as people
// would: a call as they would type it, a result by the call that it answers.
package contents

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/text"
)

// Part names a part in a few words: a call as a person would type it,
// the call that a result answers, else how the part begins.
func Part(s chat.Sequence, i, part, most int) string {
	p := &s.At(i).Parts[part]
	switch p.Kind {
	case chat.ToolCall:
		return Call(p, most)
	case chat.ToolResult:
		for k := i - 1; k >= 0 && k >= i-16; k-- {
			m := s.At(k)
			for c := range m.Parts {
				if q := &m.Parts[c]; q.Kind == chat.ToolCall && q.ID == p.ID {
					return Call(q, most)
				}
			}
		}
	case chat.Image, chat.Document:
		return brief(strings.Join(strings.Fields(p.Kind.String()+" "+p.Media+" "+p.Name), " "), most)
	case chat.Opaque:
		return brief(p.Name, most)
	}
	return brief(p.Text, most)
}

// Call is a call's name with the value of its first argument that says
// something: "read_file internal/a.go".
func Call(call *chat.Part, most int) string {
	for _, a := range evidence.KeyArgs(call, 4) {
		switch a.Value {
		case "", "true", "false", "null", "{}", "[]":
			continue
		}
		return brief(call.Name+" "+a.Value, most)
	}
	return brief(call.Name, most)
}

// brief is a text on one line, without what steers a terminal.
func brief(s string, most int) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, text.Brief(text.Head(s, 16*max(most, 0)+64), most))
}
