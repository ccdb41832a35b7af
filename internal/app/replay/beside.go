package replay

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/typed"
)

// Beside is what else is asked of the views that the next edits are looked for
// in, so that V is not won by harming the agent.
type Beside struct {
	Later  Tally // edits of calls 31 to 100 that are ready
	Found  Tally // edits that are ready, or found by one search in what is hidden
	User   Tally // binding sentences of the user that are still there
	Recent Tally // cuts at which the last three exchanges are whole, where they fit
	Stale  Tally // lines shown as current that the next read contradicts
	Bare   Tally // words of made texts that stand in bare lists
}

func (a Beside) plus(b Beside) Beside {
	return Beside{
		a.Later.plus(b.Later), a.Found.plus(b.Found), a.User.plus(b.User),
		a.Recent.plus(b.Recent), a.Stale.plus(b.Stale), a.Bare.plus(b.Bare),
	}
}

// asked is what a cut asks besides the next edits; it is the same for every view.
type asked struct {
	binding []string // sentences of the user
	recent  []*chat.Message
	chars   int // of the recent messages
}

func (x *nextIndex) findAsked(c *NextCut) *asked {
	h := x.session.History
	a := &asked{}
	for i := range c.At {
		if m := h.At(i); m.Role == chat.User && !m.Synthetic {
			a.binding = append(a.binding, typed.BindingSentences(m.Text())...)
		}
	}
	if ex := chat.NewOutline(h.Head(c.At)).Exchanges; len(ex) >= recentExchanges {
		for _, x := range ex[len(ex)-recentExchanges:] {
			for i := x.From; i < x.To; i++ {
				a.recent = append(a.recent, h.At(i))
			}
		}
		a.chars = 4 * viewSize(a.recent)
	}
	return a
}

// recentExchanges stay whole where they take at most half of the view.
const recentExchanges = 3

// measureBeside measures a view.
func (x *nextIndex) measureBeside(c *NextCut, a *asked, msgs []*chat.Message, shown *shownView) Beside {
	var b Beside
	for _, e := range c.Later {
		b.Later.put(shown.isReady(e.Path, e.Old))
	}
	in := map[*chat.Message]bool{}
	var all strings.Builder
	for _, m := range msgs {
		in[m] = true
		eachText(m, func(text string) {
			all.WriteString(text)
			all.WriteByte('\n')
		})
	}
	for _, e := range c.Edits {
		b.Found.put(shown.isReady(e.Path, e.Old) || x.searchFinds(c, &e, in))
	}
	text := all.String()
	lines := typed.NewIndex(text)
	for _, s := range a.binding {
		b.User.put(lines.HasSentence(s))
	}
	if a.chars > 0 && a.chars*2 <= 4*viewSize(msgs) {
		whole := true
		for _, m := range a.recent {
			whole = whole && in[m]
		}
		b.Recent.put(whole)
	}
	b.Stale = x.countStale(c, msgs)
	b.Bare = x.bareIn(msgs)
	return b
}

// bareIn counts the words of the texts that a policy made, and of those the ones
// in bare lists.
func (x *nextIndex) bareIn(msgs []*chat.Message) Tally {
	var t Tally
	for _, m := range msgs {
		if _, raw := x.raw[m]; !raw && m.Role != chat.Assistant && m.Role != chat.Tool { // those are shortened, not made
			t = t.plus(bareWords(m.Text(), x.allLines()))
		}
	}
	return t
}
