package viewer

import (
	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
)

// press presses a key, or types a text, and waits for what comes of it.
func (m *Model) press(key string) {
	if k, ok := named[key]; ok {
		m.drive(tea.KeyPressMsg(k))
		return
	}
	for _, r := range key {
		m.drive(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// named are the keys that have names.
var named = map[string]tea.Key{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace},
	"delete": {Code: tea.KeyDelete}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "space": {Code: tea.KeySpace, Text: " "},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl},
	"ctrl+a": {Code: 'a', Mod: tea.ModCtrl}, "ctrl+e": {Code: 'e', Mod: tea.ModCtrl}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl},
}

// drive takes a message in and runs the commands that come of it, one after the
// other, until there are none.
func (m *Model) drive(msg tea.Msg) {
	_, cmd := m.Update(msg)
	m.settle(cmd)
}

func (m *Model) settle(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, spinner.TickMsg, tea.QuitMsg:
	case tea.BatchMsg:
		for _, c := range msg {
			m.settle(c)
		}
	default:
		m.drive(msg)
	}
}
