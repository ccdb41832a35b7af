package source

import (
	"cmp"
	"fmt"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transcript"
)

// Window returns the window that the session's agent worked in, for a model as
// the registry knows it. It has no tokens where nothing but the model decides.
//
// What the file states counts before what it proves, and that before what is
// known of the agent and of the model:
//
//  1. Codex states its window with every count of tokens.
//  2. A prompt that the provider took proves that the window was as large. A
//     compaction that the agent made by itself at N tokens proves that its
//     window was not larger than N and what the agent keeps free; the
//     later of the two counts, since people change models.
//  3. What the table of agents says: Claude Code has 200,000 tokens of some models.
//  4. The model's own.
//
// A compaction that a person asked for proves nothing, and neither does one of
// which the file does not say who asked for it, as those of pi.
func (s *Session) Window(m model.Model) model.Window {
	w := s.windowWithoutOwn(m)
	agent, ok := table.OfFormat(string(s.Format))
	if !ok || s.Body != nil {
		return w
	}
	if w.Tokens > 0 {
		w.Own = agent.Own.Point(w.Tokens)
	} else if known := agent.WindowOf(m, agent.AsksMillion(s.Model)); known.Tokens == 0 {
		w.Own = known.Own
	}
	// Its point is where it compacted last, unless it held more since: its versions
	// differ, and people change it or switch it off. A little more proves nothing,
	// as the count of an answer lacks the messages added before the compaction.
	at, auto := s.compactedAt()
	held := budget.OwnShare * float64(s.largestContext(at))
	if auto > 0 && held <= float64(auto) && (w.Own == 0 || auto < w.Own) {
		w.Own = auto
	}
	if held > float64(w.Own) {
		w.Own = 0
	}
	return w
}

// windowWithoutOwn is [Session.Window] but for the point at which the agent compacts it.
func (s *Session) windowWithoutOwn(m model.Model) model.Window {
	if s.Body != nil {
		return model.Window{} // a request, not a session of an agent
	}
	if s.Stated > 0 {
		return model.Window{Tokens: s.Stated, Prompt: true, Source: model.WindowStated, Why: "as stated in the file"}
	}
	at, auto := s.compactedAt()
	largest := s.largestContext(at)
	if s.Format == transcript.ClaudeCode {
		return s.claudeWindow(m, auto, largest)
	}
	if auto == 0 || largest > auto {
		return model.Window{}
	}
	w := model.Window{Tokens: auto, Source: model.WindowProven}
	if agent, ok := table.OfFormat(string(s.Format)); ok {
		w.Tokens = max(auto, agent.Own.Window(auto))
	}
	if m.Context > 0 && m.Context <= w.Tokens {
		return model.Window{} // the model's own window is not larger
	}
	w.Why = fmt.Sprintf("no more, as the agent compacted automatically at %s", text.Number(auto))
	return w
}

// claudeWindow is [Session.windowWithoutOwn] for Claude Code.
func (s *Session) claudeWindow(m model.Model, auto, largest int) model.Window {
	agent, _ := table.OfFormat(string(s.Format))
	own := agent.WindowOf(m, agent.AsksMillion(s.Model))
	known, most := cmp.Or(own.Tokens, m.Context), max(auto, largest)
	w := model.Window{Tokens: agent.Holding(most), Source: model.WindowProven}
	switch {
	case most > known:
		w.Why = fmt.Sprintf("Claude Code's with [1m], as it held %s tokens", text.Number(most))
		return w
	case auto > 0 && largest <= auto && w.Tokens <= known:
		w.Why = fmt.Sprintf("no more, as Claude Code compacted automatically at %s", text.Number(auto))
		return w
	}
	return own
}

// compactedAt returns the message before which the agent last compacted by
// itself, and the tokens that it had then; 0 where it never did or the file does
// not tell how many there were.
func (s *Session) compactedAt() (message, tokens int) {
	for i := len(s.Compactions) - 1; i >= 0; i-- {
		if c := &s.Compactions[i]; c.Automatic() && c.TokensBefore > 0 {
			return c.At, c.TokensBefore
		}
	}
	return 0, 0
}

// largestContext returns the most tokens that the provider reported for a call and its
// answer, from a message on.
func (s *Session) largestContext(from int) int {
	most := 0
	for i := from; i < s.Request.History.Len(); i++ {
		if u := s.Request.History.At(i).Usage; u != nil {
			most = max(most, u.Context())
		}
	}
	return most
}

// Known returns what the file says of the conversation for the engine: what the
// provider reported for its prompts. An agent's file has neither its system
// prompt nor its tools, which may be a tenth of the window; the reports have them.
func (s *Session) Known(w *winnow.Winnow) winnow.State {
	if s.Body != nil {
		return winnow.State{}
	}
	t := w.Heard(&s.Request, s.Model, s.Reported())
	if !t.Known() {
		return winnow.State{}
	}
	t.LearnAnswers(s.Request.History)
	return t.State()
}

// Reported returns how many messages the provider's reports are about: up to the agent's
// first compaction, from which on it left something out that the file still has.
func (s *Session) Reported() int {
	n := s.Request.History.Len()
	for _, c := range s.Compactions {
		n = min(n, c.At)
	}
	return n
}
