package viewer

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/plan"
)

// area is a pane's place on the screen.
type area struct{ pane, width int }

// areas returns the panes that are shown, from the left: all three where there
// is room, the tree beside one, or only the one that has the focus.
func (m *Model) areas() []area {
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

// body returns how many lines the panes have.
func (m *Model) body() int { return max(m.height-m.head()-m.foot(), 1) }

func (m *Model) head() int {
	if m.height < 8 {
		return 1
	}
	return 2
}

// foot is how many lines there are below the panes: the meter, and what is
// said.
func (m *Model) foot() int {
	if m.height < 5 {
		return 1
	}
	return 1 + len(m.bottomLines())
}

// layout tells the panes how large they are.
func (m *Model) layout() {
	h := m.body()
	for _, a := range m.areas() {
		if a.pane == paneTree {
			m.tree.resize(a.width, h)
		} else {
			m.conv[a.pane].resize(a.width, h)
		}
	}
	if m.pager != nil {
		m.pager.resize(m.width, h)
	}
}

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = "winnow tree"
	lines := make([]string, 0, m.height)
	if m.head() > 1 {
		lines = append(lines, m.title())
	}
	h := m.body()
	if m.pager != nil {
		lines = append(lines, m.heading([]area{{-1, m.width}}))
		for n := range h {
			lines = append(lines, m.pager.draw(n, m.find))
		}
	} else {
		areas := m.areas()
		lines = append(lines, m.heading(areas))
		for n := range h {
			lines = append(lines, m.across(areas, n))
		}
	}
	if m.height >= 5 {
		lines = append(lines, m.meter())
	}
	if m.input != nil {
		_, x := m.input.draw(m.width - 1)
		v.Cursor = tea.NewCursor(1+x, len(lines))
	}
	lines = append(lines, m.bottomLines()...)
	v.SetContent(strings.Join(lines[:min(len(lines), max(m.height, 1))], "\n"))
	return v
}

// across returns a line of all panes.
func (m *Model) across(areas []area, n int) string {
	var b strings.Builder
	for i, a := range areas {
		if i > 0 {
			b.WriteString(quiet.paint("│"))
		}
		switch {
		case m.sn == nil:
			text := ""
			if n == 0 && i == 0 {
				text = " reading…"
			}
			b.WriteString(pad(text, width(text), a.width))
		case a.pane == paneTree:
			b.WriteString(m.tree.draw(n, m.focus == paneTree, m.find))
		default:
			b.WriteString(m.conv[a.pane].draw(n, m.focus == a.pane, m.find))
		}
	}
	return b.String()
}

// title is the first line: what is shown, and what is special about it.
func (m *Model) title() string {
	name := m.o.Title
	if name == "" && m.sn != nil {
		if name = m.sn.name; name == "" {
			name = m.sn.id
		}
	}
	note, w := fit(m.o.Note, m.width/2)
	left := []piece{{strong, " " + short(name, max(m.width-w-4, 8))}}
	if m.sn != nil && m.sn.model != "" {
		left = append(left, piece{quiet, "  " + short(strings.TrimPrefix(m.sn.provider+"/"+m.sn.model, "/"), 40)})
	}
	return paintAll(left, m.width-w-1, plain) + inkMask.paint(note) + " "
}

// heading is the line above the panes with their names.
func (m *Model) heading(areas []area) string {
	var b strings.Builder
	for i, a := range areas {
		if i > 0 {
			b.WriteString(quiet.paint("┬"))
		}
		name, rest := "", ""
		switch a.pane {
		case -1:
			name = m.pager.title
		case paneTree:
			name = "Tree"
			if m.tree.f != nil {
				rest = plural(len(m.sn.places), "entry")
			}
		case paneView:
			name = "As the model sees it"
			if m.sn != nil {
				rest = plural(m.sn.view.Len(), "message")
			}
		case paneHistory:
			name = "As it was"
			if m.sn != nil {
				rest = plural(m.sn.history.Len(), "message")
			}
		}
		in := quiet
		if a.pane == m.focus || a.pane == -1 {
			in = accent
		}
		if rest != "" {
			rest = " · " + rest
		}
		name, n := fit(name, a.width-4)
		rest, r := cut(rest, max(a.width-n-4, 0))
		b.WriteString(quiet.paint("─ ") + in.paint(name) + quiet.paint(rest+" "+strings.Repeat("─", max(a.width-n-r-3, 0))))
	}
	return b.String()
}

