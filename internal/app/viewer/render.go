package viewer

import (
	"cmp"
	"fmt"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// area is a pane's place on the screen.
type area struct{ pane, width int }

// paneAreas returns the panes that are shown, from the left: all three where there
// is room, the tree beside one, or the focused pane alone.
func (m *Model) paneAreas() []area {
	switch {
	case m.width >= 150:
		tree := min(max(m.width/4, 36), 56)
		rest := m.width - tree - 2
		return []area{{paneTree, tree}, {paneView, rest / 2}, {paneHistory, rest - rest/2}}
	case m.width >= 100:
		tree := min(max(m.width/3, 32), 44)
		return []area{{paneTree, tree}, {m.talk, m.width - tree - 1}}
	}
	return []area{{m.focus, m.width}}
}

// bodyHeight returns how many lines the panes have.
func (m *Model) bodyHeight() int { return max(m.height-m.headHeight()-m.footHeight(), 1) }

func (m *Model) headHeight() int {
	if m.height < 8 {
		return 1
	}
	return 2
}

// footHeight returns how many lines stand below the panes: the meter, and the
// bottom lines.
func (m *Model) footHeight() int {
	if m.height < 5 {
		return 1
	}
	return 1 + len(m.bottomLines())
}

// layOutPanes tells the panes how large they are.
func (m *Model) layOutPanes() {
	h := m.bodyHeight()
	for _, a := range m.paneAreas() {
		if a.pane == paneTree {
			m.tree.resize(a.width, h)
		} else {
			m.layOutText(a.pane, a.width, h)
		}
	}
	if m.help != nil {
		m.help.SetHeight(h)
		if m.help.Width() != m.width {
			setLines(m.help, wrapParagraphs(m.helpText(), m.width-4), m.width, nil)
		}
	}
}

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "winnow tree"
	var lines []string
	if m.headHeight() > 1 {
		lines = append(lines, m.titleLine())
	}
	lines = append(lines, m.headingLine())
	lines = append(lines, m.drawPanes()...)
	if m.height >= 5 {
		lines = append(lines, m.meterLine())
	}
	lines = append(lines, m.bottomLines()...)
	for i, l := range lines {
		lines[i] = fitWidth(l, max(m.width, 1))
	}
	v.SetContent(strings.Join(lines[:min(len(lines), max(m.height, 1))], "\n"))
	return v
}

// drawPanes returns the lines of the help, or of all panes beside each other.
func (m *Model) drawPanes() []string {
	switch {
	case m.help != nil:
		return strings.Split(m.help.View(), "\n")
	case m.sn == nil:
		return append([]string{" reading…"}, make([]string, m.bodyHeight()-1)...)
	}
	out := make([]string, m.bodyHeight())
	for i, a := range m.paneAreas() {
		var rows []string
		if a.pane == paneTree {
			rows = m.tree.draw(m.focus == a.pane, m.find)
		} else {
			rows = strings.Split(m.texts[a.pane].View(), "\n")
		}
		for n, row := range rows {
			row = fitWidth(row, a.width)
			if i > 0 {
				row = quiet.Styled("│") + row
			}
			if n < len(out) { // a clock below may have grown by a line since the layout
				out[n] += row
			}
		}
	}
	return out
}

// titleLine returns the first line: what is shown, and what is special about it.
func (m *Model) titleLine() string {
	name, model := m.o.Title, ""
	if m.sn != nil {
		name = cmp.Or(name, m.sn.name, m.sn.id)
		if m.sn.model != "" {
			model = strings.TrimPrefix(m.sn.provider+"/"+m.sn.model, "/")
		}
	}
	note := shortenTo(m.o.Note, m.width/2)
	room := m.width - ansi.StringWidthWc(note) - 2
	name = shortenTo(name, max(room-2, 8))
	model = shortenTo(model, min(room-ansi.StringWidthWc(name)-4, 40))
	left := strong.Styled(" "+name) + quiet.Styled("  "+model)
	return fitWidth(left, room+1) + inkMask.Styled(note) + " "
}

// headingLine returns the line above the panes with their names.
func (m *Model) headingLine() string {
	if m.help != nil {
		return m.paneName("Keys", "", m.width, true)
	}
	var names []string
	for _, a := range m.paneAreas() {
		name, rest := [...]string{"Tree", "As the model sees it", "As it was"}[a.pane], ""
		if m.sn != nil {
			rest = " · " + [...]string{plural(len(m.sn.places), "entry"), plural(m.sn.view.Len(), "message"), plural(m.sn.history.Len(), "message")}[a.pane]
		}
		names = append(names, m.paneName(name, rest, a.width, a.pane == m.focus))
	}
	return strings.Join(names, quiet.Styled("┬"))
}

