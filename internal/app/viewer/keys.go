package viewer

import (
	"errors"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	"github.com/winnow-llm/winnow/session"
)

// group is some keys under a heading of the help.
type group struct {
	name string
	keys []binding
}

// binding is some keys and what they do.
type binding struct {
	key.Binding
	do func(*Model) tea.Cmd
}

// bind binds keys. The help shows them as shown, and leaves them out where that is
// empty.
func bind(keys, shown, does string, do func(*Model) tea.Cmd) binding {
	return binding{key.NewBinding(key.WithKeys(strings.Fields(keys)...), key.WithHelp(shown, does)), do}
}

// moveBy makes a key move the cursor of the tree by lines, or scroll a text.
func moveBy(lines func(height int) int) func(*Model) tea.Cmd {
	return noCommand(func(m *Model) {
		n := lines(m.bodyHeight())
		if text := &m.texts[m.focus]; m.focus != paneTree {
			text.SetYOffset(text.YOffset() + n)
			return
		}
		m.tree.choose(m.tree.cursor + n)
	})
}

// noCommand makes what needs no command a thing that a key does.
func noCommand(f func(*Model)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		f(m)
		return nil
	}
}

// early is the group of the keys that also work before the session was read.
const early = "Leaving"

// keyGroups returns all keys, in the order of the help.
func keyGroups() []group {
	const all = 1 << 40
	to := func(n int) func(*Model) tea.Cmd { return noCommand(func(m *Model) { m.focusPane(n) }) }
	turn := func(n int) func(*Model) tea.Cmd {
		return noCommand(func(m *Model) { m.focusPane((m.focus + n + panes) % panes) })
	}
	again := func(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.searchAgain(n) } }
	edit := func(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.nextEdit(n) } }
	return []group{
		{"Moving", []binding{
			bind("up k", "↑ ↓  k j", "one entry of the tree, or one line of a text", moveBy(func(int) int { return -1 })),
			bind("down j", "", "", moveBy(func(int) int { return 1 })),
			bind("pgup ctrl+b", "PgUp PgDn", "one page (also ctrl+b, ctrl+f)", moveBy(func(h int) int { return 1 - h })),
			bind("pgdown ctrl+f space", "", "", moveBy(func(h int) int { return h - 1 })),
			bind("home g", "g G", "to the top, to the bottom (also Home, End)", moveBy(func(int) int { return -all })),
			bind("end G", "", "", moveBy(func(int) int { return all })),
			bind("tab right l", "Tab  ← →", "to the next pane; 1 tree, 2 as the model sees it, 3 as it was", turn(1)),
			bind("shift+tab left h", "", "", turn(-1)),
			bind("1", "", "", to(paneTree)), bind("2", "", "", to(paneView)), bind("3", "", "", to(paneHistory)),
			bind("/", "/  n N", "search in all entries; the next, the one before", noCommand(func(m *Model) {
				m.input = m.newInput("Search:", "words, whatever their case", m.startSearch)
			})),
			bind("n", "", "", again(1)), bind("N", "", "", again(-1)),
			bind("]", "]  [", "the next edit, the one before", edit(1)), bind("[", "", "", edit(-1)),
		}},
		{"Looking", []binding{
			bind("enter", "Enter", "read the entry at the cursor; again goes back to the tree", noCommand((*Model).readEntry)),
			bind("a", "a", "all entries in the tree, also settings, labels and pins", noCommand((*Model).listAll)),
		}},
		{"Doing", []binding{
			bind("p", "p", "pin the message, so that no stage edits it; again removes the pin", (*Model).togglePin),
			bind("c", "c", "compact now, with an optional focus; esc cancels", (*Model).compactWithFocus),
			bind("u", "u", "undo the compaction at the cursor, or else the last one", (*Model).undoCompaction),
			bind("m", "m", "move the leaf to the entry at the cursor, with or without a summary of the abandoned branch", (*Model).moveLeaf),
			bind("L", "L", "label the entry; an empty label removes it", (*Model).labelEntry),
			bind("R", "R", "load what other programs have added", (*Model).readNewEntries),
		}},
		{early, []binding{
			bind("q ctrl+c", "q  Ctrl+C", "cancel what is in progress; everything written stays", func(*Model) tea.Cmd { return tea.Quit }),
			bind("esc", "", "", noCommand((*Model).cancelJobOrSearch)),
			bind("? f1", "", "", noCommand(func(m *Model) { m.help = new(viewport.New()) })),
		}},
	}
}

