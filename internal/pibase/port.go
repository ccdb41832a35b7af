package pibase

import (
	"fmt"
	"strings"
)

// Port is the variant of a port of pi to Python: estimates are rounded down
// but never to nothing, usage is always the sum of its parts, and every
// assistant message that did not stop by itself reports none.
type Port struct{}

// Estimate returns the tokens of a message.
func (Port) Estimate(m *Message) int { return max(1, m.chars()/4) }

// Usage returns what a message reports.
func (Port) Usage(m *Message) *Usage {
	if m.Role != "assistant" || m.Usage == nil || m.Stop == "" || m.Stop == "error" || m.Stop == "aborted" {
		return nil
	}
	return m.Usage
}

// LastUsage returns what the last message that reports something reports.
func (p Port) LastUsage(msgs []*Message) *Usage {
	for i := len(msgs) - 1; i >= 0; i-- {
		if u := p.Usage(msgs[i]); u != nil {
			return u
		}
	}
	return nil
}

// Context estimates a list of messages.
func (p Port) Context(msgs []*Message) Context {
	c := Context{Index: -1}
	for i := len(msgs) - 1; i >= 0; i-- {
		if u := p.Usage(msgs[i]); u != nil {
			c.Usage, c.Index = u.Sum(), i
			break
		}
		c.Trailing += p.Estimate(msgs[i])
	}
	c.Tokens = c.Usage + c.Trailing
	return c
}

// PreviousCompaction returns the index of the last compaction, or -1.
func (Port) PreviousCompaction(path []*Entry) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i].Type == "compaction" {
			return i
		}
	}
	return -1
}

// Start returns where what can be summarised begins: with the entry that the
// last compaction kept first, or after it where that entry is not there.
func (Port) Start(path []*Entry, compaction int) int {
	if compaction < 0 {
		return 0
	}
	for i := range compaction {
		if path[i].ID == path[compaction].FirstKept {
			return i
		}
	}
	return compaction + 1
}

// CutPoints returns the indexes at which a range may be cut.
func (Port) CutPoints(path []*Entry, from, to int) []int {
	var at []int
	for i := from; i < to; i++ {
		if newItem(path[i], path[i].messages()).cut {
			at = append(at, i)
		}
	}
	return at
}

// Collect returns the messages of a range that are summarised.
func (Port) Collect(path []*Entry, from, to int) []*Message {
	var out []*Message
	for _, e := range path[from:to] {
		if e.Type != "compaction" {
			out = append(out, e.messages()...)
		}
	}
	return out
}

// Prune is that system's pruning of tool results by size: the newest protect
// tokens of results stay, and errors, and what is short; a result of medium
// size gives way to the placeholder, a long one keeps its two ends.
func (p Port) Prune(msgs []*Message, protect int, placeholder string) []*Message {
	const small, large = 200, 2000
	out := append([]*Message(nil), msgs...)
	newest := 0
	for i := len(out) - 1; i >= 0; i-- {
		m := out[i]
		if m.Role != "toolResult" {
			continue
		}
		newest += p.Estimate(m)
		text := contentText(m, "\n")
		n := units(text)
		if newest <= protect || m.Stop == "error" || n <= small {
			continue
		}
		c := *m
		c.IsText, c.Blocks = true, nil
		if n <= large {
			c.Text = placeholder
		} else {
			runes := []rune(text)
			c.Text = fmt.Sprintf("%s\n%s\n%s", string(runes[:small]), placeholder, string(runes[len(runes)-small:]))
		}
		out[i] = &c
	}
	return out
}

// Prompt builds the text that asks for a summary: the conversation between
// tags, an earlier summary where there is one, then base or update as the
// instructions, and the user's focus.
func (Port) Prompt(conversation, previous, focus, base, update string) string {
	var b strings.Builder
	b.WriteString("<conversation>\n" + conversation + "\n</conversation>\n\n")
	ask := base
	if previous != "" {
		b.WriteString("<previous-summary>\n" + previous + "\n</previous-summary>\n\n")
		ask = update
	}
	b.WriteString(ask)
	if focus != "" {
		b.WriteString("\n\nAdditional focus: " + focus)
	}
	return b.String()
}
