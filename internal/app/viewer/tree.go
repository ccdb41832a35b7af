package viewer

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/session"
)

// said is what a line of the tree says.
type said struct {
	who, text string
	ink       ansi.Style
	line      bool // drawn as a line across
}

// whoWidth is the column of who speaks.
const whoWidth = 6

// choose moves the cursor of the tree to a row, and shows it.
func (m *Model) choose(k int) {
	n, height := len(m.sn.rows), m.bodyHeight()
	m.cursor = max(min(k, n-1), 0)
	m.top = max(min(m.top, m.cursor, n-height), m.cursor-height+1, 0)
}

// entryWords returns what a line says. Entries beside the path are read as they come on
// the screen.
func (m *Model) entryWords(place int) said {
	p := &m.sn.places[place]
	if h := int(m.sn.message[place]); h >= 0 && p.Type == session.TypeMessage {
		s := describeMessage(m.sn.history.At(h))
		if results := resultWords(m.sn.history, h); results != "" {
			s.text = results
		}
		return s
	}
	s, ok := m.said[p.ID]
	if !ok {
		s = said{text: "…", ink: quiet}
		if e, err := m.s.Entry(p.ID); err == nil {
			s = describeEntry(&e)
			s.text = shortenTo(s.text, 200)
		}
		m.said[p.ID] = s
	}
	return s
}

// describeEntry returns what a line says of an entry.
func describeEntry(e *session.Entry) said {
	switch c := e.Compaction; {
	case c != nil:
		s := said{who: "compaction", ink: inkFold, line: true}
		if c.Rewinds != "" {
			s.who = "undo of " + shortID(c.Rewinds)
		}
		switch {
		case c.TokensAfter > 0:
			s.text = fmt.Sprintf("%s → %s tokens", show.Thousands(c.TokensBefore), show.Thousands(c.TokensAfter))
		case c.TokensBefore > 0:
			s.text = fmt.Sprintf("at %s tokens", show.Thousands(c.TokensBefore))
		}
		if c.Focus != "" {
			s.text += " · " + c.Focus
		}
		return s
	case e.Branch != nil:
		return said{who: "branch", text: e.Branch.Summary, ink: inkFold}
	case e.Message != nil:
		return describeMessage(e.Message)
	}
	return said{who: "model is", text: strings.Trim(e.Provider+"/"+e.Model, "/"), ink: quiet}
}

// shortID is as much of an id as people need.
func shortID(id string) string { return id[:min(len(id), 8)] }

// drawTree returns the lines of the tree.
func (m *Model) drawTree(width int) []string {
	out := make([]string, m.bodyHeight())
	for i := range out {
		k := m.top + i
		switch {
		case len(m.sn.rows) == 0 && i == 0:
			out[i] = quiet.Styled("   nothing yet")
		case k >= len(m.sn.rows):
		case k == m.cursor && m.focus == paneTree: // stripes of many colours would be hard to read
			out[i] = cursor.Styled(fitWidth("▸"+ansi.Strip(m.entryLine(k, width)), width))
		case k == m.cursor:
			out[i] = quiet.Styled("▌") + m.entryLine(k, width)
		default:
			out[i] = " " + m.entryLine(k, width)
		}
	}
	return out
}

// mostGuides is how many of the lines of branches are drawn before an entry.
const mostGuides = 6

// entryLine returns a line without the cursor before it.
func (m *Model) entryLine(k, width int) string {
	r := m.sn.rows[k]
	p, s := &m.sn.places[r.place], m.entryWords(int(r.place))
	sign := " "
	if h := int(m.sn.message[r.place]); h >= 0 {
		look := lookOf(m.sn.edits[h])
		if sign = look.ink.Styled(look.sign); m.sn.isPinned(h) {
			sign = inkPin.Styled(pinSign)
		}
	}
	tail := ""
	if l := m.sn.labels[p.ID]; l != "" {
		tail += inkPin.Styled(" [" + shortenTo(l, 16) + "]")
	}
	if k == m.sn.leaf {
		tail += inkGood.Styled(" ◂")
	}
	guides := strings.Repeat("│ ", min(int(r.depth), mostGuides))
	if r.forks {
		guides = strings.TrimSuffix(guides, "│ ") + "├─"
	}
	lead := sign + " " + quiet.Styled(guides)
	room := width - 2 - ansi.StringWidthWc(lead) - ansi.StringWidthWc(tail)
	look, whoInk := plain, s.ink
	if s.who == "tool" {
		look = quiet
	}
	if !p.OnPath {
		look, whoInk = quiet, quiet
	}
	if s.line {
		return lead + whoInk.Styled(drawRule(s.who+" "+s.text, room)) + tail
	}
	who := ""
	if s.who != "" {
		who = shortenTo(s.who, min(room, max(room/3, whoWidth)))
		who += spaces(whoWidth-ansi.StringWidthWc(who)) + " "
	}
	words := shortenTo(s.text, room-ansi.StringWidthWc(who))
	return lead + fitWidth(whoInk.Styled(who)+markMatches(words, look, m.find), room) + tail
}
