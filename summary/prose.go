package summary

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// Words with which an agent says what it decided or found out.
var decisionMarks = []string{
	"because", "root cause", "the problem is", "the issue is", "the issue was", "the problem was", "decided", "decision", "instead of", "the fix",
	"turns out", "it seems", "this means", "caused by", "due to", "found that", "found the", "confirmed", "the reason", "rather than", "should use",
	"will use", "we need to", "i need to", "need to", "conclusion", "therefore", "so the", "fails because", "works because", "verified", "important", "note that",
	"entscheid", "ursache", "weil ", "porque", "parce que", "потому",
}

func isDecision(s string) bool {
	low := strings.ToLower(s)
	for _, m := range decisionMarks {
		if strings.Contains(low, m) {
			return true
		}
	}
	return false
}

// prose writes what can be told of decisions and of the state of the work
// without a model: sentences of the agent's own that say so, the newest first to be taken.
func (c *composer) prose(room float64) string {
	if room < 24 {
		return ""
	}
	state := c.state(int(room * 0.4))
	room -= float64(c.count(state)) + 8
	type pick struct {
		at   int
		text string
	}
	var picks []pick
	seen := map[string]bool{}
	s := c.scan
	for i := len(s.lines) - 1; i >= 0 && room > 8; i-- {
		l := &s.lines[i]
		if l.from != fromAssistant || len(l.text) < 24 || !isDecision(l.text) || seen[l.text] {
			continue
		}
		text := clipAround(l.text, 0, 240)
		if strings.Contains(state, text) {
			continue
		}
		n := float64(c.count(text)) + 2
		if n > room {
			continue
		}
		seen[l.text] = true
		room -= n
		picks = append(picks, pick{i, text})
	}
	var b strings.Builder
	if len(picks) > 0 {
		b.WriteString("## " + SectionDecisions + "\n")
		for i := len(picks) - 1; i >= 0; i-- {
			b.WriteString("- " + quoteLine(strings.TrimLeft(picks[i].text, "-*• ")) + "\n")
		}
	}
	if state != "" {
		b.WriteString("## " + SectionState + "\n- " + state + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// state is what the agent said last.
func (c *composer) state(most int) string {
	keep := map[int]bool{}
	for _, k := range c.in.Keep {
		keep[k] = true
	}
	for i := c.in.To - 1; i >= c.in.From; i-- {
		m := c.in.History.At(i)
		if m.Role != chat.Assistant || keep[i] {
			continue
		}
		if t := strings.TrimSpace(m.Text()); t != "" {
			return quoteLine(c.in.Counter.Truncate(clipText(t, 2000), min(most, 120)))
		}
	}
	return ""
}