func (m *Model) paneName(name, rest string, width int, focused bool) string {
	look := quiet
	if focused {
		look = accent
	}
	text := ansi.TruncateWc(quiet.Styled("─ ")+look.Styled(name)+quiet.Styled(rest+" "), width, "")
	return text + quiet.Styled(strings.Repeat("─", max(width-ansi.StringWidthWc(text), 0)))
}

// meterLine returns the line that says how full the context is, and where the cursor is.
func (m *Model) meterLine() string {
	left, right := "", ""
	switch {
	case m.status != nil:
		left = m.drawGauge()
	case m.sn != nil:
		left = quiet.Styled(" measuring…")
	}
	if n := m.tree.len(); m.sn != nil && m.help == nil {
		right = fmt.Sprintf("%s of %s ", number(min(m.tree.cursor+1, n)), number(n))
	}
	if len(right)+20 > m.width {
		right = ""
	}
	return fitWidth(left, m.width-len(right)) + quiet.Styled(right)
}

// drawGauge draws how much of the available input is used.
func (m *Model) drawGauge() string {
	st := m.status
	cells := min(max(m.width/6, 8), 30)
	share := show.Ratio(st.Count.Tokens, st.Limits.Available)
	used := min(int(share*float64(cells)+0.5), cells)
	look := inkGood
	switch {
	case st.ShouldCompact || !st.Fits:
		look = inkWrong
	case share >= 0.6:
		look = inkMask
	}
	out := " " + look.Styled(strings.Repeat("█", used)) + quiet.Styled(strings.Repeat("░", cells-used)) + strong.Styled(fmt.Sprintf(" %.0f %%", 100*share))
	more := []string{quiet.Styled(fmt.Sprintf("  %s of %s tokens", number(st.Count.Tokens), number(st.Limits.Available)))}
	if m.sn != nil && m.sn.saved != 0 {
		more = append(more, quiet.Styled(fmt.Sprintf(" · %s saved", number(m.sn.saved))))
	}
	if st.ShouldCompact {
		more = append(more, inkWrong.Styled(" · c compacts"))
	}
	for _, s := range more { // as much as there is room for, beside the cursor's place
		if ansi.StringWidthWc(out+s) < m.width-12 {
			out += s
		}
	}
	return out
}

// mostSaying is how many lines a message may take.
const mostSaying = 3

// bottomLines returns the lines at the screen's bottom: a question, what is going
// on, a message, or the keys.
func (m *Model) bottomLines() []string {
	switch {
	case m.input != nil:
		m.input.SetWidth(max(m.width-len(m.input.Prompt)-3, 1))
		out := []string{" " + m.input.View()}
		if n := len([]rune(m.input.Value())); n >= mostTyped {
			out = append(out, inkMask.Styled(" cut to "+number(mostTyped)+" characters"))
		}
		return out
	case m.ask != nil:
		return m.wrapMessage(m.ask.text+"  "+m.ask.keys, accent)
	case m.busy != nil:
		text := fmt.Sprintf("%s %s… %d s  ", m.spin.View(), m.busy.what, int(m.o.Now().Sub(m.busy.started).Seconds()))
		return m.wrapMessage(text+cmp.Or(m.message, "esc cancels"), inkMask)
	case m.message != "" && m.wrong:
		return m.wrapMessage("! "+m.message, inkWrong)
	case m.message != "":
		return m.wrapMessage(m.message, plain)
	}
	h := help.Model{ShortSeparator: " · "}
	h.SetWidth(m.width - 2)
	return []string{" " + quiet.Styled(h.ShortHelpView(m.keyHints()))}
}

func (m *Model) wrapMessage(s string, look ansi.Style) []string {
	width := max(m.width-2, 4)
	lines := wrapLines(termsafe.Plain(s), width)
	if len(lines) > mostSaying {
		lines = append(lines[:mostSaying-1], shortenTo(strings.Join(lines[mostSaying-1:], " "), width))
	}
	for i, l := range lines {
		lines[i] = " " + look.Styled(l)
	}
	return lines
}

// keyHints returns the keys that matter most here.
func (m *Model) keyHints() []key.Binding {
	var out []key.Binding
	add := func(pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, key.NewBinding(key.WithKeys(pairs[i]), key.WithHelp(pairs[i], pairs[i+1])))
		}
	}
	if m.help != nil {
		add("↑↓", "read", "esc", "back")
		return out
	}
	add("?", "help", "q", "quit", "tab", "pane")
	if m.sn != nil {
		add("enter", map[bool]string{true: "read", false: "tree"}[m.focus == paneTree])
		if r, ok := m.tree.current(); ok && !m.sn.places[r.place].OnPath {
			add("m", "move the leaf here")
		}
	}
	add("c", "compact", "u", "undo", "p", "pin", "m", "move", "/", "search", "L", "label")
	return out
}