// signs are what stands before messages and entries.
var signs = [][2]string{
	{"~", "masked: a part is replaced by something shorter"},
	{"=", "folded: a run of messages became a summary"},
	{"-", "dropped: a run of messages became a marker"},
	{"+", "answered: a call without a result, or a result without a call, was repaired"},
	{pinSign + "  ◂", "pinned; the leaf, where the conversation goes on"},
}

// helpText lists the keys.
func (m *Model) helpText() []paragraph {
	var out []paragraph
	add := func(key, does string) {
		if key != "" {
			out = append(out, paragraph{text: "  " + fitWidth(key, 11) + does, hang: 13})
		}
	}
	for _, g := range m.keys {
		out = append(out, paragraph{ink: strong, text: g.name})
		for _, b := range g.keys {
			add(b.Help().Key, b.Help().Desc)
		}
		out = append(out, paragraph{})
	}
	out = append(out, paragraph{ink: strong, text: "Signs"})
	for _, s := range signs {
		add(s[0], s[1])
	}
	return out
}

func (m *Model) say(format string, args ...any) {
	m.message, m.wrong = fmt.Sprintf(format, args...), false
}

// refuse says why nothing is done.
func (m *Model) refuse(format string, args ...any) tea.Cmd {
	m.say(format, args...)
	m.wrong = true
	return nil
}

// showError shows an error.
func (m *Model) showError(err error) {
	text := err.Error()
	var e *session.Error
	if errors.As(err, &e) {
		text = e.Problem
		if e.Hint != "" {
			text += "; " + e.Hint
		}
	}
	m.refuse("%s", strings.TrimPrefix(text, "winnow: "))
}

// handleKey takes a key.
func (m *Model) handleKey(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "ctrl+c" {
		return tea.Quit
	}
	if m.input != nil {
		return m.handleInputKey(k)
	}
	m.message, m.wrong = "", false
	switch {
	case m.ask != nil:
		if f := m.ask.do[strings.Replace(name, "enter", "y", 1)]; f != nil {
			m.ask = nil
			return f()
		}
		if name == "esc" || name == "q" || name == "n" {
			m.ask = nil
			m.say("nothing was changed")
		}
		return nil
	case m.help != nil:
		if name == "esc" || name == "q" || name == "enter" || name == "?" {
			m.help = nil
			return nil
		}
		*m.help, _ = m.help.Update(k)
		return nil
	}
	for _, g := range m.keys {
		for _, b := range g.keys {
			if key.Matches(k, b.Binding) && (m.sn != nil || g.name == early) {
				return b.do(m)
			}
		}
	}
	return nil
}

// cancelJobOrSearch calls off what is going on, or forgets the search.
func (m *Model) cancelJobOrSearch() {
	if m.busy != nil {
		m.busy.cancel()
		m.say("cancelling…")
		return
	}
	m.find = nil
}

// focusPane goes to a pane.
func (m *Model) focusPane(pane int) {
	m.focus = pane
	if pane != paneTree {
		m.talk = pane
	}
}

// readEntry goes from the tree to the text of its entry, and back.
func (m *Model) readEntry() {
	if m.focus != paneTree {
		m.focusPane(paneTree)
		return
	}
	m.focusPane(m.talk)
}

// mostTyped is how many characters a line of input takes.
const mostTyped = 2000

// input is a line that the person types.
type input struct {
	textinput.Model
	done func(typed string) tea.Cmd
}

func (m *Model) newInput(ask, hint string, done func(typed string) tea.Cmd) *input {
	in := &input{textinput.New(), done}
	in.Prompt, in.Placeholder, in.CharLimit = ask+" ", hint, mostTyped
	in.KeyMap.Paste.SetEnabled(false) // terminals paste by themselves
	look := in.Styles()
	look.Cursor.Blink = false
	in.SetStyles(look)
	in.Focus()
	return in
}

// take takes a key or a paste in. Nothing of it steers the terminal.
func (in *input) take(msg tea.Msg) {
	switch x := msg.(type) {
	case tea.KeyPressMsg:
		x.Text = termsafe.Plain(x.Text)
		msg = x
	case tea.PasteMsg:
		x.Content = strings.Join(strings.Fields(termsafe.Plain(x.Content)), " ")
		msg = x
	}
	in.Model, _ = in.Update(msg)
}

// handleInputKey takes a key into the line of input.
func (m *Model) handleInputKey(k tea.KeyPressMsg) tea.Cmd {
	in := m.input
	switch k.String() {
	case "esc":
		m.input = nil
		m.say("nothing was changed")
	case "enter":
		m.input = nil
		m.message, m.wrong = "", false
		return in.done(strings.TrimSpace(in.Value()))
	default:
		in.take(k)
	}
	return nil
}
