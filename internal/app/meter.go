package app

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// spent says what the tokens of a window are spent on, by kind. Without free
// and reserve the kinds add up to what the engine counts for the request.
type spent struct {
	budget.Kinds
	Free    int `json:"free"`
	Reserve int `json:"reserve"`
}

// kinds in the order of the meter, with the colour and the letter of each.
var kinds = [...]struct {
	name, color string
	letter      byte
	of          func(*spent) *int
}{
	{"system", "34", 'S', func(s *spent) *int { return &s.System }},
	{"tools", "35", 'D', func(s *spent) *int { return &s.Tools }},
	{"user", "32", 'U', func(s *spent) *int { return &s.User }},
	{"assistant", "36", 'A', func(s *spent) *int { return &s.Assistant }},
	{"tool results", "33", 'R', func(s *spent) *int { return &s.Results }},
	{"thinking", "37", 'T', func(s *spent) *int { return &s.Thinking }},
	{"attachments", "31", 'F', func(s *spent) *int { return &s.Attachments }},
	{"summaries", "95", 'C', func(s *spent) *int { return &s.Summaries }},
	{"free", "2", '.', func(s *spent) *int { return &s.Free }},
	{"reserve", "90", '-', func(s *spent) *int { return &s.Reserve }},
}

// item is one part of a request, for the list of the largest.
type item struct {
	Message int       `json:"message"`
	Part    int       `json:"part"`
	Role    chat.Role `json:"role"`
	Kind    string    `json:"kind"`
	What    string    `json:"what"`
	Tokens  int       `json:"tokens"`
}

// spend adds up a request's tokens by kind, with the counter of the engine, as
// shares of a total; 0 is what they add up to. With items set it also returns the
// largest ones.
func spend(m *budget.Meter, req *chat.Request, v budget.Viewer, l budget.Limits, total, items int) (spent, []item) {
	s := spent{Kinds: m.Kinds(req, v), Reserve: l.Context - l.Available}
	if total > 0 {
		s.Kinds = s.Scaled(total)
	}
	s.Free = max(0, l.Available-s.Sum())
	return s, largest(m.Counter(), v, items)
}

// largest returns the largest parts of messages.
func largest(c *token.Counter, messages chat.Sequence, most int) []item {
	var top []item
	for i := range messages.Len() {
		if most == 0 {
			break
		}
		msg := messages.At(i)
		for k := range msg.Parts {
			p := &msg.Parts[k]
			if n := c.Part(p); len(top) < most || n > top[len(top)-1].Tokens {
				top = keepLargest(top, item{Message: i, Part: k, Role: msg.Role, Kind: p.Kind.String(), Tokens: n}, most)
			}
		}
	}
	for i := range top {
		top[i].What = brief(conview.About(messages, top[i].Message, top[i].Part), 120)
	}
	return top
}

// whole is a history without a plan, as something to be measured.
func whole(h chat.History) plan.View {
	v, _ := plan.Apply(h, nil) // what applies to no plan cannot fail
	return v
}

func keepLargest(top []item, it item, most int) []item {
	at, _ := slices.BinarySearchFunc(top, it, func(a, b item) int {
		if a.Tokens != b.Tokens {
			return b.Tokens - a.Tokens
		}
		return -1 // among equals the earlier one stays in front
	})
	top = slices.Insert(top, at, it)
	return top[:min(len(top), most)]
}

// cells is how wide the meter is when it has a line to itself.
func (st style) cells() int { return min(st.columns()-2, 100) }

// bar draws the meter with brackets, in a line that holds other things too. The
// whole is the window, or more where more is used.
func (st style) bar(s spent, window int) string {
	return "[" + st.fill(s, max(window, s.Sum()+s.Reserve, 1), min(50, st.columns()-30)) + "]"
}

// fill draws the cells of the meter. What is there takes a cell at least, as
// long as there is one.
func (st style) fill(s spent, whole, width int) string {
	var b strings.Builder
	done, cells := 0, 0
	for i := range kinds {
		n := *kinds[i].of(&s)
		done += n
		to := min(width, (done*width+whole/2)/whole)
		if n > 0 && to <= cells && cells < width && i < len(kinds)-2 {
			to = cells + 1
		}
		if to <= cells {
			continue
		}
		b.WriteString(st.paint(kinds[i].color, strings.Repeat(st.mark(i), to-cells)))
		cells = to
	}
	b.WriteString(strings.Repeat(" ", width-cells))
	return b.String()
}

// mark is the character of a kind: a block where colours tell kinds apart, a
// letter elsewhere.
func (st style) mark(kind int) string {
	switch {
	case !st.color:
		return string(kinds[kind].letter)
	case kinds[kind].name == "free":
		return "·"
	case kinds[kind].name == "reserve":
		return "░"
	}
	return "█"
}

