package peers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/workset"
)

// Alone returns the agent that wrote a session, without winnow: it compacts at its
// own point and in its own way. Agents of which nothing is known do as pi does, at the
// trigger.
func Alone() replay.Policy {
	return replay.Policy{Name: "alone", LLM: true, Begin: func(s replay.Setup) (replay.Step, error) {
		if at := s.Agent.Own.Point(s.Window); at > 0 {
			s.Trigger = at
		}
		compact, each := cutAndSummarise, func(*replay.Working) {}
		switch s.Agent.Name {
		case "claude":
			compact = summariseAndShowFiles
		case "codex":
			compact = keepUser
		case "opencode":
			compact, each = summariseAll, pruneTurns
		}
		return replay.Keeping("", true, each, compact).Begin(s)
	}}
}

const claudeFiles, claudeFile = 5, 5000

// summariseAndShowFiles does as Claude Code: an LLM summarises everything, and the five files
// touched last are shown again, 5,000 tokens of each. Recorded ones went from 167,000
// tokens to about 50,000 so, their system prompt and tools included.
func summariseAndShowFiles(w *replay.Working, h chat.History) replay.Sent {
	call := w.Asked()
	w.Summarise(chat.User, len(w.Msgs), h.Len(), fileMessages(w, h)...)
	return w.Sent(call)
}

// fileMessages returns the messages that show files again as they stand, the newest last.
func fileMessages(w *replay.Working, h chat.History) []*chat.Message {
	set := workset.New(nil)
	for i := range h.Len() {
		set.Add(h, i)
	}
	var out []*chat.Message
	for _, f := range set.Files() {
		if f.Deleted {
			continue
		}
		var text strings.Builder
		for r := range f.Regions {
			for k := range f.Regions[r].Lines {
				text.WriteString(f.Regions[r].Lines[k].Text + "\n")
			}
		}
		one := chat.TextMessage(chat.User, fmt.Sprintf("%s\n~~~~~~~~\n%s\n~~~~~~~~\n", f.Path, w.Counter().Truncate(text.String(), claudeFile)))
		if out = append(out, &one); len(out) == claudeFiles {
			break
		}
	}
	slices.Reverse(out)
	return out
}
