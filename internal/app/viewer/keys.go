package viewer

import (
	"errors"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	"github.com/winnow-llm/winnow/session"
)

// helpText lists the keys and the signs that stand before messages and entries.
const helpText = `Moving
  ↑ ↓  k j   one entry of the tree, or one line of a text
  PgUp PgDn  one page (also ctrl+b, ctrl+f)
  g G        to the top, to the bottom (also Home, End)
  Tab  ← →   to the next pane; 1 tree, 2 as the model sees it, 3 as it was
  Enter      read the entry at the cursor; again goes back to the tree
  /  n N     search in all entries; the next, the one before
  ]  [       the next edit, the one before

Doing
  p          pin the message, so that no stage edits it; again removes the pin
  c          compact now, with an optional focus; esc cancels
  u          undo the compaction at the cursor, or else the last one
  m          move the leaf to the entry at the cursor, with or without a
             summary of the abandoned branch

Leaving
  q  Ctrl+C  cancel what is in progress; everything written stays

Signs
  ~          masked: a part is replaced by something shorter
  =          folded: a run of messages became a summary
  -          dropped: a run of messages became a marker
  +          answered: a call or a result without the other was repaired
  *  ◂       pinned; the leaf, where the conversation goes on`

// handleKey takes a key.
func (m *Model) handleKey(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case m.input != nil:
		return m.handleInputKey(k)
	}
	m.message, m.wrong = "", false
	switch {
	case m.ask != nil:
		return m.answerQuestion(name)
	case m.moveByKey(name):
		return nil
	case m.help:
		m.help = !strings.Contains(" esc q enter ? f1 ", " "+name+" ")
		return nil
	}
	switch name {
	case "q":
		return tea.Quit
	case "esc":
		if m.busy == nil {
			m.find = nil
			break
		}
		m.busy.cancel()
		m.say("cancelling…")
	case "?", "f1":
		m.help = true
	}
	if m.sn != nil {
		return m.actByKey(name)
	}
	return nil
}

// moveByKey moves the cursor of the tree, or scrolls the text that has the focus. It
// reports whether the key is one for that.
func (m *Model) moveByKey(name string) bool {
	const all = 1 << 40
	page := m.bodyHeight() - 1
	lines, moves := map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "ctrl+b": -page, "pgdown": page, "ctrl+f": page, "space": page,
		"home": -all, "g": -all, "end": all, "G": all,
	}[name]
	if !moves {
		return false
	}
	if pane := m.activePane(); pane != paneTree {
		text := &m.texts[pane]
		text.SetYOffset(text.YOffset() + lines)
	} else if m.sn != nil {
		m.choose(m.cursor + lines)
	}
	return true
}

// actByKey does what the other keys do in a session.
func (m *Model) actByKey(name string) tea.Cmd {
	switch name {
	case "tab", "right", "l":
		m.focusPane((m.focus + 1) % panes)
	case "shift+tab", "left", "h":
		m.focusPane((m.focus + panes - 1) % panes)
	case "1", "2", "3":
		m.focusPane(int(name[0] - '1'))
	case "enter":
		if m.focus == paneTree {
			m.focusPane(m.talk)
		} else {
			m.focusPane(paneTree)
		}
	case "/":
		m.askWords("Search:", "words, whatever their case", m.startSearch)
	case "n":
		return m.searchAgain(1)
	case "N":
		return m.searchAgain(-1)
	case "]":
		m.nextEdit(1)
	case "[":
		m.nextEdit(-1)
	case "p":
		return m.togglePin()
	case "c":
		m.compactWithFocus()
	case "u":
		m.undoCompaction()
	case "m":
		m.moveLeaf()
	}
	return nil
}

func (m *Model) say(format string, args ...any) {
	m.message, m.wrong = fmt.Sprintf(format, args...), false
}

// refuse says why nothing is done.
func (m *Model) refuse(format string, args ...any) {
	m.say(format, args...)
	m.wrong = true
}

// showError shows an error.
func (m *Model) showError(err error) {
	text := err.Error()
	if e, ok := errors.AsType[*session.Error](err); ok {
		text = e.Problem
		if e.Hint != "" {
			text += "; " + e.Hint
		}
	}
	m.refuse("%s", strings.TrimPrefix(text, "winnow: "))
}

// activePane returns the pane that the moving keys are for.
func (m *Model) activePane() int {
	if m.help {
		return paneHelp
	}
	return m.focus
}

// focusPane goes to a pane.
func (m *Model) focusPane(pane int) {
	m.focus = pane
	if pane != paneTree {
		m.talk = pane
	}
}

// question waits for one of some keys. Enter is y.
type question struct {
	text string // also says what the keys do
	do   map[string]func() tea.Cmd
}

func (m *Model) answerQuestion(name string) tea.Cmd {
	if f := m.ask.do[strings.Replace(name, "enter", "y", 1)]; f != nil {
		m.ask = nil
		return f()
	}
	if name == "esc" || name == "q" || name == "n" {
		m.ask = nil
		m.say("nothing was changed")
	}
	return nil
}

// mostTyped is how many characters a line of input takes.
const mostTyped = 2000

// input is a line that the person types.
type input struct {
	textinput.Model
	done func(typed string) tea.Cmd
}

// askWords has the person type a line.
func (m *Model) askWords(ask, hint string, done func(typed string) tea.Cmd) {
	in := &input{textinput.New(), done}
	in.Prompt, in.Placeholder, in.CharLimit = ask+" ", hint, mostTyped
	in.KeyMap.Paste.SetEnabled(false) // terminals paste by themselves
	look := in.Styles()
	look.Cursor.Blink = false
	in.SetStyles(look)
	in.Focus()
	m.input = in
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
