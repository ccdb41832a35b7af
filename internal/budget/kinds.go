package budget

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Kinds say what the tokens of a request are spent on, by kind of content. They
// add up to the whole of it.
type Kinds struct {
	System      int `json:"system"`
	Tools       int `json:"tools"` // definitions
	User        int `json:"user"`
	Assistant   int `json:"assistant"`
	Results     int `json:"tool_results"`
	Thinking    int `json:"thinking"`
	Attachments int `json:"attachments"` // images and documents
	Summaries   int `json:"summaries"`   // what plans put in place of messages
	Unseen      int `json:"unseen"`      // counted by the provider in every request, and shown by nobody
}

// Sum adds them up.
func (k Kinds) Sum() int {
	return k.System + k.Tools + k.User + k.Assistant + k.Results + k.Thinking + k.Attachments + k.Summaries + k.Unseen
}

// Kinds adds up a request's tokens by kind, for a view of its history, as the
// provider counts them by the status of that view: what is fixed is as it is there,
// and the kinds of the messages have what is left, in proportion. They add up to the
// status' total.
func (m *Meter) Kinds(v plan.View, s *Status) Kinds {
	k := m.sumByKind(v)
	all := [...]*int{&k.System, &k.User, &k.Assistant, &k.Results, &k.Thinking, &k.Attachments, &k.Summaries}
	sum, largest, left := k.Sum(), all[0], s.Tokens.Total-s.Limits.Fixed
	for _, n := range all {
		if *n > *largest {
			largest = n
		}
	}
	if want := left; sum != want {
		for _, n := range all {
			*n = shareOf(want, *n, max(sum, 1))
			left -= *n
		}
		*largest += left
	}
	k.System += s.Tokens.System
	k.Tools, k.Unseen = s.Tokens.Tools, s.Tokens.Unseen
	return k
}

// sumByKind adds up the messages of a view by kind, as the counter counts them. After a
// message was appended to a history that was measured before, it looks at that
// message alone.
func (m *Meter) sumByKind(v plan.View) Kinds {
	h := v.History()
	known, from := m.kinds.Nearest(v, v.Key(), func(k knownKinds) int { return k.messages })
	k, n := known.Kinds, v.Len()
	for i := from; i < n; i++ {
		if raw := v.Raw(i); raw >= 0 {
			m.addKinds(&k, v.At(i), m.counter.At(h, raw), nil)
			continue
		}
		m.addKinds(&k, v.At(i), m.counter.Message(v.At(i)), func(part int) bool { return v.Summary(i, part) })
	}
	m.kinds.Put(h, v.Key(), knownKinds{k, n})
	return k
}

// knownKinds are those of a view's messages.
type knownKinds struct {
	Kinds
	messages int
}

// addKinds adds a message of that number of tokens: each part to its kind, and the
// message's framing to that of its role. Summary tells the parts that a plan wrote;
// nil is none.
func (m *Meter) addKinds(k *Kinds, msg *chat.Message, tokens int, summary func(part int) bool) {
	slot := func(part int) *int {
		if summary != nil && summary(part) {
			return &k.Summaries
		}
		return k.slot(msg.Role, msg.Parts[part].Kind)
	}
	if len(msg.Parts) == 0 {
		*k.slot(msg.Role, chat.Text) += tokens
		return
	}
	if oneKind(msg, slot) { // as most are: nothing is counted a second time
		*slot(0) += tokens
		return
	}
	for i := range msg.Parts {
		n := m.counter.Part(&msg.Parts[i])
		tokens -= n
		media := m.mediaTokens(msg.Parts[i : i+1])
		k.Attachments += media
		*slot(i) += n - media
	}
	if summary != nil && summary(0) {
		k.Summaries += tokens
		return
	}
	*k.slot(msg.Role, chat.Text) += tokens
}

// oneKind reports whether all of a message is of one kind, and none of it is an
// attachment.
func oneKind(msg *chat.Message, slot func(part int) *int) bool {
	for i := range msg.Parts {
		if slot(i) != slot(0) || hasMedia(msg.Parts[i:i+1]) {
			return false
		}
	}
	return true
}

func (k *Kinds) slot(role chat.Role, kind chat.Kind) *int {
	switch {
	case kind == chat.Thinking:
		return &k.Thinking
	case kind == chat.ToolResult || role == chat.Tool:
		return &k.Results
	case role == chat.Assistant:
		return &k.Assistant
	case role == chat.System:
		return &k.System
	}
	return &k.User
}
