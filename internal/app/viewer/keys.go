package viewer

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/session"
)

func (m *Model) say(format string, args ...any) {
	m.message, m.wrong = fmt.Sprintf(format, args...), false
}

// fail shows an error.
func (m *Model) fail(err error) {
	text := err.Error()
	var e *session.Error
	if errors.As(err, &e) {
		text = e.Problem
		if e.Hint != "" {
			text += "; " + e.Hint
		}
	}
	m.message, m.wrong = strings.TrimPrefix(text, "winnow: "), true
}

// key takes a key.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		m.stop()
		return tea.Quit
	case m.input != nil:
		return m.typed(k)
	}
	m.message, m.wrong = "", false
	switch {
	case m.ask != nil:
		ask := m.ask
		if f := ask.do[name]; f != nil {
			m.ask = nil
			return f()
		}
		if name == "esc" || name == "q" || name == "n" {
			m.ask = nil
			m.say("nothing was changed")
		}
		return nil
	case m.pager != nil:
		if m.pager.key(name) {
			m.pager = nil
		}
		return nil
	}
	switch name {
	case "q":
		m.stop()
		return tea.Quit
	case "esc":
		m.escape()
	case "?", "f1":
		m.pager = &pager{title: "Keys", pars: helpText()}
	case "tab", "right", "l":
		m.turn(1)
	case "shift+tab", "left", "h":
		m.turn(-1)
	case "1", "2", "3":
		m.point(int(name[0] - '1'))
	default:
		if m.sn == nil {
			return nil
		}
		if m.move(name) {
			return nil
		}
		return m.act(name)
	}
	return nil
}

// escape calls off what is going on, or forgets the search.
func (m *Model) escape() {
	if m.busy != nil {
		m.busy.cancel()
		m.say("cancelling…")
		return
	}
	m.find = ""
}

// turn goes to the next pane.
func (m *Model) turn(n int) { m.point((m.focus + n + panes) % panes) }

func (m *Model) point(pane int) {
	m.focus = pane
	if pane != paneTree {
		m.talk = pane
	}
}

// mover is a pane in which a cursor moves: by lines or messages, by pages, to the
// first or last.
type mover interface {
	step(n int)
	page(n int)
	ends(last bool)
}

// move moves the cursor in the pane; false when the key moves nothing.
func (m *Model) move(name string) bool {
	var p mover = &m.tree
	if m.focus != paneTree {
		p = m.conv[m.focus]
	}
	switch name {
	case "down", "j":
		p.step(1)
	case "up", "k":
		p.step(-1)
	case "pgdown", "ctrl+f", "space":
		p.page(1)
	case "pgup", "ctrl+b":
		p.page(-1)
	case "home", "g":
		p.ends(false)
	case "end", "G":
		p.ends(true)
	default:
		return false
	}
	m.follow(m.focus)
	return true
}

// act does what the other keys ask for.
func (m *Model) act(name string) tea.Cmd {
	switch name {
	case "enter", "e", "r":
		return m.open()
	case "f":
		if c := m.conv[m.focus]; c != nil && c.len() > 0 {
			c.showAll()
			return nil
		}
		return m.open()
	case "i":
		m.explain()
	case "a":
		m.tree.all = !m.tree.all
		m.tree.reset(m.sn)
		if m.tree.all {
			m.say("all entries are listed; press a to list only the important ones")
		}
	case "p":
		return m.pin()
	case "c":
		return m.compact()
	case "u":
		return m.undo()
	case "m":
		return m.travel()
	case "L":
		return m.label()
	case "R":
		return m.refresh()
	case "/":
		m.input = &input{ask: "Search:", hint: "words, whatever their case", done: m.search}
	case "n":
		return m.again(1)
	case "N":
		return m.again(-1)
	case "]":
		m.nextEdit(1)
	case "[":
		m.nextEdit(-1)
	}
	return nil
}

// typed takes a key into the line of input.
func (m *Model) typed(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		m.input = nil
		m.say("nothing was changed")
	case "enter":
		in := m.input
		m.input = nil
		m.message, m.wrong = "", false
		return in.done(strings.TrimSpace(string(in.text)))
	default:
		m.input.key(k)
	}
	return nil
}
