package replay

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/token"
)

// index is what every replay of one session needs to know about its messages.
// It is made once and read by all.
type index struct {
	session *Session
	counter *token.Counter

	ids   map[string]int32 // of entities
	names []string
	raw   map[*chat.Message]int32
	msgs  []indexed
	cum   []int   // tokens before message i
	fixed int     // tokens that every request carries
	scale float64 // of what the counter says

	system map[int32]bool // entities of the system prompt, which is always there

	// broken are the problems that the recorded session has by itself: they are
	// nobody's fault.
	broken map[fault]bool
}

// indexed is one message.
type indexed struct {
	tokens   int
	entities []int32 // that stand in it, each once
	wrote    []int32 // those that the agent wrote
}

// fault identifies a problem across views.
type fault struct {
	rule, call string
	msg        *chat.Message
}

func newIndex(s *Session, k *token.Counter) *index {
	h := s.History
	x := &index{
		session: s, counter: k, scale: 1,
		ids: map[string]int32{}, raw: make(map[*chat.Message]int32, h.Len()),
		msgs: make([]indexed, h.Len()), cum: make([]int, h.Len()+1),
		fixed: k.Conversation() + k.System(s.System) + k.Tools(s.Tools), system: map[int32]bool{}, broken: map[fault]bool{},
	}
	for i := range h.Len() {
		m := h.At(i)
		x.raw[m] = int32(i)
		x.msgs[i] = x.scan(m, true)
		x.msgs[i].tokens = k.At(h, i)
		x.cum[i+1] = x.cum[i] + x.msgs[i].tokens
	}
	for i := range s.System {
		eachEntity(s.System[i].Text, func(_ evidence.EntityKind, v string) {
			if id, ok := x.ids[v]; ok {
				x.system[id] = true
			}
		})
	}
	checker := chat.NewChecker(Rules())
	for i := range h.Len() {
		m := h.At(i)
		if m.Role == chat.Assistant {
			x.note(checker.Pending(), h)
		}
		x.note(checker.Next(m), h)
	}
	return x
}

func (x *index) note(ps []chat.Problem, h chat.Sequence) {
	for _, p := range ps {
		x.broken[fault{p.Rule, p.Call, h.At(p.At)}] = true
	}
}

// scan finds the entities of a message. Only the session's own messages add
// new ones: what nobody ever wrote is asked for by nobody.
func (x *index) scan(m *chat.Message, add bool) indexed {
	var out indexed
	eachText(m, func(v voice, text string) {
		eachEntity(text, func(_ evidence.EntityKind, e string) {
			id, ok := x.ids[e]
			if !ok {
				if !add {
					return
				}
				id = int32(len(x.names))
				x.names = append(x.names, e)
				x.ids[e] = id
			}
			out.entities = append(out.entities, id)
			if v == agentVoice {
				out.wrote = append(out.wrote, id)
			}
		})
	})
	if !add {
		// A text that a policy made names things as it likes: without the marks
		// that made them entities, a path without its root.
		for i := range m.Parts {
			for f := range strings.FieldsSeq(m.Parts[i].Text) {
				if id, ok := x.ids[strings.Trim(f, "`'\"()[]{}<>,;")]; ok {
					out.entities = append(out.entities, id)
				}
			}
		}
	}
	out.entities, out.wrote = unique(out.entities), unique(out.wrote)
	return out
}

func unique(ids []int32) []int32 {
	slices.Sort(ids)
	return slices.Clip(slices.Compact(ids))
}
