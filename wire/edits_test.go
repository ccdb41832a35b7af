package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/plan"
)

// randomEdits proposes edits of all kinds over a history, as stages would:
// masks, runs with kept messages, and the repairs that it needs.
func randomEdits(r *rand.Rand, h chat.History) []plan.Edit {
	o := chat.NewOutline(h)
	var edits []plan.Edit
	taken := make([]bool, h.Len()+1)
	for range r.IntN(3) {
		from := o.CutBefore(r.IntN(h.Len()))
		to := o.CutBefore(min(h.Len()-1, from+1+r.IntN(6)))
		if to <= from || slices.ContainsFunc(edits, func(e plan.Edit) bool { return from < e.To && e.From < to }) {
			continue
		}
		e := plan.Edit{Kind: plan.Fold, From: from, To: to, Part: -1, Text: fmt.Sprintf("Summary of \"%d\" to %d\n", from, to), Stage: "fold"}
		if r.IntN(2) == 0 {
			e.Kind = plan.Drop
		}
		for i := from + 1; i < to; i++ { // keep whole exchanges and single messages
			if x := o.ExchangeOf(i); x < 0 && h.At(i).Role == chat.User && r.IntN(3) == 0 {
				e.Keep = append(e.Keep, i)
			} else if x >= 0 && o.Exchanges[x].From == i && r.IntN(3) == 0 {
				for ; i < o.Exchanges[x].To; i++ {
					e.Keep = append(e.Keep, i)
				}
				i--
			}
		}
		for i := from; i < to; i++ {
			taken[i] = true
		}
		for _, k := range e.Keep {
			taken[k] = false
		}
		edits = append(edits, e)
	}
	if r.IntN(5) == 0 {
		at := o.CutBefore(r.IntN(h.Len()))
		if !slices.ContainsFunc(edits, func(e plan.Edit) bool { return e.From <= at && at < e.To }) {
			edits = append(edits, plan.Edit{Kind: plan.Drop, From: at, To: at, Part: -1, Text: "[marker]", Stage: "truncate"})
		}
	}
	for i := range h.Len() {
		if taken[i] {
			continue
		}
		m := h.At(i)
		repair := repairs(h, o, i)
		edits = append(edits, repair...)
		for k := range m.Parts {
			if slices.ContainsFunc(repair, func(e plan.Edit) bool { return e.Part == k && e.CallID == "" }) || r.IntN(4) != 0 {
				continue
			}
			if e, ok := maskOf(r, i, k, &m.Parts[k]); ok {
				edits = append(edits, e)
			}
		}
	}
	return edits
}

func maskOf(r *rand.Rand, i, k int, p *chat.Part) (plan.Edit, bool) {
	e := plan.Edit{Kind: plan.Mask, From: i, To: i + 1, Part: k, Text: "[masked \"" + p.Kind.String() + "\"]", Stage: "prune"}
	switch {
	case p.Kind == chat.Thinking:
		e.Text = ""
	case p.Kind == chat.Opaque:
		return e, false // pairs go together; tested by hand
	case p.Signature != "":
		return e, false
	case p.Kind == chat.ToolCall:
		if e.Text = `{"short":"\"x\""}`; strings.HasPrefix(p.Args, `{"input":`) {
			e.Text = `{"input":"x"}`
		}
	case p.Kind == chat.ToolResult && r.IntN(5) == 0:
		e.Text = ""
	case (p.Kind == chat.Image || p.Kind == chat.Text) && r.IntN(5) == 0:
		e.Text = ""
	}
	return e, true
}

// repairs answers open calls and turns orphans into words, or removes them.
func repairs(h chat.History, o *chat.Outline, i int) []plan.Edit {
	m := h.At(i)
	var out []plan.Edit
	x := o.ExchangeOf(i)
	for k := range m.Parts {
		p := &m.Parts[k]
		e := plan.Edit{Kind: plan.Answer, From: i, To: i + 1, Part: k, Stage: "repair"}
		switch {
		case p.Kind == chat.ToolCall && x >= 0 && o.Exchanges[x].From == i && slices.Contains(o.Exchanges[x].Open, p.ID):
			e.CallID, e.Text = p.ID, "(no result)"
		case p.Kind == chat.ToolResult && x < 0:
			if e.Text = "orphan said: " + p.Text; i%2 == 0 && len(m.Parts) > 1 {
				e.Text = ""
			}
		default:
			continue
		}
		out = append(out, e)
	}
	return out
}

// normal returns messages in the form in which two dialects' orders agree:
// without provenance, positional ids, and order that the wire cannot hold.
func normal(d Dialect, msgs []chat.Message) []chat.Message {
	var out []chat.Message
	for _, m := range msgs {
		c := chat.Message{Role: m.Role}
		var first, rest []chat.Part
		for _, p := range m.Parts {
			if d == Gemini && (p.Kind == chat.ToolCall || p.Kind == chat.ToolResult) {
				p.ID = ""
			}
			if d == Responses && p.Kind == chat.Thinking {
				continue // reasoning goes with the item it belongs to; tested by hand
			}
			if d == Responses && p.Kind == chat.Opaque {
				continue // and so do the provider's own calls
			}
			if d != Gemini && p.Kind == chat.ToolResult {
				p.Name = "" // answers know it, the wire has no place for it
			}
			if len(p.Content) == 0 {
				p.Content = nil
			}
			last := p.Kind == chat.ToolCall && d == OpenAI || p.Kind != chat.ToolResult && d == Anthropic && m.Role == chat.User
			if last {
				rest = append(rest, p)
			} else {
				first = append(first, p)
			}
		}
		c.Parts = append(first, rest...)
		if n := len(out); d == Responses && n > 0 && c.Role == out[n-1].Role {
			out[n-1].Parts = append(out[n-1].Parts, c.Parts...)
			continue
		}
		if d == Responses && len(c.Parts) == 0 {
			continue
		}
		out = append(out, c)
	}
	return out
}

