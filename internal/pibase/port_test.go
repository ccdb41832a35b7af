package pibase

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// A port of pi to Python computes a little differently. Nothing but its vectors
// needs that variant, so it stands here: they hold the arithmetic that both
// share to a second set of expectations.

// Port is the variant of a port of pi to Python: estimates are rounded down
// but never to nothing, usage is always the sum of its parts, and every
// assistant message that did not stop by itself reports none.
type Port struct{}

// Estimate returns the tokens of a message.
func (Port) Estimate(m *Message) int { return max(1, m.countChars()/4) }

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
		if p := (Projected{path[i], path[i].ownMessages()}); p.has((*Message).cutPoint) {
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
			out = append(out, e.ownMessages()...)
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
		n := utf16Units(text)
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

// Event is one event of the stream in which a summary comes.
type Event struct {
	Type string // text_end ends a text, end the whole answer
	Text string

	// Stop and Message are of the end: why it ended, and the error where that
	// is why.
	Stop, Message string
}

// EventText returns the texts of a stream, one after another. A stream that
// ends with an error is one, under the label of what it was for; an error
// without words is unknown.
func (Port) EventText(events []Event, label string) (string, error) {
	var b strings.Builder
	for _, e := range events {
		switch {
		case e.Type == "text_end":
			b.WriteString(e.Text)
		case e.Stop == "error":
			message := e.Message
			if message == "" {
				message = "Unknown error"
			}
			return "", fmt.Errorf("%s: %w", label, errors.New(message))
		}
	}
	return b.String(), nil
}

func TestPort(t *testing.T) { // B
	var p Port
	if got := (Usage{100, 50, 20, 10, 999}).Sum(); got != 180 {
		t.Errorf("usage %d", got)
	}
	for _, m := range []*Message{
		user(long(400)),
		{Role: "assistant", Blocks: []Block{{Type: "thinking", Text: long(400)}}},
		result(long(400)),
		{Role: "branchSummary", Summary: long(400)},
		{Role: "compactionSummary", Summary: long(400)},
	} {
		if got := p.Estimate(m); got != 100 {
			t.Errorf("%s: %d", m.Role, got)
		}
	}
	if p.Estimate(user("")) < 1 || p.Estimate(&Message{Role: "user", Blocks: []Block{{Type: "image"}}}) != 1200 || p.Estimate(user(long(7))) != 1 {
		t.Error("small messages and images")
	}
	good, bad, none := assistant("a", 100, 50), assistant("a", 1, 1), assistant("a", 1, 1)
	bad.Stop, none.Stop = "error", ""
	if p.Usage(good) == nil || p.Usage(bad) != nil || p.Usage(none) != nil || p.Usage(user("u")) != nil || p.LastUsage(nil) != nil || p.LastUsage([]*Message{good, bad}) != good.Usage {
		t.Error("usage by stop reason")
	}
	if c := p.Context([]*Message{user(long(40)), good}); c.Usage != 150 || c.Index != 1 {
		t.Errorf("context %+v", c)
	}
	if c := p.Context([]*Message{user(long(40)), result(long(40))}); c.Tokens != 20 || c.Index != -1 {
		t.Errorf("context %+v", c)
	}
	f := FileOps{}
	for _, m := range []*Message{call("read", `{"path":"a"}`), call("read", `{"path":"b"}`), call("edit", `{"path":"b"}`), call("write", `{"path":"c"}`), user("read")} {
		f.AddMessage(m)
	}
	if r, m := f.Lists(); !reflect.DeepEqual(r, []string{"a"}) || !reflect.DeepEqual(m, []string{"b", "c"}) {
		t.Errorf("files %v %v", r, m)
	}
	path := Path(chain(user("1"), user("2"), compaction("S", "2"), user("4")), "")
	if p.PreviousCompaction(path) != 2 || p.PreviousCompaction(path[:2]) != -1 || p.Start(path, -1) != 0 || p.Start(path, 2) != 1 {
		t.Error("previous compaction and start")
	}
	path[2].FirstKept = "gone"
	if p.Start(path, 2) != 3 || len(p.Collect(path, 0, 4)) != 3 || p.CutPoints(path, 1, 1) != nil || cutOf(nil, 5).Kept != 0 {
		t.Error("start, range and cut points")
	}
	prompt := p.Prompt("C", "", "", "BASE", "UPDATE")
	again := p.Prompt("C", "P", "F", "BASE", "UPDATE")
	if !strings.Contains(prompt, "<conversation>\nC\n</conversation>") || !strings.HasSuffix(prompt, "BASE") || !strings.Contains(again, "UPDATE") || !strings.HasSuffix(again, "F") {
		t.Errorf("prompts %q %q", prompt, again)
	}
	if got := Serialize([]*Message{user("hello"), assistant("world", 0, 0), result("out")}); got != "[User]: hello\n\n[Assistant]: world\n\n[Tool result]: out" {
		t.Errorf("serialised %q", got)
	}
	failed := result(long(5000))
	failed.Stop = "error"
	out := p.Prune([]*Message{result(long(200)), result(long(201)), result(long(5000)), failed, result(long(160000))}, 40000, "[gone]")
	if contentText(out[0], "") != long(200) || out[1].Text != "[gone]" || len(out[2].Text) != 200+200+len("\n[gone]\n") || contentText(out[3], "") != long(5000) || contentText(out[4], "") != long(160000) {
		t.Errorf("pruned: %d %q %d", len(contentText(out[0], "")), out[1].Text, len(out[2].Text))
	}
}

// B: event text extraction.
func TestPortEventText(t *testing.T) {
	var port Port
	for _, c := range []struct {
		name   string
		events []Event
		want   string
		err    string
	}{
		{"none", nil, "", ""},
		{"joined", []Event{{Type: "text_delta", Text: "he"}, {Type: "text_end", Text: "hello "}, {Type: "text_end", Text: "world"}, {Type: "end", Stop: "stop"}}, "hello world", ""},
		{"error", []Event{{Type: "text_end", Text: "hel"}, {Type: "end", Stop: "error", Message: "529 overloaded"}}, "", "Summarization failed: 529 overloaded"},
		{"error without words", []Event{{Type: "end", Stop: "error"}}, "", "Summarization failed: Unknown error"},
	} {
		got, err := port.EventText(c.events, "Summarization failed")
		if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}
