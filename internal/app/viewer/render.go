package viewer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

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
	case m.help:
		return []area{{paneHelp, m.width}}
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

// bodyHeight returns how many lines the panes have. The title goes first where there is
// no room, then the meter and what stands below it.
func (m *Model) bodyHeight() int {
	rest := 1
	if m.height >= 8 {
		rest++
	}
	if m.height >= 5 {
		rest += len(m.bottomLines())
	}
	return max(m.height-rest-1, 1)
}

// layOutPanes tells the panes how large they are.
func (m *Model) layOutPanes() {
	if m.sn != nil {
		m.choose(m.cursor)
	}
	for _, a := range m.paneAreas() {
		if a.pane == paneHelp || a.pane != paneTree && m.sn != nil {
			m.layOutText(a.pane, a.width)
		}
	}
}

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "winnow tree"
	var lines []string
	if m.height >= 8 {
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

// drawPanes returns the lines of all panes beside each other.
func (m *Model) drawPanes() []string {
	out := make([]string, m.bodyHeight())
	if m.sn == nil && !m.help {
		out[0] = " reading…"
		return out
	}
	for i, a := range m.paneAreas() {
		var rows []string
		if a.pane == paneTree {
			rows = m.drawTree(a.width)
		} else {
			rows = strings.Split(m.texts[a.pane].View(), "\n")
		}
		for n, row := range rows[:min(len(rows), len(out))] { // a clock below may have grown since the layout
			if i > 0 {
				out[n] += quiet.Styled("│")
			}
			out[n] += fitWidth(row, a.width)
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
	var names []string
	for _, a := range m.paneAreas() {
		name, rest, look := [...]string{"Tree", "As the model sees it", "As it was", "Keys"}[a.pane], "", quiet
		if m.sn != nil && a.pane != paneHelp {
			rest = " · " + [...]string{plural(len(m.sn.places), "entry"), plural(m.sn.view.Len(), "message"), plural(m.sn.history.Len(), "message")}[a.pane]
		}
		if a.pane == m.activePane() {
			look = accent
		}
		text := ansi.TruncateWc(quiet.Styled("─ ")+look.Styled(name)+quiet.Styled(rest+" "), a.width, "")
		names = append(names, text+quiet.Styled(strings.Repeat("─", max(a.width-ansi.StringWidthWc(text), 0))))
	}
	return strings.Join(names, quiet.Styled("┬"))
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
	if m.sn != nil && !m.help {
		n := len(m.sn.rows)
		right = fmt.Sprintf("%s of %s ", number(min(m.cursor+1, n)), number(n))
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
		return m.wrapMessage(m.ask.text, accent)
	case m.busy != nil:
		text := fmt.Sprintf("%s %s… %d s  ", m.spin.View(), m.busy.what, int(time.Since(m.busy.started).Seconds()))
		return m.wrapMessage(text+cmp.Or(m.message, "esc cancels"), inkMask)
	case m.message != "" && m.wrong:
		return m.wrapMessage("! "+m.message, inkWrong)
	case m.message != "":
		return m.wrapMessage(m.message, plain)
	}
	return []string{" " + quiet.Styled(shortenTo(m.keyHints(), m.width-2))}
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
func (m *Model) keyHints() string {
	if m.help {
		return "↑↓ read · esc back"
	}
	hints := "? help · q quit · tab pane"
	if place, _, _ := m.selectedItem(); place >= 0 {
		hints += " · enter " + map[bool]string{true: "read", false: "tree"}[m.focus == paneTree]
		if !m.sn.places[place].OnPath {
			hints += " · m move the leaf here"
		}
	}
	return hints + " · c compact · u undo · p pin · m move · / search"
}
