package chat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Rules are what a sequence of messages must obey to be accepted in a dialect.
// They are data: wire supplies those of each dialect, this package checks them.
//
// Some rules hold everywhere and have no field: every call is answered, once,
// and directly after the message that makes it unless LateResults is set; every
// result answers such a call; calls have ids that differ within their message.
type Rules struct {
	// Name of the dialect, for messages to people.
	Name string

	// UserFirst: the first message is a user's.
	UserFirst bool

	// CallAfterInput: a message with calls follows a user's message or results,
	// never another assistant message.
	CallAfterInput bool

	// Alternate: no two messages in a row have the same side, user (with
	// results) or assistant.
	Alternate bool

	// NonEmpty: every message has content. NonEmptyText: no text part beside
	// others is empty.
	NonEmpty, NonEmptyText bool

	// ResultsJoined: results are parts of a user's message, all results of one
	// message's calls together. Otherwise each is a message of role tool.
	ResultsJoined bool

	// LateResults: a result may stand anywhere after its call, with other
	// messages in between.
	LateResults bool

	// BoundThinking: signed thinking is valid only after exactly the messages
	// it was written after.
	BoundThinking bool

	// LeadThinking: an assistant message whose calls were just answered keeps
	// the thinking it starts with.
	LeadThinking bool

	// SystemAnywhere allows system messages after the first message of another
	// role. It forbids nothing: histories that have them elsewhere keep them.
	SystemAnywhere bool

	// MaxImages is the most images in a request; 0 means no limit.
	MaxImages int
}

// AllDialects are rules strict enough for every dialect that winnow speaks. Text
// parts may be empty beside others: the encoder of a message leaves them out.
func AllDialects() Rules {
	return Rules{
		Name:           "every dialect",
		UserFirst:      true,
		CallAfterInput: true,
		NonEmpty:       true,
		BoundThinking:  true,
		LeadThinking:   true,
	}
}

// OrDefault returns the rules, or [AllDialects] for the zero value.
func (r Rules) OrDefault() Rules {
	if r == (Rules{}) {
		return AllDialects()
	}
	return r
}

// Problem is one place where a sequence breaks a rule.
type Problem struct {
	Rule    string `json:"rule"`
	At      int    `json:"at"`   // message
	Part    int    `json:"part"` // part of that message, -1 for the message
	Message string `json:"message"`

	// Call is the id of the call or result that the problem is about, if any.
	Call string `json:"call,omitempty"`
}

// Names of rules in problems.
const (
	RuleUnanswered = "unanswered_call"
	RuleOrphan     = "orphan_result"
	RuleDuplicate  = "duplicate_result"
	RuleCallID     = "call_id"
	RuleUserFirst  = "user_first"
	RuleCallAfter  = "call_after_input"
	RuleAlternate  = "alternate"
	RuleEmpty      = "empty_message"
	RuleEmptyText  = "empty_text"
	RuleRole       = "role"
	RuleImages     = "images"
)

// Check returns every place where the sequence breaks the rules, in order. Calls
// of the last message that still wait for their results count: a request that
// ends like that is refused.
func (r Rules) Check(s Sequence) []Problem {
	c := NewChecker(r)
	var all []Problem
	for i := range s.Len() {
		all = append(all, c.Next(s.At(i))...)
	}
	all = append(all, c.Missing()...)
	return append(all, c.Pending()...)
}

// Checker checks a sequence as it grows. Checking one more message costs that
// message.
type Checker struct {
	rules Rules

	n      int
	images int
	prev   Role // of the last message that is not a system message
	from   int  // the message that made the open calls
	open   callSet

	// late has the messages that made calls whose result did not stand directly
	// after them and may still come, by the call's id. The lists are shared
	// between clones.
	late map[string][]int
}

// NewChecker returns a checker at the start of a sequence.
func NewChecker(r Rules) *Checker { return &Checker{rules: r.OrDefault()} }

// Len returns how many messages were checked.
func (c *Checker) Len() int { return c.n }

// Clone returns a checker that goes on from here on its own.
func (c *Checker) Clone() *Checker {
	d := *c
	d.open.ids, d.open.parts = slices.Clone(c.open.ids), slices.Clone(c.open.parts)
	d.open.done, d.open.waiting = slices.Clone(c.open.done), maps.Clone(c.open.waiting)
	d.late = maps.Clone(c.late)
	return &d
}

// Pending returns a problem for each call at the sequence's end that has no result yet.
func (c *Checker) Pending() []Problem {
	if !c.open.live {
		return nil
	}
	var ps []Problem
	for _, id := range c.open.unansweredIDs() {
		ps = append(ps, Problem{RuleUnanswered, c.from, -1, fmt.Sprintf("call %q has no result", id), id})
	}
	return ps
}

