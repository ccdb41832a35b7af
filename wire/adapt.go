package wire

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// maxID is the longest id that is written for a call from another dialect.
const maxID = 64

// adapter makes messages that were not sent in a dialect fit for it: calls get
// ids that the dialect accepts, and results the id and the name of their call.
type adapter struct {
	strict bool // ids must be plain
	unique bool // an id may be used by one call only
	own    bool // ids are the dialect's own: only one that comes again is changed
	used   map[string]bool
	calls  map[string][]written // by the id in the history, oldest first
	turn   int                  // counts messages
}

// written is a call as it is written.
type written struct {
	id, name string
	turn     int
	answered bool
}

func newAdapter(d Dialect) *adapter {
	return &adapter{
		strict: d == Anthropic, unique: d == Anthropic || d == Responses,
		used: make(map[string]bool), calls: make(map[string][]written),
	}
}

// renameRepeated returns the messages of a view whose calls have the id of an
// earlier call, and those with their results, under ids of their own. Some
// clients count calls anew in every turn, and a fold can bring what the provider
// never compared into one request.
func renameRepeated(s chat.Sequence) map[int]*chat.Message {
	if !repeatsCalls(s) {
		return nil
	}
	a := adapter{unique: true, own: true, used: make(map[string]bool), calls: make(map[string][]written)}
	changed := make(map[int]*chat.Message)
	for i := range s.Len() {
		m := s.At(i)
		r := a.adaptMessage(m)
		for k := range m.Parts {
			if r.Parts[k].ID != m.Parts[k].ID {
				changed[i] = r
			}
		}
	}
	return changed
}

// repeatsCalls reports whether two calls have one id.
func repeatsCalls(s chat.Sequence) bool {
	ids := make(map[string]bool)
	for i := range s.Len() {
		m := s.At(i)
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == chat.ToolCall {
				if ids[p.ID] {
					return true
				}
				ids[p.ID] = true
			}
		}
	}
	return false
}

// adaptMessage returns m, or a copy where a part must change.
func (a *adapter) adaptMessage(m *chat.Message) *chat.Message {
	out := m
	a.turn++
	for i := range m.Parts {
		p := m.Parts[i]
		switch p.Kind {
		case chat.ToolCall:
			p.ID = a.writtenCallID(p.ID, p.Name)
		case chat.ToolResult:
			a.matchResult(&p)
		default:
			continue
		}
		if p.ID == m.Parts[i].ID && p.Name == m.Parts[i].Name {
			continue
		}
		if out == m {
			changed := *m
			changed.Parts = append([]chat.Part(nil), m.Parts...)
			out = &changed
		}
		out.Parts[i] = p
	}
	return out
}

// writtenCallID returns the id under which a call is written.
func (a *adapter) writtenCallID(id, name string) string {
	w := written{id: a.acceptableID(id), name: name, turn: a.turn}
	if a.unique {
		a.used[w.id] = true
	}
	if same := a.calls[id]; len(same) > 0 && same[0].turn != a.turn {
		a.calls[id] = nil // results that follow are for the later call
	}
	a.calls[id] = append(a.calls[id], w)
	return w.id
}

// matchResult gives a result the id and name of its call: the first with its id
// that waits, or the last where none does.
func (a *adapter) matchResult(p *chat.Part) {
	same := a.calls[p.ID]
	if len(same) == 0 {
		return
	}
	w := &same[len(same)-1]
	if i := slices.IndexFunc(same, func(w written) bool { return !w.answered }); i >= 0 {
		w = &same[i]
	}
	w.answered = true
	p.ID = w.id
	p.Name = cmp.Or(p.Name, w.name)
}

// acceptableID returns id, or one like it that the dialect accepts.
func (a *adapter) acceptableID(id string) string {
	if !a.unique || a.own && !a.used[id] {
		return id
	}
	base := id
	if a.strict && !plainID(base) {
		base = strings.Map(func(r rune) rune {
			if plainID(string(r)) {
				return r
			}
			return '_'
		}, base)
	}
	base = cmp.Or(base, "call")
	if len(base) > maxID {
		base = strings.ToValidUTF8(base[:maxID], "")
	}
	for name, n := base, 2; ; n++ {
		if !a.used[name] {
			return name
		}
		end := "_" + strconv.Itoa(n)
		name = strings.ToValidUTF8(base[:min(len(base), maxID-len(end))], "") + end
	}
}
