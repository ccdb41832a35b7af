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

// searchAgain looks through all entries, and goes to the next one that matches, or the
// one before, around the end.
func (m *Model) searchAgain(step int) tea.Cmd {
	if m.find == nil {
		m.refuse("there is no search to repeat; / starts one")
		return nil
	}
	find, sn, from := m.find, m.sn, m.cursor
	return m.runInBackground(func(ctx context.Context) tea.Msg {
		var at []int
		for k := range sn.rows {
			if ctx.Err() == nil && matchEntry(m.s, sn, int(sn.rows[k].place), find) {
				at = append(at, k)
			}
		}
		return learned(func() { m.goToMatch(find, at, from, step) })
	})
}

// matchParts reports whether words stand in parts of a message.
func matchParts(parts []chat.Part, find *regexp.Regexp) bool {
	return slices.ContainsFunc(parts, func(p chat.Part) bool {
		return find.MatchString(p.Text) || find.MatchString(p.Args) || find.MatchString(p.Name) || matchParts(p.Content, find)
	})
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

// goToMatch goes to the row that follows another one among those that a search found, or
// that stands before it.
func (m *Model) goToMatch(find *regexp.Regexp, at []int, from, step int) {
	switch {
	case find != m.find:
		return
	case len(at) == 0:
		m.refuse("%q is not in this session", m.words)
		return
	}
	next, here := slices.BinarySearch(at, from)
	switch {
	case step < 0:
		next--
	case here:
		next++
	}
	nth := (next + len(at)) % len(at)
	m.say("%d of %d%s", nth+1, len(at), map[bool]string{true: "; the search continued from the other end"}[nth != next])
	m.choose(at[nth])
	m.layOutPanes()
	for i := range m.texts[:panes] {
		text := &m.texts[i]
		if n := slices.IndexFunc(text.lines, func(l line) bool { return m.find.MatchString(l.text) }); n >= 0 {
			text.SetYOffset(max(0, n-m.bodyHeight()/3))
		}
	}
}

// nextEdit goes to the next message that the plan changed, or the one before.
func (m *Model) nextEdit(step int) {
	if m.sn.plan == nil || len(m.sn.plan.Edits) == 0 {
		m.refuse("nothing is changed: no plan is in force; c compacts")
		return
	}
	_, _, last := m.selectedItem()
	for k := m.cursor + step; k >= 0 && k < len(m.sn.rows); k += step {
		_, _, e := m.itemAt(k)
		if e != nil && e != last {
			m.choose(k)
			return
		}
		last = e
	}
	m.say("this is the %s edit", map[int]string{1: "last", -1: "first"}[step])
}

// showFold shows the last fold beside its first original, where there is one, because
// that is what people come to see, and what a compaction just made.
func (m *Model) showFold() bool {
	if m.sn.plan == nil {
		return false
	}
	for _, e := range slices.Backward(m.sn.plan.Edits) {
		if e.Kind == plan.Fold && m.sn.entry[e.From] >= 0 {
			m.choose(m.sn.rowOf(int(m.sn.entry[e.From])))
			m.focusPane(paneView)
			return true
		}
	}
	return false
}