// Missing returns a problem for each call that other messages stand after and
// that has no result up to here, where results may come late. Elsewhere Next
// told.
func (c *Checker) Missing() []Problem {
	var ps []Problem
	for id, at := range c.late {
		for _, i := range at {
			ps = append(ps, Problem{RuleUnanswered, i, -1, fmt.Sprintf("call %q has no result", id), id})
		}
	}
	slices.SortFunc(ps, func(a, b Problem) int { return cmp.Or(a.At-b.At, strings.Compare(a.Call, b.Call)) })
	return ps
}

// Next checks the next message. It returns nil when all is well.
func (c *Checker) Next(m *Message) []Problem {
	i := c.n
	c.n++
	var ps []Problem
	bad := func(rule string, part int, format string, args ...any) {
		ps = append(ps, Problem{Rule: rule, At: i, Part: part, Message: fmt.Sprintf(format, args...)})
	}

	calls, results, content := 0, 0, 0
	for k := range m.Parts {
		p := &m.Parts[k]
		switch p.Kind {
		case ToolCall:
			calls++
			content++
			if m.Role != Assistant {
				bad(RuleRole, k, "a %s message makes a tool call", m.Role)
			}
		case ToolResult:
			results++
			content++
		case Text:
			if p.Text != "" {
				content++
			} else if c.rules.NonEmptyText && len(m.Parts) > 1 {
				bad(RuleEmptyText, k, "a text part is empty")
			}
		default:
			content++
		}
		c.images += p.Size().Images
	}
	if content == 0 && c.rules.NonEmpty {
		bad(RuleEmpty, -1, "the message has no content")
	}
	if c.rules.MaxImages > 0 && c.images > c.rules.MaxImages {
		bad(RuleImages, -1, "%d images, the limit is %d", c.images, c.rules.MaxImages)
	}

	answers := false
	if results > 0 {
		ps, answers = c.checkResults(m, ps)
	}
	if c.open.live && !answers {
		for _, id := range c.open.unansweredIDs() {
			if c.rules.LateResults {
				if c.late == nil {
					c.late = make(map[string][]int)
				}
				c.late[id] = append(slices.Clip(c.late[id]), c.from)
				continue
			}
			ps = append(ps, Problem{RuleUnanswered, c.from, -1, fmt.Sprintf("call %q has no result directly after it", id), id})
		}
		c.open.live = false
	}
	if m.Role == System {
		return ps
	}

	side := m.Role
	if side == Tool {
		side = User
	}
	switch {
	case c.prev == "" && c.rules.UserFirst && m.Role != User:
		bad(RuleUserFirst, -1, "the first message is not a user's")
	case c.rules.Alternate && c.prev == side && !(results > 0 && !c.rules.ResultsJoined):
		bad(RuleAlternate, -1, "two %s messages in a row", side)
	case c.rules.CallAfterInput && calls > 0 && c.prev == Assistant:
		bad(RuleCallAfter, -1, "a message with tool calls follows another assistant message")
	}
	c.prev = side
	if calls > 0 {
		c.open.reset(m)
		c.from = i
		for k, id := range c.open.ids {
			switch {
			case id == "":
				bad(RuleCallID, c.open.parts[k], "a tool call has no id")
			case c.open.repeats(k):
				bad(RuleCallID, c.open.parts[k], "two calls have the id %q", id)
			}
		}
	}
	return ps
}

// checkResults checks the results in message n-1 and reports whether it
// answers the open calls. A message whose results all belong elsewhere ends
// the exchange, as it does for an [Outline].
func (c *Checker) checkResults(m *Message, ps []Problem) (_ []Problem, answers bool) {
	wrong := m.Role == Assistant || m.Role == System
	if wrong {
		ps = append(ps, Problem{RuleRole, c.n - 1, -1, fmt.Sprintf("a %s message carries tool results", m.Role), ""})
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		switch {
		case p.Kind != ToolResult:
		case !wrong && !(c.open.live && c.open.hasCall(p.ID)) && c.takeLate(p.ID):
		case wrong || !c.open.live || !c.open.hasCall(p.ID):
			ps = append(ps, Problem{RuleOrphan, c.n - 1, k, fmt.Sprintf("result %q answers no call directly before it", p.ID), p.ID})
		default:
			answers = true
			if !c.open.take(p.ID) {
				ps = append(ps, Problem{RuleDuplicate, c.n - 1, k, fmt.Sprintf("call %q is answered twice", p.ID), p.ID})
			}
		}
	}
	return ps, answers
}

// takeLate marks the newest call with that id whose result did not stand directly
// after it as answered.
func (c *Checker) takeLate(id string) bool {
	last := len(c.late[id]) - 1
	if last < 0 {
		return false
	}
	if c.late[id] = c.late[id][:last]; last == 0 {
		delete(c.late, id)
	}
	return true
}
