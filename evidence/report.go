package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// shares is how much of the budget each class may take before the others had
// their turn, in percent. What a class leaves goes to the others, in order.
var shares = [Classes]int{Requests: 40, Constraints: 12, Todos: 8, Files: 14, Errors: 8, Commands: 6, Agents: 2, Places: 3, Values: 4, Symbols: 3}

// headings stand above the lists.
var headings = [Classes]string{
	Requests:    "## User requests, word for word",
	Constraints: "## Constraints that users stated",
	Todos:       "## To do",
	Files:       "## Files",
	Errors:      "## Errors not seen to be settled",
	Commands:    "## Commands",
	Agents:      "## Sub-agents",
	Places:      "## Places",
	Values:      "## Values",
	Symbols:     "## Names",
}

// Render writes the evidence in at most max tokens. Classes are served in the
// order in which they are declared: users' requests first, names last. Each has
// a share; what one does not need goes to the others in the same order. Within
// a class the newest comes first when room is short (of requests the very first
// one before that), and everything is written in its own order. A request that
// does not fit is shortened in the middle. Evidence that cannot be held at all
// is left out, and a line says how much.
func (e *Evidence) Render(max int, count Counter) string {
	for budget := max; budget > 0; budget = budget*7/8 - 1 {
		out := e.render(budget, count)
		if count.of(out) <= max {
			return out
		}
	}
	return ""
}

// RenderClass writes the evidence of one class in at most max tokens, with its heading.
func (e *Evidence) RenderClass(c Class, max int, count Counter) string {
	for budget := max; budget > 0; budget = budget*7/8 - 1 {
		items := e.items(c, count)
		choose(items, budget-count.of(headings[c])-1)
		out := write(c, items)
		if count.of(out) <= max {
			return out
		}
	}
	return ""
}

