package replay

import "github.com/winnow-llm/winnow/evidence"

// From so many sources on an entity or a word is common: an agent writes it
// whether or not it stands in its context.
const (
	commonEntity = 4
	commonWord   = 3
)

// Common knows in how many sources entities and words occur.
type Common struct {
	entities, words map[string]seenIn
}

type seenIn struct{ last, n int32 }

// NewCommon counts over all sessions. Sessions of one source must stand
// together, as [Load] leaves them.
func NewCommon(sessions []Session) *Common {
	c := &Common{entities: map[string]seenIn{}, words: map[string]seenIn{}}
	source := int32(0)
	for i := range sessions {
		if i == 0 || sessions[i].Source != sessions[i-1].Source {
			source++
		}
		for _, m := range sessions[i].History.All() {
			eachText(m, func(_ voice, text string) {
				eachEntity(text, func(_ evidence.EntityKind, v string) { count(c.entities, v, source) })
				eachWord(text, func(w string) { count(c.words, w, source) })
			})
		}
	}
	return c
}

func count(m map[string]seenIn, k string, source int32) {
	s := m[k]
	if s.last != source {
		m[k] = seenIn{source, s.n + 1}
	}
}

// Entity reports whether an entity is common.
func (c *Common) Entity(v string) bool { return c.entities[v].n >= commonEntity }

// Word reports whether a plain word is common.
func (c *Common) Word(w string) bool { return c.words[w].n >= commonWord }
