package viewer

import (
	"context"
	"regexp"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

// startSearch looks for words in the entries from the cursor on.
func (m *Model) startSearch(typed string) tea.Cmd {
	m.find, m.words = nil, typed
	if typed == "" {
		return nil
	}
	m.find = regexp.MustCompile("(?i)" + regexp.QuoteMeta(typed))
	return m.searchAgain(1)
}

// searchAgain looks for the next entry, or the one before.
func (m *Model) searchAgain(step int) tea.Cmd {
	if m.find == nil {
		return m.refuse("there is no search to repeat; / starts one")
	}
	find, sn, f, from := m.find, m.sn, m.tree.f, m.tree.cursor
	return m.runInBackground(func(ctx context.Context) tea.Msg {
		return seekMatch(ctx, foundMsg{find: find}, len(f.rows), from, step, func(k int) bool {
			return matchEntry(m.s, sn, int(f.rows[k].place), find)
		})
	})
}

// seekMatch looks at all places, and goes to the next one after from, around the end.
func seekMatch(ctx context.Context, msg foundMsg, n, from, step int, match func(k int) bool) tea.Msg {
	var at []int
	for k := 0; k < n && ctx.Err() == nil; k++ {
		if match(k) {
			at = append(at, k)
		}
	}
	msg.at, msg.of = -1, len(at)
	if len(at) == 0 {
		return msg
	}
	next, here := slices.BinarySearch(at, from)
	switch {
	case step < 0:
		next--
	case here:
		next++
	}
	msg.nth = (next + len(at)) % len(at)
	msg.wrapped = msg.nth != next
	msg.at = at[msg.nth]
	return msg
}

// matchParts reports whether words stand in parts of a message.
func matchParts(parts []chat.Part, find *regexp.Regexp) bool {
	for i := range parts {
		p := &parts[i]
		if find.MatchString(p.Text) || find.MatchString(p.Args) || find.MatchString(p.Name) || matchParts(p.Content, find) {
			return true
		}
	}
	return false
}

// matchEntry reports whether an entry of the tree matches, by its text, id or
// label.
func matchEntry(s *session.Session, sn *snapshot, place int, find *regexp.Regexp) bool {
	p := &sn.places[place]
	if at := find.FindStringIndex(p.ID); at != nil && at[0] == 0 || find.MatchString(sn.labels[p.ID]) {
		return true
	}
	if h := sn.message[place]; h >= 0 {
		return matchParts(sn.history.At(int(h)).Parts, find)
	}
	e, err := s.Entry(p.ID)
	switch {
	case err != nil:
		return false
	case e.Message != nil:
		return matchParts(e.Message.Parts, find)
	case e.Compaction != nil && find.MatchString(e.Compaction.Summary):
		return true
	}
	says := describeEntry(&e)
	return find.MatchString(says.who + " " + says.text)
}

// handleFound goes to what a search found.
func (m *Model) handleFound(msg foundMsg) {
	switch {
	case msg.find != m.find:
		return
	case msg.at < 0:
		m.refuse("%q is not in this session", m.words)
		return
	case msg.wrapped:
		m.say("%d of %d; the search continued from the other end", msg.nth+1, msg.of)
	default:
		m.say("%d of %d", msg.nth+1, msg.of)
	}
	m.tree.choose(msg.at)
	m.layOutPanes()
	for p, lines := range m.drawn.lines {
		for n, l := range lines {
			if m.find.MatchString(l.text) {
				m.texts[p].SetYOffset(max(0, n-m.bodyHeight()/3))
				break
			}
		}
	}
}

// nextEdit goes to the next message that the plan changed, or the one before.
func (m *Model) nextEdit(step int) tea.Cmd {
	if m.sn.plan == nil || len(m.sn.plan.Edits) == 0 {
		return m.refuse("nothing is changed: no plan is in force; c compacts")
	}
	_, _, last := m.selectedItem()
	for k := m.tree.cursor + step; k >= 0 && k < len(m.tree.f.rows); k += step {
		e := m.sn.editOf(int(m.sn.message[m.tree.f.rows[k].place]))
		if e != nil && e != last {
			m.tree.choose(k)
			return nil
		}
		last = e
	}
	m.say("this is the %s edit", map[int]string{1: "last", -1: "first"}[step])
	return nil
}

// showFold shows the last fold beside its first original, where there is one, because
// that is what people come to see, and what a compaction just made.
func (m *Model) showFold() bool {
	if m.sn.plan == nil {
		return false
	}
	for _, e := range slices.Backward(m.sn.plan.Edits) {
		if e.Kind == plan.Fold && m.sn.entry[e.From] >= 0 {
			m.tree.choose(int(m.tree.f.at[m.sn.entry[e.From]]))
			m.focusPane(paneView)
			return true
		}
	}
	return false
}
