package viewer

import (
	"fmt"
	"maps"
	"strings"

	"github.com/winnow-llm/winnow/session"
)

// treePane shows the tree, a line for each entry.
type treePane struct {
	sn  *snapshot
	f   *forest
	all bool

	width, height int
	cursor, top   int
	leaf          int // the line of the leaf, or -1

	said    map[string]said // by entry; entries never change
	waiting map[string]bool // that were asked for
}

// said is what a line of the tree says.
type said struct {
	who, text string
	ink       ink
	line      bool // drawn as a line across
}

// whoWidth is the column of who speaks.
const whoWidth = 6

// mostSaid is how many lines are remembered.
const mostSaid = 20000

func (t *treePane) reset(sn *snapshot) {
	id := ""
	if r, ok := t.current(); ok {
		id = t.sn.places[r.place].ID
	}
	t.sn = sn
	t.f = sn.grow(t.all)
	t.waiting = nil
	t.leaf = -1
	if k, ok := sn.byID[sn.leaf]; ok && len(t.f.rows) > 0 {
		t.leaf = int(t.f.at[k])
	}
	if k, ok := sn.byID[id]; ok {
		t.cursor = int(t.f.at[k])
	}
	t.choose(t.cursor)
}

func (t *treePane) resize(width, height int) {
	t.width, t.height = width, max(height, 1)
	t.choose(t.cursor)
}

func (t *treePane) current() (row, bool) {
	if t.f == nil || t.cursor >= len(t.f.rows) {
		return row{}, false
	}
	return t.f.rows[t.cursor], true
}

// choose moves the cursor to a line and shows it, away from the edges.
func (t *treePane) choose(k int) {
	if t.f == nil || len(t.f.rows) == 0 {
		t.cursor, t.top = 0, 0
		return
	}
	t.cursor = min(max(k, 0), len(t.f.rows)-1)
	edge := min(2, (t.height-1)/2)
	t.top = min(t.top, max(t.cursor-edge, 0))
	t.top = max(t.top, t.cursor+edge-t.height+1)
	t.top = min(max(t.top, 0), max(len(t.f.rows)-t.height, 0))
}

func (t *treePane) step(n int) { t.choose(t.cursor + n) }

func (t *treePane) page(n int) { t.choose(t.cursor + n*max(t.height-1, 1)) }

func (t *treePane) ends(last bool) {
	if !last {
		t.choose(0)
	} else if t.f != nil {
		t.choose(len(t.f.rows) - 1)
	}
}

// missing returns the entries on the screen whose words are not known, and
// notes that they were asked for.
func (t *treePane) missing() []string {
	if t.f == nil {
		return nil
	}
	var ids []string
	for k := t.top; k < min(t.top+t.height, len(t.f.rows)); k++ {
		place := t.f.rows[k].place
		id := t.sn.places[place].ID
		if _, ok := t.said[id]; ok || t.waiting[id] || t.fromHistory(int(place)) {
			continue
		}
		if t.waiting == nil {
			t.waiting = make(map[string]bool)
		}
		t.waiting[id] = true
		ids = append(ids, id)
	}
	return ids
}

func (t *treePane) learn(msg saidMsg) {
	if len(t.said) > mostSaid {
		t.said, t.waiting = make(map[string]said), nil
	}
	maps.Copy(t.said, msg)
}

// fromHistory reports whether a place is a message of the history, which needs
// no asking.
func (t *treePane) fromHistory(place int) bool {
	return t.sn.message[place] >= 0 && t.sn.places[place].Type == session.TypeMessage
}

func (t *treePane) words(place int) said {
	if t.fromHistory(place) {
		m := t.sn.history.At(int(t.sn.message[place]))
		who, in := speaker(m)
		text := ""
		if who == "tool" {
			text = resultWords(t.sn.history, int(t.sn.message[place]))
		}
		if text == "" {
			text = tells(m)
		}
		return said{who: who, text: text, ink: in}
	}
	if s, ok := t.said[t.sn.places[place].ID]; ok {
		return s
	}
	return said{text: "…", ink: quiet}
}

