package peers

import (
	"regexp"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/text"
)

// neurolink is the pipeline of four stages (seed 004): prune tool output,
// deduplicate file reads, summarise with an LLM, slide the window; each only
// while still over the target. Without an LLM the third stage fails and the
// fourth follows. Its repair of pairs afterwards is left out, since validity is
// looked at before any repair.
func neurolink(llm bool) func(*replay.Working, chat.History) replay.Sent {
	return func(w *replay.Working, _ chat.History) replay.Sent {
		var calls []replay.SummaryCall
		target := int(neuroTarget * float64(w.Window))
		// In a small window both together exceed the trigger, and nothing would
		// ever be pruned: there they shrink with the window.
		window := min(w.Window, neuroWindow)
		protect, minimum := neuroProtect*window/neuroWindow, neuroMinimum*window/neuroWindow-1
		pruneOutput(w, "[Tool result cleared]", protect, minimum, func(int) bool { return true })
		if w.Size > target {
			deduplicateReads(w)
		}
		if w.Size > target && llm {
			calls = summariseOld(w)
		}
		if w.Size > target {
			slideMiddle(w)
		}
		return w.Sent(calls...)
	}
}

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

// deduplicateReads keeps the latest read of each file.
func deduplicateReads(n *replay.Working) {
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

// summariseOld replaces all but the newest messages.
func summariseOld(n *replay.Working) []replay.SummaryCall {
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
	n.Summarise(chat.System, cut, n.UpTo(cut))
	return []replay.SummaryCall{{Input: input, Output: replay.StandInTokens}}
}

// slideMiddle removes the oldest half of what follows the first two messages.
func slideMiddle(n *replay.Working) {
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
