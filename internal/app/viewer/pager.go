package viewer

// pager shows one text on all of the screen's body.
type pager struct {
	title string
	pars  []paragraph
	f     *flow
	top   int

	width, height int
}

func (p *pager) resize(width, height int) {
	if p.f == nil || p.width != width {
		p.f = newFlow(p.pars, max(width-4, 8))
	}
	p.width, p.height = width, max(height, 1)
	p.scroll(0)
}

func (p *pager) scroll(n int) {
	p.top += n
	if !p.f.reach(p.top + p.height) {
		p.top = min(p.top, p.f.height(1<<40)-p.height)
	}
	p.top = max(p.top, 0)
}

func (p *pager) end() {
	p.top = max(p.f.height(1<<40)-p.height, 0)
}

// key moves in the text; true closes it.
func (p *pager) key(k string) bool {
	switch k {
	case "esc", "q", "enter", "?":
		return true
	case "down", "j":
		p.scroll(1)
	case "up", "k":
		p.scroll(-1)
	case "pgdown", "ctrl+f", "space":
		p.scroll(p.height - 1)
	case "pgup", "ctrl+b":
		p.scroll(1 - p.height)
	case "home", "g":
		p.top = 0
	case "end", "G":
		p.end()
	}
	return false
}

// draw returns line n.
func (p *pager) draw(n int, find string) string {
	pieces, ok := p.f.line(p.top+n, find)
	if !ok {
		return spaces(p.width)
	}
	return paintAll(append([]piece{{plain, "  "}}, pieces...), p.width, plain)
}

// helpText lists the keys.
func helpText() []paragraph {
	groups := []struct {
		name string
		keys [][2]string
	}{
		{"Moving", [][2]string{
			{"↑ ↓  k j", "one line or message; a long message is read line by line"},
			{"PgUp PgDn", "one page (also ctrl+b, ctrl+f)"},
			{"g G", "to the top, to the bottom (also Home, End)"},
			{"Tab  ← →", "to the next pane; 1 tree, 2 as the model sees it, 3 as it was"},
			{"/  n N", "search in this pane; the next, the one before"},
			{"]  [", "the next edit, the one before"},
		}},
		{"Looking", [][2]string{
			{"Enter", "fold or drop: its originals; masked: the original; long: all of it; in the tree: the entry"},
			{"f", "show the whole message, or only its beginning"},
			{"i", "details of the edit at the cursor, with its handle"},
			{"a", "all entries in the tree, also settings, labels and pins"},
		}},
		{"Doing", [][2]string{
			{"p", "pin the message, so that no stage edits it; again removes the pin"},
			{"c", "compact now, with an optional focus; esc cancels"},
			{"u", "undo the compaction at the cursor, or else the last one"},
			{"m", "move the leaf to the entry at the cursor, with or without a summary of the abandoned branch"},
			{"L", "label the entry; an empty label removes it"},
			{"R", "load what other programs have added"},
		}},
		{"Leaving", [][2]string{{"q  Ctrl+C", "cancel what is in progress; everything written stays"}}},
		{"Signs", [][2]string{
			{"~", "masked: a part is replaced by something shorter"},
			{"=", "folded: a run of messages became a summary"},
			{"-", "dropped: a run of messages became a marker"},
			{"+", "answered: a call without a result, or a result without a call, was repaired"},
			{pinSign + "  ◂", "pinned; the leaf, where the conversation goes on"},
		}},
	}
	var out []paragraph
	for i, g := range groups {
		if i > 0 {
			out = append(out, paragraph{lead: " "})
		}
		out = append(out, paragraph{ink: strong, text: g.name})
		for _, k := range g.keys {
			out = append(out, paragraph{lead: "  " + pad(k[0], width(k[0]), 11), hang: spaces(13), text: k[1]})
		}
	}
	return out
}
