package show

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/conview"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Spent says what the tokens of a window are spent on, by kind. Without free
// and reserve the kinds add up to what the engine counts for the request.
type Spent struct {
	budget.Kinds
	Free    int `json:"free"`
	Reserve int `json:"reserve"`
}

// kinds in the order of the meter, with the colour and the letter of each.
var kinds = [...]struct {
	name, color string
	letter      byte
	of          func(*Spent) *int
}{
	{"unseen", "94", 'X', func(s *Spent) *int { return &s.Unseen }},
	{"system", "34", 'S', func(s *Spent) *int { return &s.System }},
	{"tools", "35", 'D', func(s *Spent) *int { return &s.Tools }},
	{"user", "32", 'U', func(s *Spent) *int { return &s.User }},
	{"assistant", "36", 'A', func(s *Spent) *int { return &s.Assistant }},
	{"tool results", "33", 'R', func(s *Spent) *int { return &s.Results }},
	{"thinking", "37", 'T', func(s *Spent) *int { return &s.Thinking }},
	{"attachments", "31", 'F', func(s *Spent) *int { return &s.Attachments }},
	{"summaries", "95", 'C', func(s *Spent) *int { return &s.Summaries }},
	{"free", "2", '.', func(s *Spent) *int { return &s.Free }},
	{"reserve", "90", '-', func(s *Spent) *int { return &s.Reserve }},
}

// Item is one part of a request, for the list of the largest.
type Item struct {
	Message int       `json:"message"`
	Part    int       `json:"part"`
	Role    chat.Role `json:"role"`
	Kind    string    `json:"kind"`
	What    string    `json:"what"`
	Tokens  int       `json:"tokens"`
}

// Spend adds up a request's tokens by kind, as its status counts them. With items
// set it also returns the largest ones.
func Spend(m *budget.Meter, v plan.View, status *budget.Status, items int) (Spent, []Item) {
	l := &status.Limits
	s := Spent{Kinds: m.Kinds(v, status), Reserve: l.Context - l.Available}
	s.Free = max(0, l.Available-s.Sum())
	return s, largest(m.Counter(), v, items)
}

// largest returns the largest parts of messages.
func largest(c *token.Counter, messages chat.Sequence, most int) []Item {
	var top []Item
	for i := range messages.Len() {
		if most == 0 {
			break
		}
		msg := messages.At(i)
		for k := range msg.Parts {
			p := &msg.Parts[k]
			n := c.Part(p)
			if len(top) == most && n <= top[most-1].Tokens {
				continue
			}
			// Among equals the earlier one stays in front.
			at, _ := slices.BinarySearchFunc(top, n, func(it Item, n int) int { return cmp.Or(n-it.Tokens, -1) })
			top = slices.Insert(top, at, Item{Message: i, Part: k, Role: msg.Role, Kind: p.Kind.String(), Tokens: n})
			top = top[:min(len(top), most)]
		}
	}
	for i := range top {
		top[i].What = Brief(conview.About(messages, top[i].Message, top[i].Part), 120)
	}
	return top
}

// Whole returns a history without a plan, as something to be measured.
func Whole(h chat.History) plan.View {
	v, _ := plan.Apply(h, nil) // what applies to no plan cannot fail
	return v
}

// Cells returns how wide the meter is when it has a line to itself.
func (st Style) Cells() int { return min(st.Columns()-2, 100) }

// Bar draws the meter with brackets, in a line that holds other things too. The
// whole is the window, or more where more is used.
func (st Style) Bar(s Spent, window int) string {
	return "[" + st.Fill(s, max(window, s.Sum()+s.Reserve, 1), min(50, st.Columns()-30)) + "]"
}

// Fill draws the cells of the meter. What is there takes a cell at least, as
// long as there is one.
func (st Style) Fill(s Spent, whole, width int) string {
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
		b.WriteString(st.Paint(kinds[i].color, strings.Repeat(st.mark(i), to-cells)))
		cells = to
	}
	b.WriteString(strings.Repeat(" ", width-cells))
	return b.String()
}

// mark returns the character of a kind: a block where colours tell kinds apart, a
// letter elsewhere.
func (st Style) mark(kind int) string {
	switch {
	case !st.Color:
		return string(kinds[kind].letter)
	case kinds[kind].name == "free":
		return "·"
	case kinds[kind].name == "reserve":
		return "░"
	}
	return "█"
}

