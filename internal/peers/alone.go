package peers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/replay"
	"github.com/winnow-llm/winnow/internal/workset"
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
// touched last are shown again, 5,000 tokens of each. Recorded ones went from 167,000
// tokens to about 50,000 so, their system prompt and tools included.
type claudeRun struct {
	*replay.Working
}

const claudeFiles, claudeFile = 5, 5000

func (c *claudeRun) Next(_ context.Context, h chat.History, _ replay.Moment) (replay.Sent, error) {
	c.Grow(h)
	if !c.Over() {
		return c.Sent(), nil
	}
	call := c.Asked()
	m := chat.TextMessage(chat.User, replay.StandIn(h.Len()))
	c.Declare(&m, replay.StandInTokens)
	c.Drop(len(c.Msgs), append([]*chat.Message{&m}, c.files(h)...)...)
	return c.Sent(call), nil
}

// files are the messages that show files again as they stand, the newest last.
func (c *claudeRun) files(h chat.History) []*chat.Message {
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
		one := chat.TextMessage(chat.User, fmt.Sprintf("%s\n~~~~~~~~\n%s\n~~~~~~~~\n", f.Path, c.Counter().Truncate(text.String(), claudeFile)))
		if out = append(out, &one); len(out) == claudeFiles {
			break
		}
	}
	slices.Reverse(out)
	return out
}
