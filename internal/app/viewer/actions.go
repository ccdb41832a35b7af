package viewer

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

// selectedItem returns the place of the entry at the cursor and its message, -1 for
// none, and the edit that it is about, nil for none.
func (m *Model) selectedItem() (place, msg int, e *plan.Edit) {
	r, ok := m.tree.current()
	if !ok {
		return -1, -1, nil
	}
	place, msg = int(r.place), int(m.sn.message[r.place])
	return place, msg, m.sn.editOf(msg)
}

// listAll lists all entries in the tree, or only the important ones again.
func (m *Model) listAll() {
	m.tree.all = !m.tree.all
	m.tree.reset(m.sn)
	if m.tree.all {
		m.say("all entries are listed; press a to list only the important ones")
	}
}

// togglePin pins the message at the cursor, or takes the pin off.
func (m *Model) togglePin() tea.Cmd {
	place, h, _ := m.selectedItem()
	if h < 0 || place < 0 {
		return m.refuse("only messages on the path to the leaf can be pinned; choose one of them")
	}
	id, was := m.sn.places[place].ID, m.sn.pins[h]
	edited := m.sn.state[h] != kept
	return m.startJob("pinning", func(ctx context.Context) doneMsg {
		if was {
			return doneMsg{text: "the pin is removed", err: m.s.Unpin(ctx, id)}
		}
		text := "pinned: no stage edits this message"
		if edited {
			text = "pinned: the next compaction undoes what was done to it"
		}
		return doneMsg{text: text, err: m.s.Pin(ctx, id)}
	})
}

// compactWithFocus asks for a focus and compacts.
func (m *Model) compactWithFocus() tea.Cmd {
	if m.busy != nil {
		return m.startJob("", nil) // says what is under way
	}
	m.input = m.newInput("Compact with focus:", "what summaries should tell; enter compacts, esc cancels", func(focus string) tea.Cmd {
		return m.startJob("compacting", func(ctx context.Context) doneMsg {
			c, err := m.s.Compact(ctx, focus)
			if err != nil {
				return doneMsg{err: err}
			}
			before, after := c.Before.Count.Tokens, c.After.Count.Tokens
			return doneMsg{text: fmt.Sprintf("compacted: %s tokens, %s saved; u undoes it", tokensText(before, after), number(before-after)), to: c.Entry.ID, cut: true}
		})
	})
	return nil
}

// undoCompaction takes the compaction at the cursor back, or the last one.
func (m *Model) undoCompaction() tea.Cmd {
	id, what := m.sn.last, "the last compaction"
	place, _, e := m.selectedItem()
	if place >= 0 && m.sn.places[place].Type == session.TypeCompaction {
		id, what, e = m.sn.places[place].ID, "compaction "+shortID(m.sn.places[place].ID), nil
	} else if e != nil && e.Made != "" {
		id, what = string(e.Made), "the compaction that made this "+string(e.Kind)
	}
	if id == "" {
		return m.refuse("there is no compaction to undo; c makes one")
	}
	rewind := func(id string) func() tea.Cmd {
		return func() tea.Cmd {
			return m.startJob("undoing", func(ctx context.Context) doneMsg {
				entry, err := m.s.Rewind(ctx, id)
				if err != nil {
					return doneMsg{err: err}
				}
				return doneMsg{text: "undone: the model sees again what it hid; u on the new entry redoes it", to: entry.ID}
			})
		}
	}
	m.ask = &question{text: "Undo " + what + "?", keys: "y yes · esc no", do: map[string]func() tea.Cmd{"y": rewind(id)}}
	if e != nil && e.Handle != "" {
		m.ask.keys = "y yes · e only this " + string(e.Kind) + " · esc no"
		m.ask.do["e"] = rewind(e.Handle)
	}
	return nil
}

// moveLeaf moves the leaf to the entry at the cursor.
func (m *Model) moveLeaf() tea.Cmd {
	place, _, _ := m.selectedItem()
	if place < 0 {
		return m.refuse("there is no entry yet")
	}
	p := m.sn.places[place]
	if p.Leaf {
		m.say("the leaf is already here")
		return nil
	}
	navigate := func(o session.NavigateOptions, what string) tea.Cmd {
		return m.startJob(what, func(ctx context.Context) doneMsg {
			n, err := m.s.Navigate(ctx, p.ID, o)
			if err != nil {
				return doneMsg{err: err}
			}
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
			return doneMsg{text: text, to: n.Leaf}
		})
	}
	m.ask = &question{
		text: "Move the leaf to entry " + shortID(p.ID) + "?",
		keys: "y move · s move and summarise the abandoned branch · esc stay",
		do: map[string]func() tea.Cmd{
			"y": func() tea.Cmd { return navigate(session.NavigateOptions{}, "moving") },
			"s": func() tea.Cmd {
				m.input = m.newInput("Summary with focus:", "what it should pay attention to; enter moves, esc stays", func(focus string) tea.Cmd {
					return navigate(session.NavigateOptions{Summarise: true, Focus: focus}, "summarising the abandoned branch")
				})
				return nil
			},
		},
	}
	return nil
}

// labelEntry puts a label on the entry at the cursor.
func (m *Model) labelEntry() tea.Cmd {
	place, _, _ := m.selectedItem()
	if place < 0 {
		return m.refuse("there is no entry yet")
	}
	id := m.sn.places[place].ID
	m.input = m.newInput("Label:", "an empty label removes it", func(label string) tea.Cmd {
		return m.startJob("labelling", func(ctx context.Context) doneMsg {
			text := "labelled"
			if label == "" {
				text = "the label is removed"
			}
			return doneMsg{text: text, err: m.s.Label(ctx, id, label)}
		})
	})
	m.input.take(tea.PasteMsg{Content: m.sn.labels[id]}) // as if it were typed: nothing in it steers the terminal
	return nil
}

// readNewEntries reads what other processes have added.
func (m *Model) readNewEntries() tea.Cmd {
	return m.startJob("reading", func(ctx context.Context) doneMsg {
		before := m.s.Len()
		if err := m.s.Follow(ctx); err != nil {
			return doneMsg{err: err}
		}
		n := m.s.Len() - before
		if n == 0 {
			return doneMsg{text: "nothing new"}
		}
		return doneMsg{text: plural(n, "new entry"), to: m.s.Leaf()}
	})
}