// Meter draws the bar over the whole line, and below it where the prompt is
// full and, for a compaction that starts earlier, from where on.
func (st Style) Meter(w io.Writer, s Spent, l budget.Limits, compactAt int) {
	whole, width := max(l.Context, s.Sum()+s.Reserve, 1), st.Cells()
	fmt.Fprintf(w, "[%s]\n", st.Fill(s, whole, width))
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
	fmt.Fprintln(w, st.Dim(strings.TrimRight(string(line), " ")))
}

// Legend lists the kinds that are there with their numbers and their shares of
// the window.
func (st Style) Legend(w io.Writer, s Spent, window int) {
	const column = 39
	across, line, n := max(1, st.Columns()/column), "", 0
	for i := range kinds {
		tokens := *kinds[i].of(&s)
		if tokens == 0 && kinds[i].name != "free" {
			continue
		}
		if n > 0 && n%across == 0 {
			fmt.Fprintln(w, line)
			line = ""
		}
		line = Pad(line, n%across*column) + fmt.Sprintf("  %s %-12s %11s %6s", st.Paint(kinds[i].color, st.mark(i)), kinds[i].name, number(tokens), Percent(tokens, window))
		n++
	}
	fmt.Fprintln(w, line)
}

// Key returns the legend without numbers, in lines of at most that many columns.
func (st Style) Key(width int, all ...Spent) []string {
	var entries []string
	for i := range kinds {
		if slices.ContainsFunc(all, func(s Spent) bool { return *kinds[i].of(&s) > 0 }) {
			entries = append(entries, st.Paint(kinds[i].color, st.mark(i))+" "+kinds[i].name)
		}
	}
	return fill(slices.Values(entries), "  ", width)
}

// Largest lists items: how large, where, and what they are.
func (st Style) Largest(w io.Writer, items []Item, total int) {
	for i := range items {
		it := &items[i]
		room := max(20, st.Columns()-46)
		fmt.Fprintf(w, "  %9s %5s  #%-5d %-9s %-8s  %s\n", number(it.Tokens), Percent(it.Tokens, total), it.Message,
			it.Role, strings.TrimPrefix(it.Kind, "tool_"), Brief(it.What, room))
	}
}

// Verdict says in words whether a request fits.
func (st Style) Verdict(s *budget.Status) string {
	switch {
	case MayFit(s):
		return st.Red("may not fit")
	case !s.Fits:
		return st.Red("does not fit")
	case s.ShouldCompact:
		return st.Warm("fits, but it is time to compact")
	}
	return st.Green("fits")
}

// MayFit reports whether only the upper end of the count is over the limit.
func MayFit(s *budget.Status) bool {
	return !s.Fits && s.Count.Tokens <= s.Limits.Available && slices.Equal(s.Over, []string{"tokens"})
}

// Fullness says how much of the available input is used: the count itself and,
// since that decides, the upper end of its band.
func Fullness(s *budget.Status) string {
	text := fmt.Sprintf("%s of the %s available", Percent(s.Count.Tokens, s.Limits.Available), number(s.Limits.Available))
	upper := s.Count.Upper()
	if most := Percent(upper, s.Limits.Available); s.Count.Tokens <= s.Limits.Available && most != Percent(s.Count.Tokens, s.Limits.Available) {
		text += ", up to " + most + " by the band"
	}
	return text
}

// Ratio returns a count over a limit; 0 without a limit.
func Ratio(tokens, limit int) float64 {
	if limit <= 0 {
		return 0
	}
	return float64(tokens) / float64(limit)
}

// CountNote says how sure a count is. A real vocabulary counts the text to the
// token; the band is for what a provider adds around it. A band of more than half is
// the spread of all models, of which none is named.
func CountNote(c token.Count) string {
	switch {
	case c.Band > 0.5:
		return string(c.Method) + " for the model that needs most; another may need as little as a third of that"
	case c.Band <= 0:
		return string(c.Method)
	case c.Method == token.Exact:
		return fmt.Sprintf("counted with a vocabulary, ±%.0f %%", 100*c.Band)
	}
	return fmt.Sprintf("%s, ±%.0f %%", c.Method, 100*c.Band)
}
