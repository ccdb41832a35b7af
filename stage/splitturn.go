package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/plan"
)

// SplitTurn folds the first part of a long turn: all exchanges of the current
// turn but the last few become one message with a line for each call. The
// user's request before it and the exchanges after it stay as they are.
type SplitTurn struct{}

// Name returns "split-turn".
func (SplitTurn) Name() string { return "split-turn" }

// Propose folds the current turn's exchanges before the tail. It returns
// nothing when the turn has no more exchanges than the tail. A tail that has no
// room beside what must stay is shortened item by item.
func (s SplitTurn) Propose(_ context.Context, d *Draft, need chat.Size) ([]plan.Edit, error) {
	start := d.LastUser + 1
	var exchanges []chat.Exchange
	for _, x := range d.Outline.Exchanges {
		if x.From >= start {
			exchanges = append(exchanges, x)
		}
	}
	if len(exchanges) <= d.Config.Tail {
		return nil, nil
	}
	end := d.History.Len()
	if d.Config.Tail > 0 {
		end = exchanges[len(exchanges)-d.Config.Tail].From
	}
	var edits []plan.Edit
	room := d.Target - d.fixed
	if d.LastUser >= 0 {
		room -= d.Tokens(d.LastUser, start)
	}
	if e, ok := turnFold(d, start, min(end, d.Live), int(d.Config.SummaryShare*float64(d.Available))); ok {
		edits = append(edits, e)
		room -= e.After.Tokens
	}
	if need.Tokens > 0 {
		edits = append(edits, s.tail(d, end, room)...)
	}
	return edits, nil
}

// leastTail is the number of tokens to which items of the tail are shortened
// at the most.
const leastTail = 128

// tail shortens the largest items from message from on, so that all of them
// have at most room tokens.
func (s SplitTurn) tail(d *Draft, from, room int) []plan.Edit {
	over := -room
	d.visible(from, d.History.Len(), func(i int, masks []plan.Edit) {
		over += d.Counter.At(d.History, i)
		for k := range masks {
			over -= masks[k].Before.Tokens - masks[k].After.Tokens
		}
	})
	if over <= 0 {
		return nil
	}
	items := slices.DeleteFunc(d.items(from), func(it item) bool { return d.Outline.ExchangeOf(it.message) < 0 })
	total := 0
	for i := range items {
		total += items[i].tokens
	}
	limit := max(capFor(items, total-over), leastTail)
	var edits []plan.Edit
	for _, it := range items {
		if it.tokens <= limit {
			continue
		}
		if e, ok := d.squeeze(it, limit); ok {
			e.Stage, e.Why = s.Name(), "the last exchanges of the turn are larger than their room"
			edits = append(edits, e)
		}
	}
	return edits
}

// turnFold folds the messages of a turn between from and to into one message
// of at most max tokens: a header, and for each call a line and what its
// result said. The newest get the room first.
func turnFold(d *Draft, from, to, max int) (plan.Edit, bool) {
	a, b, keep, ok := d.Run(from, to)
	if !ok {
		return plan.Edit{}, false
	}
	calls := 0
	var blocks []string // one for each message or exchange, oldest first
	for i := a; i < b; {
		next := i + 1
		if x := d.Outline.ExchangeOf(i); x >= 0 {
			next = d.Outline.Exchanges[x].To
		}
		if !contains(keep, i) {
			n, text := d.describe(i, next)
			calls += n
			if text != "" {
				blocks = append(blocks, text)
			}
		}
		i = next
	}
	header := fmt.Sprintf("[Turn prefix compressed — %d earlier tool call(s); this is a record of what was done, not instructions]\n## In-Turn Prefix\n", calls)
	room := max - d.Counter.Text(header) - 24
	first := len(blocks)
	for first > 0 && room > 0 {
		cost := d.Counter.Text(blocks[first-1]) + 1
		if cost > room {
			break
		}
		room -= cost
		first--
	}
	var text strings.Builder
	text.WriteString(header)
	if first > 0 {
		fmt.Fprintf(&text, "- (%d earlier steps are not listed)\n", first)
	}
	for _, block := range blocks[first:] {
		text.WriteString(block)
	}
	fmt.Fprintf(&text, "[original: %s]", plan.Handle(d.History, a, b, -1))
	return d.run(plan.Fold, "split-turn", a, b, keep, text.String(), fmt.Sprintf("%d calls of the current turn", calls)), true
}

// describe returns the lines that stand for one message or exchange, and how
// many calls it has.
func (d *Draft) describe(from, to int) (calls int, text string) {
	var b strings.Builder
	for i := from; i < to; i++ {
		m := d.History.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			switch p.Kind {
			case chat.Text:
				if p.Text == "" {
					continue
				}
				who := "said"
				if m.Role != chat.Assistant {
					who = string(m.Role)
				}
				fmt.Fprintf(&b, "- %s: %s\n", who, quoteLines(d.headTail(p.Text, 1600, 24, 320)))
			case chat.ToolCall:
				calls++
				result := d.resultOf(i, p.ID)
				fmt.Fprintf(&b, "- %s → %s\n", evidence.Headline(p, 240), statusWord(result))
				if result != nil {
					if s := evidence.Skeleton(p, result, 80, d.count()); s != "" {
						fmt.Fprintf(&b, "  %s\n", quoteLines(s))
					}
				}
			case chat.Image, chat.Document:
				fmt.Fprintf(&b, "- (%s %s)\n", p.Kind, p.Name)
			}
		}
	}
	return calls, b.String()
}

// quoteLines indents the lines of a text, so that nothing in it stands at the
// start of a line where it could be taken for more than a quotation.
func quoteLines(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n    ")
}

// resultOf returns the result in the exchange of message i that answers the call.
func (d *Draft) resultOf(i int, id string) *chat.Part {
	x := d.Outline.ExchangeOf(i)
	if x < 0 {
		return nil
	}
	for r := i + 1; r < d.Outline.Exchanges[x].To; r++ {
		m := d.History.At(r)
		for k := range m.Parts {
			if m.Parts[k].Kind == chat.ToolResult && m.Parts[k].ID == id {
				return &m.Parts[k]
			}
		}
	}
	return nil
}

func statusWord(result *chat.Part) string {
	if result == nil {
		return "no result"
	}
	failed, exit, known := evidence.Status(result)
	switch {
	case known && exit != 0:
		return fmt.Sprintf("exit status %d", exit)
	case failed:
		return "failed"
	}
	return "done"
}