// meter draws the bar over the whole line, and below it where the prompt is
// full and, for a compaction that starts earlier, from where on.
func (st style) meter(w io.Writer, s spent, l budget.Limits, compactAt int) {
	whole, width := max(l.Context, s.Sum()+s.Reserve, 1), st.cells()
	fmt.Fprintf(w, "[%s]\n", st.fill(s, whole, width))
	at := func(n int) int { return min(width-1, n*width/whole) }
	full := "full at " + number(l.Available)
	line := []byte(strings.Repeat(" ", width+2))
	right := at(l.Available) + 1
	if right+2+len(full) <= len(line) {
		copy(line[right:], "^ "+full)
	} else {
		copy(line[right-len(full)-1:], full+" ^")
		right -= len(full) + 1
	}
	early := "compact from " + number(compactAt)
	left := at(compactAt) + 1
	if compactAt > 0 && compactAt < l.Available && left-len(early)-1 >= 0 && left+1 < right {
		copy(line[left-len(early)-1:], early+" ^")
	}
	fmt.Fprintln(w, st.dim(strings.TrimRight(string(line), " ")))
}

// legend lists the kinds that are there with their numbers and their shares of
// the window.
func (st style) legend(w io.Writer, s spent, window int) {
	const column = 39
	across, line, n := max(1, st.columns()/column), "", 0
	for i := range kinds {
		tokens := *kinds[i].of(&s)
		if tokens == 0 && kinds[i].name != "free" {
			continue
		}
		if n > 0 && n%across == 0 {
			fmt.Fprintln(w, line)
			line = ""
		}
		line = pad(line, n%across*column) + fmt.Sprintf("  %s %-12s %11s %6s", st.paint(kinds[i].color, st.mark(i)), kinds[i].name, number(tokens), percent(tokens, window))
		n++
	}
	fmt.Fprintln(w, line)
}

// key is the legend without numbers, in lines of at most that many columns.
func (st style) key(width int, all ...spent) []string {
	var entries []string
	for i := range kinds {
		if slices.ContainsFunc(all, func(s spent) bool { return *kinds[i].of(&s) > 0 }) {
			entries = append(entries, st.paint(kinds[i].color, st.mark(i))+" "+kinds[i].name)
		}
	}
	return fill(slices.Values(entries), "  ", width)
}

// largest lists items: how large, where, and what they are.
func (st style) largest(w io.Writer, items []item, total int) {
	for i := range items {
		it := &items[i]
		room := max(20, st.columns()-46)
		fmt.Fprintf(w, "  %9s %5s  #%-5d %-9s %-8s  %s\n", number(it.Tokens), percent(it.Tokens, total), it.Message,
			it.Role, strings.TrimPrefix(it.Kind, "tool_"), brief(it.What, room))
	}
}

// verdict says in words whether a request fits.
func (st style) verdict(s *budget.Status) string {
	switch {
	case mayFit(s):
		return st.red("may not fit")
	case !s.Fits:
		return st.red("does not fit")
	case s.ShouldCompact:
		return st.warm("fits, but it is time to compact")
	}
	return st.green("fits")
}

// mayFit reports whether only the upper end of the count is over the limit.
func mayFit(s *budget.Status) bool {
	return !s.Fits && s.Count.Tokens <= s.Limits.Available && slices.Equal(s.Over, []string{"tokens"})
}

// fullness says how much of the available input is used: the count itself and,
// since that decides, the upper end of its band.
func fullness(s *budget.Status) string {
	text := fmt.Sprintf("%s of the %s available", percent(s.Count.Tokens, s.Limits.Available), number(s.Limits.Available))
	upper := s.Count.Upper()
	if most := percent(upper, s.Limits.Available); s.Count.Tokens <= s.Limits.Available && most != percent(s.Count.Tokens, s.Limits.Available) {
		text += ", up to " + most + " by the band"
	}
	return text
}

// ratio is a count over a limit; 0 where there is no limit.
func ratio(tokens, limit int) float64 {
	if limit <= 0 {
		return 0
	}
	return float64(tokens) / float64(limit)
}

// countNote says how sure a count is. A real vocabulary counts the text to the
// token; the band is for what a provider adds around it.
func countNote(c token.Count) string {
	switch {
	case c.Band <= 0:
		return string(c.Method)
	case c.Method == token.Exact:
		return fmt.Sprintf("counted with a vocabulary, ±%.0f %%", 100*c.Band)
	}
	return fmt.Sprintf("%s, ±%.0f %%", c.Method, 100*c.Band)
}