func (e *Evidence) render(budget int, count Counter) string {
	var all [Classes][]item
	spent := 0
	for c := range Classes {
		items := e.items(c, count)
		if len(items) == 0 {
			continue
		}
		head := count.of(headings[c]) + 1
		spent += choose(items, budget*shares[c]/100-head)
		if slices.ContainsFunc(items, func(it item) bool { return it.room > 0 }) {
			spent += head
		}
		all[c] = items
	}
	var b strings.Builder
	for c := range Classes {
		items := all[c]
		if len(items) == 0 {
			continue
		}
		had := 0
		for i := range items {
			had += items[i].room
		}
		if had == 0 {
			spent += count.of(headings[c]) + 1
		}
		got := choose(items, had+budget-spent)
		if had == 0 && got == 0 {
			spent -= count.of(headings[c]) + 1
		}
		spent += got - had
		if s := write(c, items); s != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// item is one line or more of a list.
type item struct {
	text  string
	size  int // in tokens
	least int // tokens below which it is not worth writing; 0 is all or nothing
	rank  int // lower is served first
	room  int // tokens granted
}

// choose grants room to items by rank and returns how much.
func choose(items []item, budget int) int {
	order := make([]int, len(items))
	for i := range items {
		order[i] = i
		items[i].room = 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(items[a].rank, items[b].rank) })
	spent := 0
	for _, i := range order {
		it := &items[i]
		switch left := budget - spent; {
		case it.size <= left:
			it.room = it.size
		case it.least > 0 && it.least <= left:
			it.room = min(left, max(it.least, left/2))
		}
		spent += it.room
	}
	return spent
}

// write writes the items that were granted room.
func write(c Class, items []item) string {
	var b strings.Builder
	left := 0
	for i := range items {
		it := &items[i]
		if it.room == 0 {
			left++
			continue
		}
		switch {
		case b.Len() == 0:
			b.WriteString(headings[c])
			b.WriteByte('\n')
		case c >= Places: // short ones share lines
			b.WriteString(", ")
		default:
			b.WriteByte('\n')
		}
		if it.room < it.size {
			b.WriteString(shortened(it.text, len(it.text)*it.room/it.size))
		} else {
			b.WriteString(it.text)
		}
	}
	if left > 0 && b.Len() > 0 {
		fmt.Fprintf(&b, "\n(%d more)", left)
	}
	return b.String()
}

// shortened cuts the middle out of a text.
func shortened(s string, n int) string {
	if n >= len(s) || n < 16 {
		return s[:runeFloor(s, min(n, len(s)))]
	}
	head := runeFloor(s, (n-8)*3/5)
	tail := runeCeil(s, len(s)-(n-8)*2/5)
	return s[:head] + " […] " + s[tail:]
}

// items returns what there is to write of a class.
func (e *Evidence) items(c Class, count Counter) []item {
	var items []item
	add := func(text string, rank int) {
		items = append(items, item{text: text, rank: rank})
	}
	switch c {
	case Requests:
		for i, s := range e.Requests {
			rank := -s.At
			if i == 0 {
				rank = -1 << 40 // the task itself
			}
			add("- "+indented(s.Text), rank)
			items[i].least = 24
		}
	case Constraints:
		for i, s := range e.Constraints {
			add("- "+s.Text, -i)
		}
	case Todos:
		if e.Plan.Text != "" {
			add("Plan: "+indented(e.Plan.Text), 1)
			items[0].least = 40
		}
		for i, t := range e.Todos {
			rank := 2 + i
			if t.Status == "completed" || t.Status == "cancelled" {
				rank += 1000
			}
			mark := " "
			switch t.Status {
			case "completed":
				mark = "x"
			case "in_progress":
				mark = "~"
			case "cancelled":
				mark = "-"
			}
			id := ""
			if t.ID != "" {
				id = t.ID + " "
			}
			add("- ["+mark+"] "+id+t.Text, rank)
		}
	case Files:
		folder := e.folder()
		if folder != "" {
			add("In "+folder+" unless rooted:", -1<<41)
		}
		for _, f := range e.Files {
			f.Path = strings.TrimPrefix(f.Path, folder)
			rank := -f.At
			if f.Op == NotModified {
				rank += 1 << 40 // files that were only read come after
			}
			if f.Op != NotModified || f.Read {
				add("- "+fileText(&f), rank)
			}
		}
	case Errors:
		for i, f := range e.Errors {
			text := "- " + clip(f.Line, 240)
			if f.Source != "" {
				text += " (" + clip(f.Source, 80) + ")"
			}
			add(text, -i)
		}
	case Commands:
		for _, m := range e.Commands {
			add("- "+commandText(&m), -m.At)
		}
	case Agents:
		for i, a := range e.Agents {
			add("- "+a.ID+": "+a.Task, -i)
		}
	case Places:
		for _, p := range e.Places {
			add(placeText(p), -p.At)
		}
	case Values:
		for _, v := range e.Values {
			text := v.Text
			if v.Key != "" {
				text = v.Key + "=" + v.Text
			}
			add(text, -v.At)
		}
	case Symbols:
		for _, s := range e.Symbols {
			add(s.Name, -(s.Said*4+s.Times)*1000-s.At)
		}
	}
	for i := range items {
		items[i].size = count.of(items[i].text) + 1
	}
	return items
}

// folder returns a folder that most rooted paths lie in, at least three, so
// that it need not be repeated; what follows it has two segments or more, by
// which paths are known. It is "" where there is none.
func (e *Evidence) folder() string {
	counts := make(map[string]int)
	rooted := 0
	for i := range e.Files {
		p := e.Files[i].Path
		if p == "" || p[0] != '/' {
			continue
		}
		rooted++
		cut := strings.LastIndexByte(p, '/')
		for cut > 0 {
			cut = strings.LastIndexByte(p[:cut], '/')
			if cut > 0 {
				counts[p[:cut+1]]++
			}
		}
	}
	best := ""
	for dir, n := range counts {
		if n >= 3 && n*5 >= rooted*3 && (len(dir) > len(best) || len(dir) == len(best) && dir < best) {
			best = dir
		}
	}
	if len(best) < 12 {
		return ""
	}
	return best
}

func fileText(f *File) string {
	s := f.Path
	if f.Op != NotModified {
		s += " " + f.Op.String()
	}
	if f.Read {
		s += " read"
		for i, r := range f.Ranges {
			if i == 12 {
				s += ",…"
				break
			}
			sep := ","
			if i == 0 {
				sep = " "
			}
			s += sep + strconv.Itoa(r.From) + "-"
			if r.To != 0 {
				s += strconv.Itoa(r.To)
			}
		}
	}
	return s
}

func commandText(c *Command) string {
	s := c.Text
	switch {
	case c.Known:
		s += " → exit " + strconv.Itoa(c.Exit)
	case c.Failed:
		s += " → failed"
	}
	if c.Times > 1 {
		s += " (" + strconv.Itoa(c.Times) + " runs)"
	}
	return s
}

// indented sets the lines after the first under it.
func indented(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ")
}
