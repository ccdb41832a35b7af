package viewer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

// selectedItem returns the place of the entry at the cursor and its message, -1 for
// none, and the edit that it is about, nil for none.
func (m *Model) selectedItem() (place, msg int, e *plan.Edit) {
	b, c := block{msg: -1, view: -1, edit: -1}, m.conv[m.focus]
	place = -1
	if c == nil {
		c = m.conv[paneHistory]
		if r, ok := m.tree.current(); ok {
			place, b.msg = int(r.place), int(m.sn.message[r.place])
		}
	} else if c.len() > 0 {
		if b = c.at(c.cursor); b.msg >= 0 {
			place = int(m.sn.entry[b.msg])
		}
	}
	return place, b.msg, c.editOf(b)
}

// openSelected shows what is behind the cursor.
func (m *Model) openSelected() {
	if c := m.conv[m.focus]; c != nil {
		if c.len() > 0 {
			m.message = c.openBlock()
			m.syncPanes(m.focus)
		}
		return
	}
	r, ok := m.tree.current()
	if !ok {
		return
	}
	p := m.sn.places[r.place]
	e, err := m.s.Entry(p.ID)
	if err != nil {
		m.showError(err)
		return
	}
	m.openPager("Entry "+shortID(p.ID), entryText(&e, m.sn.labels[p.ID]))
}

// showWhole shows all of a message, or only its beginning again; in the tree it
// opens the entry.
func (m *Model) showWhole() {
	if c := m.conv[m.focus]; c != nil && c.len() > 0 {
		c.showAll()
		return
	}
	m.openSelected()
}

// listAll lists all entries in the tree, or only the important ones again.
func (m *Model) listAll() {
	m.tree.all = !m.tree.all
	m.tree.reset(m.sn)
	if m.tree.all {
		m.say("all entries are listed; press a to list only the important ones")
	}
}

// factLines are lines of a name and a value each. Those without a value are left out.
func factLines(pairs ...string) []paragraph {
	var out []paragraph
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, paragraph{text: fitWidth(pairs[i], 8) + pairs[i+1], hang: 8})
		}
	}
	return append(out, paragraph{})
}

// tokensText writes a count before and after; "" where nobody counted.
func tokensText(before, after int) string {
	if before == 0 {
		return ""
	}
	return number(before) + " → " + number(after)
}

// entryText tells all about an entry.
func entryText(e *session.Entry, label string) []paragraph {
	known := []string{"type", string(e.Type), "id", e.ID, "after", e.Parent, "label", label}
	if !e.Time.IsZero() {
		known = append(known, "time", e.Time.UTC().Format("2006-01-02 15:04:05"))
	}
	if c := e.Compaction; c != nil {
		known = append(known, "undoes", c.Rewinds, "tokens", tokensText(c.TokensBefore, c.TokensAfter), "focus", c.Focus)
		if c.Plan != nil {
			known = append(known, "plan", c.Plan.String())
		}
		return append(factLines(known...), paragraph{ink: inkFold, text: c.Summary})
	}
	switch out := factLines(known...); {
	case e.Branch != nil:
		return append(out, paragraph{ink: inkFold, text: e.Branch.Summary})
	case e.Message != nil:
		return append(out, messageParagraphs(e.Message, nil)...)
	default:
		return append(out, paragraph{text: string(e.Raw)})
	}
}

// explainEdit tells all about the edit at the cursor.
func (m *Model) explainEdit() {
	_, _, e := m.selectedItem()
	if e == nil {
		m.say("no edit touches this; ~ = - + mark what an edit touched")
		return
	}
	where := fmt.Sprintf("%s %s of message %d", states[stateOf(e)].sign, e.Kind, e.From)
	if e.To-e.From > 1 {
		where += fmt.Sprintf(" to %d", e.To-1)
	}
	out := append([]paragraph{{ink: stateOf(e).ink(), text: where}, {}}, factLines(
		"tokens", tokensText(e.Before.Tokens, e.After.Tokens), "stage", e.Stage, "why", e.Why, "handle", e.Handle, "plan", string(e.Made))...)
	m.openPager("Edit", append(out, paragraph{ink: quiet, text: "It is shown as", rule: true}, paragraph{text: e.Text}))
}

// showDifference shows what the edit at the cursor took away and put there. Lines that
// stand on both sides have no sign.
func (m *Model) showDifference() {
	_, _, e := m.selectedItem()
	if e == nil {
		m.say("both panes show the same here; ] goes to the next edit")
		return
	}
	now, was := lineSet(e.Text), map[string]bool{}
	var out []paragraph
	for i := e.From; i < e.To; i++ {
		if slices.Contains(e.Keep, i) {
			continue
		}
		msg := *m.sn.history.At(i)
		if e.Part >= 0 && e.CallID == "" {
			msg.Parts = msg.Parts[e.Part : e.Part+1]
		}
		out = append(out, paragraph{ink: quiet, text: fmt.Sprintf("message %d, %s", i, msg.Role)})
		gone := 0
		for _, p := range messageParagraphs(&msg, nil) {
			for l := range strings.SplitSeq(p.text, "\n") {
				bare := strings.TrimSpace(l)
				was[bare] = true
				switch {
				case bare == "":
				case now[bare]:
					out = append(out, paragraph{text: "  " + l, hang: 2})
				default:
					if gone++; gone <= mostGone {
						out = append(out, paragraph{ink: inkWrong, text: "- " + l, hang: 2})
					}
				}
			}
		}
		if gone > mostGone {
			out = append(out, paragraph{ink: inkWrong, text: "- … " + plural(gone-mostGone, "more line")})
		}
	}
	for l := range strings.SplitSeq(e.Text, "\n") {
		if bare := strings.TrimSpace(l); bare != "" && !was[bare] {
			out = append(out, paragraph{ink: inkGood, text: "+ " + l, hang: 2})
		}
	}
	m.openPager("Difference of both panes", out)
}

// mostGone is the most removed lines of a message that a difference shows.
const mostGone = 6

func lineSet(text string) map[string]bool {
	set := make(map[string]bool)
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimPrefix(strings.TrimPrefix(l, "User: "), "Agent: ") // as a fold names who speaks
		set[strings.TrimSpace(l)] = true
	}
	return set
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
		return m.refuse("choose an entry in the tree, or a message that is one")
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
		return m.refuse("choose an entry in the tree, or a message that is one")
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
