package viewer

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

// selectedItem returns what the cursor is at, as itemAt does.
func (m *Model) selectedItem() (place, msg int, e *plan.Edit) { return m.itemAt(m.cursor) }

// itemAt returns the place of the entry of a row and its message, -1 for none, and what
// was done to that, nil for nothing.
func (m *Model) itemAt(row int) (place, msg int, e *plan.Edit) {
	if m.sn == nil || row >= len(m.sn.rows) {
		return -1, -1, nil
	}
	place = int(m.sn.rows[row].place)
	if msg = int(m.sn.message[place]); msg < 0 {
		return place, -1, nil
	}
	return place, msg, m.sn.edits[msg]
}

// togglePin pins the message at the cursor, or takes the pin off.
func (m *Model) togglePin() tea.Cmd {
	_, h, edit := m.selectedItem()
	if h < 0 {
		m.refuse("only messages on the path to the leaf can be pinned; choose one of them")
		return nil
	}
	id, was := m.sn.history.At(h).ID, m.sn.isPinned(h)
	return m.startJob("pinning", func(ctx context.Context) done {
		switch {
		case was:
			return done{text: "the pin is removed", err: m.s.Unpin(ctx, id)}
		case edit != nil:
			return done{text: "pinned: the next compaction undoes what was done to it", err: m.s.Pin(ctx, id)}
		}
		return done{text: "pinned: no stage edits this message", err: m.s.Pin(ctx, id)}
	})
}

// compactWithFocus asks for a focus and compacts.
func (m *Model) compactWithFocus() {
	if m.isBusy() {
		return
	}
	m.askWords("Compact with focus:", "what summaries should tell; enter compacts, esc cancels", func(focus string) tea.Cmd {
		return m.startJob("compacting", func(ctx context.Context) done {
			c, err := m.s.Compact(ctx, focus)
			if err != nil {
				return done{err: err}
			}
			before, after := c.Before.Count.Tokens, c.After.Count.Tokens
			text := fmt.Sprintf("compacted: %s tokens, %s saved; u undoes it", tokensText(before, after), number(before-after))
			return done{text: text, to: c.Entry.ID, cut: true}
		})
	})
}

// undoCompaction takes the compaction at the cursor back, or the last one.
func (m *Model) undoCompaction() {
	id, what := m.sn.last, "the last compaction"
	place, _, e := m.selectedItem()
	if place >= 0 && m.sn.places[place].Type == session.TypeCompaction {
		id, what, e = m.sn.places[place].ID, "compaction "+shortID(m.sn.places[place].ID), nil
	} else if e != nil && e.Made != "" {
		id, what = string(e.Made), "the compaction that made this "+string(e.Kind)
	}
	if id == "" {
		m.refuse("there is no compaction to undo; c makes one")
		return
	}
	rewind := func(id string) func() tea.Cmd {
		return func() tea.Cmd {
			return m.startJob("undoing", func(ctx context.Context) done {
				entry, err := m.s.Rewind(ctx, id)
				return done{"undone: the model sees again what it hid; u on the new entry redoes it", err, entry.ID, false}
			})
		}
	}
	do, single := map[string]func() tea.Cmd{"y": rewind(id)}, ""
	if e != nil && e.Handle != "" {
		do["e"], single = rewind(e.Handle), "e only this "+string(e.Kind)+" · "
	}
	m.ask = &question{"Undo " + what + "?  y yes · " + single + "esc no", do}
}

// moveLeaf moves the leaf to the entry at the cursor.
func (m *Model) moveLeaf() {
	place, _, _ := m.selectedItem()
	switch {
	case place < 0:
		m.refuse("there is no entry yet")
		return
	case m.sn.places[place].Leaf:
		m.say("the leaf is already here")
		return
	}
	id := m.sn.places[place].ID
	navigate := func(o session.NavigateOptions, what string) tea.Cmd {
		return m.startJob(what, func(ctx context.Context) done {
			n, err := m.s.Navigate(ctx, id, o)
			text := "the leaf is here now"
			if n.Text != "" {
				text = "the leaf is before that message, so that you can rephrase it"
			}
			if n.Summary != nil {
				text += "; a summary of the abandoned branch is there"
			}
			if !n.Moved {
				text = "the leaf was already there"
			}
			return done{text: text, err: err, to: n.Leaf}
		})
	}
	m.ask = &question{
		text: "Move the leaf to entry " + shortID(id) + "?  y move · s move and summarise the abandoned branch · esc stay",
		do: map[string]func() tea.Cmd{
			"y": func() tea.Cmd { return navigate(session.NavigateOptions{}, "moving") },
			"s": func() tea.Cmd {
				m.askWords("Summary with focus:", "what it should pay attention to; enter moves, esc stays", func(focus string) tea.Cmd {
					return navigate(session.NavigateOptions{Summarise: true, Focus: focus}, "summarising the abandoned branch")
				})
				return nil
			},
		},
	}
}