func show(msgs []chat.Message) string {
	var b strings.Builder
	for i, m := range msgs {
		fmt.Fprintf(&b, "%d %s %+v\n", i, m.Role, m.Parts)
	}
	return b.String()
}

// checkView encodes a view twice and reads it back.
func checkView(t *testing.T, what string, b *Body, v plan.View) []byte {
	t.Helper()
	out, err := b.Encode(v)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	again, err := b.Encode(v)
	if err != nil || !bytes.Equal(out, again) {
		t.Fatalf("%s: two encodings differ (%v)", what, err)
	}
	back, err := Parse(b.Dialect(), out)
	if err != nil {
		t.Fatalf("%s: %v\n%s", what, err, out)
	}
	want, got := normal(b.Dialect(), v.Messages()), normal(b.Dialect(), back.Request().History.Messages())
	if show(want) != show(got) {
		w, g := strings.Split(show(want), "\n"), strings.Split(show(got), "\n")
		for i := range min(len(w), len(g)) {
			if w[i] != g[i] {
				t.Fatalf("%s: message %d of %d/%d\nview:    %s\nencoded: %s", what, i, len(w), len(g), w[i], g[i])
			}
		}
		t.Fatalf("%s: %d messages in the view, %d in the body\n%s\n%s", what, len(w), len(g), show(want), show(got))
	}
	if !bytes.Equal(b.raw[:b.list.From], out[:back.list.From]) || !bytes.Equal(b.raw[b.list.To:], out[back.list.To:]) {
		t.Fatalf("%s: bytes outside the messages changed", what)
	}
	return out
}

func TestEdits(t *testing.T) {
	for _, d := range Dialects() {
		t.Run(string(d), func(t *testing.T) {
			edits, broken := 0, 0
			for seed := range uint64(race.Fewer(500)) {
				g := newGen(d, seed)
				g.broken = seed%3 == 0
				raw := []byte(g.body(g.conversation(5 + g.IntN(30))))
				b, err := Parse(d, raw)
				if err != nil {
					t.Fatal(err)
				}
				h, rules := b.Request().History, b.Request().Rules
				if seed%5 == 4 {
					rules = chat.AllDialects()
				}
				if seed%7 == 6 {
					rules.Alternate = true
				}
				p, err := plan.Compose(nil, h, rules, nil, randomEdits(g.Rand, h)...)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				v, err := plan.Apply(h, p)
				if err != nil {
					t.Fatal(err)
				}
				edits += len(p.Edits)
				out := checkView(t, fmt.Sprintf("%s seed %d", d, seed), b, v)
				if ps := b.Request().Rules.Check(v); len(ps) > 0 {
					broken++ // plan's own tests look after that
				} else if ps := slices.DeleteFunc(Validate(d, out), func(p Problem) bool {
					// Stages keep the thinking of an open loop; these edits do not care.
					return p.Rule == ruleThinking && b.Request().Rules.LeadThinking
				}); len(ps) > 0 {
					t.Fatalf("seed %d: the view obeys the rules but the body is refused: %v\n%s", seed, ps, out)
				}
			}
			if edits < race.Fewer(1000) {
				t.Errorf("only %d edits were tried", edits)
			}
			if broken > 50 {
				t.Errorf("%d of 500 views break the rules", broken)
			}
		})
	}
}

// span returns the bytes from the list's start to the end of its last element.
func messagesSpan(t *testing.T, d Dialect, raw []byte) []byte {
	t.Helper()
	b, err := Parse(d, raw)
	if err != nil {
		t.Fatal(err)
	}
	return raw[b.list.From:b.elems[len(b.elems)-1].To]
}

func TestViewsExtend(t *testing.T) {
	for _, d := range Dialects() {
		t.Run(string(d), func(t *testing.T) {
			grown := 0
			for seed := range uint64(race.Fewer(150)) {
				g := newGen(d, seed)
				g.broken = seed%4 == 0
				elems := g.conversation(10 + g.IntN(20))
				var prev []byte
				var prevBody *Body
				var p *plan.Plan
				for n := len(elems) / 2; n <= len(elems); n += 1 + g.IntN(4) {
					raw := []byte(g.bodyWith(seed, elems[:n]))
					var b *Body
					var err error
					if prevBody == nil {
						b, err = Parse(d, raw)
					} else {
						b, err = prevBody.Next(raw)
					}
					if err != nil {
						t.Fatal(err)
					}
					h := b.Request().History
					if fresh, err := Parse(d, raw); err != nil || fresh.Request().History.Chain(h.Len()) != h.Chain(h.Len()) {
						t.Fatalf("seed %d: the next body of a conversation reads differently (%v)", seed, err)
					}
					if p == nil {
						if p, err = plan.Compose(nil, h, b.Request().Rules, nil, randomEdits(g.Rand, h)...); err != nil {
							t.Fatal(err)
						}
					}
					if !p.Covers(h) { // an answer that was cut short went on: a new history
						p, prev, prevBody = nil, nil, nil
						continue
					}
					v, err := plan.Apply(h, p)
					if err != nil {
						t.Fatal(err)
					}
					out := messagesSpan(t, d, checkView(t, fmt.Sprintf("%s seed %d", d, seed), b, v))
					if prev != nil && !bytes.HasPrefix(out, prev) {
						t.Fatalf("seed %d: the longer view does not extend the shorter one\n%s\n%s", seed, prev, out)
					}
					if prev != nil {
						grown++
					}
					prev, prevBody = out, b
				}
			}
			if grown < race.Fewer(200) {
				t.Errorf("only %d views grew", grown)
			}
		})
	}
}
