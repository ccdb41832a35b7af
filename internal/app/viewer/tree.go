package viewer

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/session"
)

// treePane shows the tree, a line for each entry.
type treePane struct {
	width, height int
	cursor, top   int

	s    *session.Session
	sn   *snapshot
	f    *forest
	all  bool
	leaf int // the line of the leaf, or -1

	said map[string]said // by entry; entries never change
}

// said is what a line of the tree says.
type said struct {
	who, text string
	ink       ansi.Style
	line      bool // drawn as a line across
}

// whoWidth is the column of who speaks.
const whoWidth = 6

// mostSaid is how many lines are remembered.
const mostSaid = 20000

func (t *treePane) len() int {
	if t.f == nil {
		return 0
	}
	return len(t.f.rows)
}

func (t *treePane) reset(sn *snapshot) {
	id := ""
	if r, ok := t.current(); ok {
		id = t.sn.places[r.place].ID
	}
	t.sn, t.f, t.leaf = sn, sn.growForest(t.all), -1
	if k, ok := sn.byID[sn.leaf]; ok && len(t.f.rows) > 0 {
		t.leaf = int(t.f.at[k])
	}
	if k, ok := sn.byID[id]; ok {
		t.cursor = int(t.f.at[k])
	}
	t.choose(t.cursor)
}

// choose moves the cursor to a line, and shows it.
func (t *treePane) choose(k int) {
	t.cursor = max(min(k, t.len()-1), 0)
	t.top = max(min(t.top, t.cursor, t.len()-t.height), t.cursor-t.height+1, 0)
}

func (t *treePane) resize(width, height int) {
	t.width, t.height = width, max(height, 1)
	t.choose(t.cursor)
}

func (t *treePane) current() (row, bool) {
	if t.cursor >= t.len() {
		return row{}, false
	}
	return t.f.rows[t.cursor], true
}

// entryWords returns what a line says. Entries beside the path are read as they come on
// the screen.
func (t *treePane) entryWords(place int) said {
	p := &t.sn.places[place]
	if h := int(t.sn.message[place]); h >= 0 && p.Type == session.TypeMessage {
		s := describeMessage(t.sn.history.At(h))
		if results := resultWords(t.sn.history, h); results != "" {
			s.text = results
		}
		return s
	}
	if s, ok := t.said[p.ID]; ok {
		return s
	}
	s := said{text: "…", ink: quiet}
	if e, err := t.s.Entry(p.ID); err == nil {
		s = describeEntry(&e)
	}
	if t.said == nil || len(t.said) > mostSaid {
		t.said = make(map[string]said)
	}
	t.said[p.ID] = s
	return s
}

// describeEntry returns what a line says of an entry.
func describeEntry(e *session.Entry) said {
	switch {
	case e.Compaction != nil:
		c := e.Compaction
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
	s := said{who: string(e.Type), ink: quiet}
	switch e.Type {
	case session.TypeModelChange:
		s.who, s.text = "model is", strings.Trim(e.Provider+"/"+e.Model, "/")
	case session.TypeLabel:
		s.text = e.Label + " on " + shortID(e.Target)
	case session.TypeName:
		s.who, s.text = "name", e.Name
	case session.TypeCustom:
		s.text = e.Custom
	}
	return s
}

// shortID is as much of an id as people need.
func shortID(id string) string { return id[:min(len(id), 8)] }

// draw returns the pane's lines.
func (t *treePane) draw(focused bool, find *regexp.Regexp) []string {
	out := make([]string, t.height)
	for i := range out {
		line, k := "", t.top+i
		switch {
		case t.len() == 0 && i == 0:
			line = quiet.Styled("   nothing yet")
		case k >= t.len():
		case k == t.cursor && focused:
			line = cursor.Styled(fitWidth("▸"+ansi.Strip(t.entryLine(k, find)), t.width)) // stripes of many colours would be hard to read
		case k == t.cursor:
			line = quiet.Styled("▌") + t.entryLine(k, find)
		default:
			line = " " + t.entryLine(k, find)
		}
		out[i] = fitWidth(line, t.width)
	}
	return out
}

// entryLine returns a line without the cursor before it.
func (t *treePane) entryLine(k int, find *regexp.Regexp) string {
	r := t.f.rows[k]
	p, s := &t.sn.places[r.place], t.entryWords(int(r.place))
	sign := " "
	if h := t.sn.message[r.place]; h >= 0 {
		sign = t.sn.state[h].sign()
		if t.sn.pins[int(h)] {
			sign = inkPin.Styled(pinSign)
		}
	}
	tail := ""
	if l := t.sn.labels[p.ID]; l != "" {
		tail += inkPin.Styled(" [" + shortenTo(l, 16) + "]")
	}
	if k == t.leaf {
		tail += inkGood.Styled(" ◂")
	}
	lead := sign + " " + quiet.Styled(r.guides)
	room := t.width - 2 - ansi.StringWidthWc(lead) - ansi.StringWidthWc(tail)
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
	return lead + fitWidth(whoInk.Styled(who)+markMatches(words, look, find), room) + tail
}
