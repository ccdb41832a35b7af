package peers

import (
	"context"
	"regexp"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
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
func (n neurolink) Begin(s replay.Setup) (replay.Compactor, error) {
	return &neuroRun{Working: replay.NewWorking(s), llm: n.llm}, nil
}

type neuroRun struct {
	*replay.Working
	llm bool
}

func (n *neuroRun) Next(_ context.Context, h chat.History, _ replay.Moment) (replay.Sent, error) {
	n.Grow(h)
	var calls []replay.SummaryCall
	if n.Over() {
		target := int(neuroTarget * float64(n.Window))
		n.prune()
		if n.Size > target {
			n.deduplicate()
		}
		if n.Size > target && n.llm {
			calls = n.summarise()
		}
		if n.Size > target {
			n.slide()
		}
	}
	return n.Sent(calls...), nil
}

// prune clears older tool results.
func (n *neuroRun) prune() {
	// In a small window both together exceed the trigger, and nothing would ever
	// be pruned: there they shrink with the window.
	window := min(n.Window, neuroWindow)
	protect, minimum := neuroProtect*window/neuroWindow, neuroMinimum*window/neuroWindow
	msgs, saved, seen := append([]*chat.Message{}, n.Msgs...), 0, 0
	for i := len(msgs) - 1; i >= 0; i-- {
		m := msgs[i]
		if !m.Has(chat.ToolResult) || protected(m) {
			continue
		}
		if seen += n.Tokens(m); seen <= protect {
			continue
		}
		cleared := replay.MaskResults(m, func(*chat.Part) string { return "[Tool result cleared]" })
		if d := n.Tokens(m) - n.Tokens(cleared); d > 0 {
			saved += d
			msgs[i] = cleared
		}
	}
	if saved >= minimum {
		n.Set(msgs, n.From)
	}
}

// protected reports whether a message carries a result of the tool "skill".
func protected(m *chat.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p chat.Part) bool { return p.Kind == chat.ToolResult && p.Name == "skill" })
}

// deduplicate keeps the latest read of each file.
func (n *neuroRun) deduplicate() {
	msgs, saved := append([]*chat.Message{}, n.Msgs...), 0
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
		short := replay.MaskResults(m, func(*chat.Part) string { return "[File " + path + " - refer to latest read below]" })
		if d := n.Tokens(m) - n.Tokens(short); d > 0 {
			saved += d
			msgs[i] = short
		}
	}
	if n.Size > 0 && float64(saved) >= neuroDedup*float64(n.Size) {
		n.Set(msgs, n.From)
	}
}

// summarise replaces all but the newest messages.
func (n *neuroRun) summarise() []replay.SummaryCall {
	if len(n.Msgs) <= 4 {
		return nil
	}
	cut := len(n.Msgs) - max(4, int(neuroRecent*float64(len(n.Msgs))))
	if cut < 1 || cut == 1 && n.From[0] < 0 {
		return nil
	}
	input := 0
	for _, m := range n.Msgs[:cut] {
		input += n.Tokens(m)
	}
	m := chat.TextMessage(chat.System, replay.StandIn(n.UpTo(cut)))
	n.Declare(&m, replay.StandInTokens)
	n.Drop(cut, &m)
	return []replay.SummaryCall{{Input: input, Output: replay.StandInTokens}}
}

// slide removes the oldest half of what follows the first two messages.
func (n *neuroRun) slide() {
	if len(n.Msgs) <= 4 {
		return
	}
	first := 2
	rest := len(n.Msgs) - first
	remove := int(neuroSlide * float64(rest))
	remove -= remove % 2
	if remove == 0 {
		return
	}
	marker := chat.TextMessage(chat.System, "[Earlier conversation history was truncated to fit within context limits]")
	msgs := append(append(append([]*chat.Message{}, n.Msgs[:first]...), &marker), n.Msgs[first+remove:]...)
	from := append(append(append([]int{}, n.From[:first]...), -1), n.From[first+remove:]...)
	n.Set(msgs, from)
}
