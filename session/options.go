package session

import (
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/redact"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/summary"
)

// Options say how a session is opened. Nil and the zero value work.
type Options struct {
	// Settings are the engine's. Where they name no model, the session's last
	// counts.
	Settings winnow.Settings

	// Live, where it is set, is asked before every check for the settings that
	// hold for the model which answers, so that a change of them takes effect at
	// once. They take the place of Settings. It must be safe for concurrent use.
	Live func(provider, model string) Live

	// Registry, Summarizer and Kinds are as in [winnow.Options].
	Registry   *model.Registry
	Summarizer summary.Summarizer
	Kinds      *winnow.ToolKinds

	// System and Tools are those of the requests. By default they are the ones
	// that stand in the session.
	System []chat.Part
	Tools  []chat.ToolDef

	// Output and Rules are as in [chat.Request].
	Output int
	Rules  chat.Rules

	// Provider and Model are who answered in a conversation that [Import] takes
	// in, as far as its messages do not say; "" is unknown. They are noted before
	// the first message, so that the right window is used and signatures go back
	// to the provider that made them.
	Provider, Model string

	// Agent is the window that the agent worked in whose conversation this is,
	// where that is known; it holds while Model answers. See [winnow.Options].
	Agent model.Window

	// Hooks are called in order. HookTimeout is how long one may take; the
	// default is 10 seconds.
	Hooks       []Hooks
	HookTimeout time.Duration

	// Redact, where it is set, takes secrets out of messages before they are
	// written or kept.
	Redact *Redactor

	// Manual switches compaction by [Session.Next] and [Session.End] off.
	Manual bool

	// Leaf is the entry to continue from; by default the last one.
	Leaf string

	// Recover makes the best of a damaged tree instead of refusing it: an entry
	// whose parent is missing follows the entry written before it, and a compaction
	// whose kept entry is missing keeps nothing. [Session.Notes] say what is
	// missing.
	Recover bool

	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// Live is the settings in force at one moment: the engine's, and those of the
// session around it.
type Live struct {
	Settings winnow.Settings

	// Auto switches compaction by [Session.Next] and [Session.End]; nil leaves it
	// to [Options.Manual].
	Auto *bool

	// Redact takes well-known forms of secrets out of messages, unless
	// [Options.Redact] says more.
	Redact bool

	// Keep says which sessions stay when a new one is made.
	Keep Retention

	// Hooks are commands that are run after the hooks of [Options].
	Hooks []Command
}

// Redactor takes secrets out of messages. The zero value knows the forms in
// which well-known services issue their keys; Values are further secrets by
// themselves, Patterns further forms.
type Redactor = redact.Redactor

// redactorInUse returns what takes secrets out of this session's messages; nil for
// nothing.
func (s *Session) redactorInUse() *Redactor {
	if s.o.Redact == nil && s.o.Live("", "").Redact {
		return &Redactor{}
	}
	return s.o.Redact
}

// cleanText takes secrets out of a text that a hook supplied.
func (s *Session) cleanText(text string) string {
	if r := s.redactorInUse(); r != nil {
		text, _ = r.Text(text)
	}
	return text
}
