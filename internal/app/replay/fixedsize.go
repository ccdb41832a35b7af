package replay

import (
	"slices"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// Beside each view stand views of the same size that anybody could make: they say
// what a figure is worth.

// Rival is such a view of a cut.
type Rival struct {
	Name string
	make func(x *nextIndex, c *NextCut, chars int) []*chat.Message
}

// Rivals returns them in the order of their columns.
func Rivals() []Rival {
	return []Rival{{"tail", tailView}, {"naive", naiveView}}
}

// partAt is a part of the history.
type partAt struct{ msg, part int }

// gatherParts makes messages of the parts that are shown, each under the role of its
// message.
func (x *nextIndex) gatherParts(at int, shown map[partAt]*chat.Part) []*chat.Message {
	var out []*chat.Message
	for i := range at {
		m := x.session.History.At(i)
		n, whole := &chat.Message{Role: m.Role, Synthetic: m.Synthetic}, true
		for k := range m.Parts {
			p := shown[partAt{i, k}]
			whole = whole && p == &m.Parts[k]
			if p != nil {
				n.Parts = append(n.Parts, *p)
			}
		}
		switch {
		case len(n.Parts) == 0:
		case whole:
			out = append(out, m)
		default:
			out = append(out, n)
		}
	}
	return out
}

// takeNewest shows parts from the newest on, besides those that are shown already, until
// the size is used up; of a part that does not fit whole it takes the end.
func (x *nextIndex) takeNewest(at, chars int, shown map[partAt]*chat.Part) []*chat.Message {
	for i := at - 1; i >= 0; i-- {
		m := x.session.History.At(i)
		for k := len(m.Parts) - 1; k >= 0; k-- {
			here, p := partAt{i, k}, &m.Parts[k]
			if shown[here] != nil {
				continue
			}
			if n := partChars(p); n <= chars {
				chars -= n
				shown[here] = p
				continue
			}
			if chars > 0 && (p.Kind == chat.Text || p.Kind == chat.ToolResult) {
				short := *p
				short.Content, short.Text = nil, lastRunes(p.Text, chars)
				shown[here] = &short
			}
			return x.gatherParts(at, shown)
		}
	}
	return x.gatherParts(at, shown)
}

// lastRunes returns the last n characters of a text.
func lastRunes(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// tailView returns the newest text.
func tailView(x *nextIndex, c *NextCut, chars int) []*chat.Message {
	return x.takeNewest(c.At, chars, map[partAt]*chat.Part{})
}

// naiveShare is the part of a naive view that shows and changes files.
const naiveShare = 0.7

// naiveView returns the newest parts that show or change files, whole, up to 70 % of
// the size, and the newest text for the rest; each part stands there once.
func naiveView(x *nextIndex, c *NextCut, chars int) []*chat.Message {
	shown := map[partAt]*chat.Part{}
	left := int(naiveShare * float64(chars))
	h := x.session.History
	for i := c.At - 1; i >= 0; i-- {
		m := h.At(i)
		for k := len(m.Parts) - 1; k >= 0; k-- {
			p := &m.Parts[k]
			if n := partChars(p); n <= left && x.aboutFiles(p) {
				left -= n
				chars -= n
				shown[partAt{i, k}] = p
			}
		}
	}
	return x.takeNewest(c.At, chars, shown)
}

// aboutFiles reports whether a part shows or changes a file.
func (x *nextIndex) aboutFiles(p *chat.Part) bool {
	switch p.Kind {
	case chat.ToolCall:
		return len(x.edits[p]) > 0
	case chat.ToolResult:
		if call := x.result[p]; call != nil && !p.Failed {
			return slices.ContainsFunc(x.access[call].Ops, func(o work.FileOp) bool { return o.Kind == work.ToolRead })
		}
	}
	return false
}
