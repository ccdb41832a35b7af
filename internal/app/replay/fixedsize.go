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

// gatherParts makes messages of parts, in the history's order, each under the role
// of its message.
func (x *nextIndex) gatherParts(parts []partAt, cut *chat.Part, cutAt partAt) []*chat.Message {
	slices.SortFunc(parts, func(a, b partAt) int {
		if a.msg != b.msg {
			return a.msg - b.msg
		}
		return a.part - b.part
	})
	h := x.session.History
	var out []*chat.Message
	for i := 0; i < len(parts); {
		k := i
		for k < len(parts) && parts[k].msg == parts[i].msg {
			k++
		}
		m := h.At(parts[i].msg)
		if k-i == len(m.Parts) && (cut == nil || cutAt.msg != parts[i].msg) {
			out = append(out, m)
			i = k
			continue
		}
		n := &chat.Message{Role: m.Role, Synthetic: m.Synthetic}
		for ; i < k; i++ {
			p := m.Parts[parts[i].part]
			if cut != nil && parts[i] == cutAt {
				p = *cut
			}
			n.Parts = append(n.Parts, p)
		}
		out = append(out, n)
	}
	return out
}

// takeNewest takes parts from the newest on until the size is used up; of a part
// that does not fit whole it takes the end.
func (x *nextIndex) takeNewest(at, chars int, taken map[partAt]bool) []*chat.Message {
	h := x.session.History
	var parts []partAt
	for p := range taken {
		parts = append(parts, p)
	}
	for i := at - 1; i >= 0; i-- {
		m := h.At(i)
		for k := len(m.Parts) - 1; k >= 0; k-- {
			here := partAt{i, k}
			if taken[here] {
				continue
			}
			p := &m.Parts[k]
			n := partChars(p)
			if n <= chars {
				chars -= n
				parts = append(parts, here)
				continue
			}
			if p.Kind != chat.Text && p.Kind != chat.ToolResult || chars == 0 {
				return x.gatherParts(parts, nil, partAt{})
			}
			short := *p
			short.Content = nil
			short.Text = lastRunes(p.Text, chars)
			return x.gatherParts(append(parts, here), &short, here)
		}
	}
	return x.gatherParts(parts, nil, partAt{})
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
	return x.takeNewest(c.At, chars, nil)
}

// naiveShare is the part of a naive view that shows and changes files.
const naiveShare = 0.7

// naiveView returns the newest parts that show or change files, whole, up to 70 % of
// the size, and the newest text for the rest; each part stands there once.
func naiveView(x *nextIndex, c *NextCut, chars int) []*chat.Message {
	taken := map[partAt]bool{}
	left := int(naiveShare * float64(chars))
	h := x.session.History
	for i := c.At - 1; i >= 0; i-- {
		m := h.At(i)
		for k := len(m.Parts) - 1; k >= 0; k-- {
			p := &m.Parts[k]
			if n := partChars(p); n <= left && x.aboutFiles(p) {
				left -= n
				chars -= n
				taken[partAt{i, k}] = true
			}
		}
	}
	return x.takeNewest(c.At, chars, taken)
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