// says returns what a line says of an entry.
func says(e *session.Entry) said {
	switch {
	case e.Compaction != nil:
		c := e.Compaction
		s := said{who: "compaction", ink: inkFold, line: true}
		if c.Rewinds != "" {
			s.who = "undo of " + brief(c.Rewinds)
		}
		switch {
		case c.TokensAfter > 0:
			s.text = fmt.Sprintf("%s → %s tokens", thousands(c.TokensBefore), thousands(c.TokensAfter))
		case c.TokensBefore > 0:
			s.text = fmt.Sprintf("at %s tokens", thousands(c.TokensBefore))
		}
		if c.Focus != "" {
			s.text += " · " + head(c.Focus)
		}
		return s
	case e.Branch != nil:
		return said{who: "branch", text: head(e.Branch.Summary), ink: inkFold}
	case e.Message != nil:
		who, in := speaker(e.Message)
		return said{who: who, text: tells(e.Message), ink: in}
	}
	switch e.Type {
	case session.TypeModelChange:
		return said{who: "model is", text: strings.Trim(e.Provider+"/"+e.Model, "/"), ink: quiet}
	case session.TypeLabel:
		return said{who: "label", text: e.Label + " on " + brief(e.Target), ink: quiet}
	case session.TypeName:
		return said{who: "name", text: e.Name, ink: quiet}
	case session.TypeCustom:
		return said{who: "custom", text: e.Custom, ink: quiet}
	}
	return said{who: string(e.Type), ink: quiet}
}

// brief is as much of an id as people need.
func brief(id string) string { return id[:min(len(id), 8)] }

// thousands writes a number of tokens in few characters.
func thousands(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 1000_000:
		return fmt.Sprintf("%.0fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.2fM", float64(n)/1e6)
}

// draw returns line n of the pane.
func (t *treePane) draw(n int, focused bool, find string) string {
	k := t.top + n
	if t.f == nil || k >= len(t.f.rows) {
		if t.f != nil && n == 0 {
			return nothingYet(t.width)
		}
		return spaces(t.width)
	}
	r := t.f.rows[k]
	p := &t.sn.places[r.place]
	s := t.words(int(r.place))
	sign, signInk := " ", plain
	if h := t.sn.message[r.place]; h >= 0 {
		st := t.sn.state[h]
		sign, signInk = st.sign(), st.ink()
		if t.sn.pins[int(h)] {
			sign, signInk = pinSign, inkPin
		}
	}
	whole, bar := plain, piece{plain, " "}
	switch {
	case k == t.cursor && focused:
		whole, bar = cursor, piece{plain, "▸"}
	case k == t.cursor:
		bar = piece{quiet, "▌"}
	}
	guides := t.f.guides(r)
	pieces := []piece{bar, {signInk, sign}, {plain, " "}, {quiet, guides}}
	used := 3 + width(guides)
	tail := t.tail(p, k == t.leaf)
	room := t.width - used - pieceWidth(tail) - 1
	textInk, whoInk := plain, s.ink
	if s.who == "tool" {
		textInk = inkTool
	}
	if !p.OnPath {
		textInk, whoInk = quiet, quiet
	}
	if s.line {
		pieces = append(pieces, across(s, room, whoInk)...)
	} else {
		who, n := fit(s.who, min(room, max(room/3, 6)))
		if s.who != "" {
			pieces = append(pieces, piece{whoInk, pad(who, n, whoWidth) + " "})
			n = max(n, whoWidth) + 1
		}
		text, w := fit(s.text, room-n)
		pieces = append(pieces, marked(text, textInk, find)...)
		pieces = append(pieces, piece{plain, spaces(room - n - w)})
	}
	return paintAll(append(pieces, tail...), t.width, whole)
}

// across draws an entry as a line across the pane, with words in it.
func across(s said, room int, in ink) []piece {
	words, n := fit(strings.TrimSpace(s.who+" "+s.text), max(room-6, 1))
	return []piece{{in, "── " + words + " " + strings.Repeat("─", max(room-n-4, 0))}}
}

// tail is what stands at a line's end: label and leaf.
func (t *treePane) tail(p *session.Place, leaf bool) []piece {
	var out []piece
	if l := t.sn.labels[p.ID]; l != "" {
		out = append(out, piece{inkLabel, " [" + short(l, 16) + "]"})
	}
	if leaf {
		out = append(out, piece{inkGood, " ◂"})
	}
	return out
}

func pieceWidth(ps []piece) int {
	n := 0
	for _, p := range ps {
		n += width(p.text)
	}
	return n
}
