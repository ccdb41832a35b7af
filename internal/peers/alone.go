package peers

import (
	"context"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/replay"
)

// alone is the agent that wrote a session without winnow: it compacts at its own
// point and in its own way. Agents of which nothing is known do as pi does, at the
// trigger.
type alone struct{}

// Alone returns the agent that wrote a session, without winnow.
func Alone() replay.Policy { return alone{} }

func (alone) Name() string    { return "alone" }
func (alone) Simulated() bool { return true }

func (alone) Begin(s replay.Setup) (replay.Compactor, error) {
	if at := s.Agent.Own.Point(s.Window); at > 0 {
		s.Trigger = at
	}
	switch s.Agent.Name {
	case "claude":
		return &claudeRun{Working: replay.NewWorking(s)}, nil
	case "codex":
		return codex{}.Begin(s)
	case "opencode":
		return opencode{}.Begin(s)
	}
	return pi{piKeep}.Begin(s)
}

// claudeRun does as Claude Code: an LLM summarises everything, and the five files
// read last are shown again, 5,000 tokens of each. Recorded ones went from 167,000
// tokens to about 50,000 so, their system prompt and tools included.
type claudeRun struct {
	*replay.Working
	standIn replay.StandIn
}

const claudeFiles, claudeFile = 5, 5000

func (c *claudeRun) Next(_ context.Context, h chat.History, _ replay.Moment) (replay.Sent, error) {
	c.Grow(h)
	if !c.Over() {
		return c.Sent(), nil
	}
	call := c.Asked()
	m := chat.TextMessage(chat.User, c.standIn.Update(h, 0, h.Len()))
	c.Declare(&m, replay.StandInTokens)
	c.Drop(len(c.Msgs), append([]*chat.Message{&m}, c.files(h)...)...)
	return c.Sent(call), nil
}

// files are the messages that show files again, the newest last.
func (c *claudeRun) files(h chat.History) []*chat.Message {
	calls := map[string]*chat.Part{}
	for _, m := range h.All() {
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == chat.ToolCall {
				calls[p.ID] = p
			}
		}
	}
	var out []*chat.Message
	seen := map[string]bool{}
	for i := h.Len() - 1; i >= 0; i-- {
		m := h.At(i)
		for k := len(m.Parts) - 1; k >= 0 && len(out) < claudeFiles; k-- {
			p := &m.Parts[k]
			if p.Kind != chat.ToolResult || p.Failed || calls[p.ID] == nil {
				continue
			}
			if a := evidence.DefaultKinds().Access(calls[p.ID]); a.Kind == evidence.Read && a.Path != "" && !seen[a.Path] {
				seen[a.Path] = true
				one := chat.TextMessage(chat.User, fmt.Sprintf("%s\n%s", a.Path, c.Counter().Truncate(p.Text, claudeFile)))
				out = append(out, &one)
			}
		}
	}
	slices.Reverse(out)
	return out
}
