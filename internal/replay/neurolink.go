package replay

import (
	"context"
	"regexp"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
)

// neurolink is the pipeline of four stages (seed 004): prune tool output,
// deduplicate file reads, summarise with an LLM, slide the window; each only
// while still over the target. Without an LLM the third stage fails and the
// fourth follows. Its repair of pairs afterwards is left out, since validity is
// looked at before any repair.
type neurolink struct{ llm bool }

// The documented constants.
const (
	neuroProtect = 40000  // tokens of newest tool output that are not pruned
	neuroMinimum = 20000  // tokens that pruning must save
	neuroWindow  = 128000 // the window from which on those two are meant
	neuroDedup   = 0.3    // share that deduplicating must save
	neuroRecent  = 0.3    // share of the messages that are not summarised
	neuroTarget  = 0.7    // share of the window that is aimed at
	neuroSlide   = 0.5    // share of the middle that sliding removes
)

// neuroRead is how that system finds file reads.
var neuroRead = regexp.MustCompile(`(?i)(?:read|reading|read_file|readFile|Read file|cat)\s+['"]?([^\s'"\n]+)`)

func (n neurolink) Name() string {
	if n.llm {
		return "neurolink+llm"
	}
	return "neurolink"
}

func (n neurolink) Simulated() bool { return n.llm }
func (n neurolink) Begin(s Setup) (Compactor, error) {
	return &neuroRun{working: newWorking(s), llm: n.llm}, nil
}

type neuroRun struct {
	*working
	llm     bool
	standIn StandIn
}

func (n *neuroRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	n.grow(h)
	var calls []SummaryCall
	if n.over() {
		target := int(neuroTarget * float64(n.Window))
		n.prune()
		if n.total > target {
			n.deduplicate()
		}
		if n.total > target && n.llm {
			calls = n.summarise(h)
		}
		if n.total > target {
			n.slide()
		}
	}
	return n.sent(calls...), nil
}

// prune clears older tool results.
func (n *neuroRun) prune() {
	// In a small window both together exceed the trigger, and nothing would ever
	// be pruned: there they shrink with the window.
	window := min(n.Window, neuroWindow)
	protect, minimum := neuroProtect*window/neuroWindow, neuroMinimum*window/neuroWindow
	msgs, saved, seen := append([]*chat.Message{}, n.msgs...), 0, 0
	for i := len(msgs) - 1; i >= 0; i-- {
		m := msgs[i]
		if !m.Has(chat.ToolResult) || protected(m) {
			continue
		}
		if seen += n.Tokens(m); seen <= protect {
			continue
		}
		cleared := maskResults(m, func(*chat.Part) string { return "[Tool result cleared]" })
		if d := n.Tokens(m) - n.Tokens(cleared); d > 0 {
			saved += d
			msgs[i] = cleared
		}
	}
	if saved >= minimum {
		n.set(msgs, n.from)
	}
}

// protected reports whether a message carries a result of the tool "skill".
func protected(m *chat.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == chat.ToolResult && m.Parts[i].Name == "skill" {
			return true
		}
	}
	return false
}

// deduplicate keeps the latest read of each file.
func (n *neuroRun) deduplicate() {
	msgs, saved := append([]*chat.Message{}, n.msgs...), 0
	latest := map[string]bool{}
	for i := len(msgs) - 1; i >= 0; i-- {
		m := msgs[i]
		if !m.Has(chat.ToolResult) {
			continue
		}
		path := ""
		for k := range m.Parts {
			if found := neuroRead.FindStringSubmatch(text.Head(m.Parts[k].Text, 4096)); found != nil {
				path = found[1]
				break
			}
		}
		if path == "" {
			continue
		}
		if !latest[path] {
			latest[path] = true
			continue
		}
		short := maskResults(m, func(*chat.Part) string { return "[File " + path + " - refer to latest read below]" })
		if d := n.Tokens(m) - n.Tokens(short); d > 0 {
			saved += d
			msgs[i] = short
		}
	}
	if n.total > 0 && float64(saved) >= neuroDedup*float64(n.total) {
		n.set(msgs, n.from)
	}
}

// summarise replaces all but the newest messages.
func (n *neuroRun) summarise(h chat.History) []SummaryCall {
	if len(n.msgs) <= 4 {
		return nil
	}
	cut := len(n.msgs) - max(4, int(neuroRecent*float64(len(n.msgs))))
	if cut < 1 || cut == 1 && n.from[0] < 0 {
		return nil
	}
	input := 0
	for _, m := range n.msgs[:cut] {
		input += n.Tokens(m)
	}
	m := chat.TextMessage(chat.System, n.standIn.Update(h, 0, n.upTo(cut)))
	n.Declare(&m, StandInTokens)
	n.drop(cut, &m)
	return []SummaryCall{{Input: input, Output: StandInTokens}}
}

// slide removes the oldest half of what follows the first two messages.
func (n *neuroRun) slide() {
	if len(n.msgs) <= 4 {
		return
	}
	first := 2
	rest := len(n.msgs) - first
	remove := int(neuroSlide * float64(rest))
	remove -= remove % 2
	if remove == 0 {
		return
	}
	marker := chat.TextMessage(chat.System, "[Earlier conversation history was truncated to fit within context limits]")
	msgs := append(append(append([]*chat.Message{}, n.msgs[:first]...), &marker), n.msgs[first+remove:]...)
	from := append(append(append([]int{}, n.from[:first]...), -1), n.from[first+remove:]...)
	n.set(msgs, from)
}