// meter is the line that says how full the context is, and where the cursor is.
func (m *Model) meter() string {
	var left []piece
	switch {
	case m.status != nil:
		left = m.gauge()
	case m.sn != nil:
		left = []piece{{quiet, " measuring…"}}
	}
	right := []piece{}
	if m.sn != nil && m.pager == nil {
		at, n := m.tree.cursor+1, 0
		if m.tree.f != nil {
			n = len(m.tree.f.rows)
		}
		if c := m.conv[m.focus]; c != nil {
			at, n = c.cursor+1, c.len()
		}
		right = append(right, piece{quiet, fmt.Sprintf("%s of %s ", number(min(at, n)), number(n))})
	}
	w := pieceWidth(right)
	if w+20 > m.width {
		right, w = nil, 0
	}
	for len(left) > 0 && pieceWidth(left) >= m.width-w { // the last ones matter least
		left = left[:len(left)-1]
	}
	return paintAll(left, m.width-w, plain) + paintAll(right, w, plain)
}

// gauge draws how much of the available input is used.
func (m *Model) gauge() []piece {
	st := m.status
	cells := min(max(m.width/6, 8), 30)
	share := 0.0
	if st.Limits.Available > 0 {
		share = float64(st.Count.Tokens) / float64(st.Limits.Available)
	}
	used := min(int(share*float64(cells)+0.5), cells)
	in := inkGood
	switch {
	case st.ShouldCompact || !st.Fits:
		in = inkWrong
	case share >= 0.6:
		in = inkMask
	}
	out := []piece{
		{plain, " "},
		{in, strings.Repeat("█", used)},
		{quiet, strings.Repeat("░", cells-used)},
		{strong, fmt.Sprintf(" %.0f %%", 100*share)},
		{quiet, fmt.Sprintf("  %s of %s tokens", number(st.Count.Tokens), number(st.Limits.Available))},
	}
	if m.sn != nil && m.sn.saved != 0 {
		out = append(out, piece{quiet, fmt.Sprintf(" · %s saved", number(m.sn.saved))})
	}
	if st.ShouldCompact {
		out = append(out, piece{inkWrong, " · c compacts"})
	}
	return out
}

// mostSaying is how many lines a message may take.
const mostSaying = 3

// bottomLines are what stands at the screen's bottom: a question, what is going
// on, a message, or the keys.
func (m *Model) bottomLines() []string {
	w := max(m.width-2, 4)
	switch {
	case m.input != nil:
		text, _ := m.input.draw(m.width - 1)
		if m.input.short {
			return []string{" " + text, inkMask.paint(short(" cut to "+number(mostTyped)+" characters", m.width))}
		}
		return []string{" " + text}
	case m.ask != nil:
		return m.wrapped(m.ask.text+"  "+m.ask.keys, accent, w)
	case m.busy != nil:
		text := fmt.Sprintf("%s %s… %s", spinner[m.frame%len(spinner)], m.busy.what, elapsed(m.o.Now().Sub(m.busy.started)))
		if m.message != "" {
			text += "  " + m.message
		} else {
			text += "  esc cancels"
		}
		return m.wrapped(text, inkMask, w)
	case m.message != "":
		if m.wrong {
			return m.wrapped("! "+m.message, inkWrong, w)
		}
		return m.wrapped(m.message, plain, w)
	}
	return []string{" " + quiet.paint(short(m.hint(), w))}
}

func (m *Model) wrapped(text string, in ink, w int) []string {
	var out []string
	for off := 0; off < len(text) && len(out) < mostSaying; {
		l := wrap(text, off, w)
		if len(out) == mostSaying-1 && l.next < len(text) {
			l.text = short(text[off:], w)
		}
		off = l.next
		out = append(out, " "+in.paint(l.text))
	}
	return out
}

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func elapsed(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }

// hint names the keys that matter most here, as many as there is room for.
func (m *Model) hint() string {
	if m.pager != nil {
		return "↑↓ read · esc back"
	}
	keys := []string{"? help", "q quit", "tab pane"}
	if m.sn != nil {
		e := m.edit()
		switch {
		case m.focus == paneTree:
			keys = append(keys, "enter entry")
			if r, ok := m.tree.current(); ok && !m.sn.places[r.place].OnPath {
				keys = append(keys, "m move the leaf here")
			}
		case e == nil:
			keys = append(keys, "enter more")
		case e.Kind == plan.Fold || e.Kind == plan.Drop:
			keys = append(keys, "enter originals", "i why")
		default:
			keys = append(keys, "enter original", "i why")
		}
	}
	text := ""
	for _, k := range append(keys, "c compact", "u undo", "p pin", "m move", "/ search", "L label") {
		if width(text)+width(k)+3 > m.width-2 {
			break
		}
		if text != "" {
			text += " · "
		}
		text += k
	}
	return text
}
