package replay

import (
	"fmt"
	"io"

	"github.com/winnow-llm/winnow/internal/text"
)

// FieldBoard is what the field's measures say.
type FieldBoard struct {
	Fingerprint string       `json:"fingerprint"`
	Places      []FieldPlace `json:"places"`

	// Recorded is the regret at the compactions that the files record, Random at
	// places without one. Plain are the sessions without files.
	Recorded Regret  `json:"recorded"`
	Random   Regret  `json:"random"`
	Plain    []Plain `json:"without_files,omitempty"`
}

// FieldPlace is the board of one place.
type FieldPlace struct {
	Place
	Sessions int        `json:"sessions"` // with a cut
	Cuts     int        `json:"cuts"`
	Edits    int        `json:"edits"`   // demanded
	ByAge    []int      `json:"by_age"`  // edits by how far back their text was last seen: < 20k, < 60k, further
	History  int        `json:"history"` // mean tokens before a cut, in characters / 4
	Rows     []FieldRow `json:"rows"`
}

// FieldRow is one policy in one place.
type FieldRow struct {
	Policy string `json:"policy"`

	// Prompt is the mean size of the whole prompt with the view, Least and Most the
	// smallest and the largest, in tokens as the engine counts; Target the
	// requested size.
	Prompt int `json:"prompt_tokens"`
	Least  int `json:"least_prompt"`
	Most   int `json:"most_prompt"`
	Target int `json:"target,omitempty"`

	// Tokens is the mean size of the views, in characters / 4, Share that of the
	// history.
	Tokens int     `json:"tokens"`
	Share  float64 `json:"share"`
	Given  int     `json:"given_up"`

	V       float64      `json:"v"`
	Between *Span        `json:"between"`
	ByAge   []*float64   `json:"v_by_age"`
	Rivals  []FieldRival `json:"rivals"`

	// The shares of what people and the agent said that the view has; null where
	// they said nothing.
	Closing *float64 `json:"closing_whole"`
	Part    *float64 `json:"closing_part"`
	C       *float64 `json:"c"`
	Typed   *float64 `json:"typed"`

	// What only the board of next edits measures: V of calls 31 to 100, edits that are
	// ready or found by one search in what is hidden, and the lines shown as current
	// that the next read contradicts.
	Later *float64 `json:"v_later,omitempty"`
	Found *float64 `json:"v_searched,omitempty"`
	Stale *float64 `json:"stale,omitempty"`

	later, stale Tally
}

// FieldRival is a rival's V at the same size, and how much better the policy is.
type FieldRival struct {
	Name  string     `json:"name"`
	V     float64    `json:"v"`
	More  float64    `json:"more"`
	Range *Span      `json:"more_between"`
	ByAge []*float64 `json:"v_by_age"`
}

// fieldScore is what one policy's views of one session hold in one place.
type fieldScore struct {
	cuts, given           int
	prompt, size, history int // sums
	least, most           int // of the prompts
	words                 wordsKept
	viewScore
}

func (a fieldScore) plus(b fieldScore) fieldScore {
	if a.cuts == 0 {
		return b
	}
	a.cuts += b.cuts
	a.given += b.given
	a.prompt += b.prompt
	a.size += b.size
	a.history += b.history
	a.least, a.most = min(a.least, b.least), max(a.most, b.most)
	a.words, a.viewScore = a.words.plus(b.words), a.viewScore.plus(b.viewScore)
	return a
}

// sumField sums up the scores of a place by session.
func sumField(p *fieldPlace, list [][]fieldScore) FieldPlace {
	out := FieldPlace{Place: p.Place, Sessions: len(list)}
	for k := range p.policies {
		scores := make([]fieldScore, len(list))
		for i := range list {
			scores[i] = list[i][k]
		}
		sum := out.addPolicy(p.policies[k].Name, p.policies[k].Target, scores)
		if k == 0 {
			out.Cuts, out.Edits, out.History = sum.cuts, sum.own.all().Of, sum.history/max(1, sum.cuts)
			for _, t := range sum.own {
				out.ByAge = append(out.ByAge, t.Of)
			}
		}
	}
	return out
}

// addPolicy adds the row of a policy.
func (b *FieldPlace) addPolicy(name string, target int, list []fieldScore) fieldScore {
	var sum fieldScore
	for _, s := range list {
		sum = sum.plus(s)
	}
	n := max(1, sum.cuts)
	own := func(s fieldScore) float64 { return s.own.all().Share() }
	row := FieldRow{
		Policy: name, Target: target, Prompt: sum.prompt / n, Least: sum.least, Most: sum.most,
		Tokens: sum.size / n, Share: float64(sum.size) / float64(max(1, sum.history)), Given: sum.given,
		V: own(sum), Between: bootstrap(list, fieldScore.plus, own), ByAge: sum.own.shares(),
		Closing: shareOrNil(sum.words.Whole), Part: shareOrNil(sum.words.Part), C: shareOrNil(sum.words.Binding), Typed: shareOrNil(sum.words.Typed),
		Later: shareOrNil(sum.later), Found: shareOrNil(sum.found), Stale: shareOrNil(sum.stale), later: sum.later, stale: sum.stale,
	}
	for r, rival := range Rivals() {
		more := func(s fieldScore) float64 { return s.own.all().Share() - s.rivals[r].all().Share() }
		row.Rivals = append(row.Rivals, FieldRival{
			Name: rival.Name, V: sum.rivals[r].all().Share(), More: more(sum), Range: bootstrap(list, fieldScore.plus, more), ByAge: sum.rivals[r].shares(),
		})
	}
	b.Rows = append(b.Rows, row)
	return sum
}

// shares returns the share of each age; nil for an age without edits.
func (a aged) shares() []*float64 {
	var out []*float64
	for _, t := range a {
		out = append(out, shareOrNil(t))
	}
	return out
}

// Table writes the board for a terminal.
func (b *FieldBoard) Table(w io.Writer) error {
	var all []section
	for i := range b.Places {
		all = append(all, b.Places[i].section())
	}
	if len(b.Plain) > 0 {
		all = append(all, b.regretSection(), b.plainSection())
		all = append(all, barSection(b.Bars())...)
	}
	return writeSections(w, all)
}

// regretSection returns the table of what agents read again.
func (b *FieldBoard) regretSection() section {
	g := grid{head: []string{"where", "places", "calls", "reads", "again", "history", "tokens", "lines", "tail", "nine in ten lines", "tail", "given up"}, right: 1}
	add := func(name string, r *Regret) {
		g.rows = append(g.rows, []string{
			name, text.Number(r.Places), text.Number(r.Calls), text.Number(r.Reads), text.Number(r.Again), text.Number(r.History), text.Number(r.Tokens),
			twoDigits(shareOrNil(r.Lines)), twoDigits(shareOrNil(r.Tail)), twoDigits(shareOrNil(r.Whole)), twoDigits(shareOrNil(r.TailWhole)), text.Number(r.Given),
		})
	}
	add("recorded compactions", &b.Recorded)
	add("a random place without one", &b.Random)
	return section{title: "What the agent read again in its next 30 calls, and what of it stands in views of the client's size", grid: g}
}

// plainSection returns the table of sessions without files.
func (b *FieldBoard) plainSection() section {
	g := grid{head: []string{"what", "cuts", "arguments", "history", "tokens", "share", "stand", "tail", "more, 95 %", "given up"}, right: 1}
	for i := range b.Plain {
		r := &b.Plain[i]
		g.rows = append(g.rows, []string{
			r.What, text.Number(r.Cuts), text.Number(r.Args), text.Number(r.History), text.Number(r.Tokens), formatShare(r.Share),
			twoDigits(shareOrNil(r.Ready)), twoDigits(shareOrNil(r.Tail)), r.Between.String(), text.Number(r.Given),
		})
	}
	return section{title: "Without files: which of the agent's next arguments stand in the view", grid: g}
}

// section returns the table of one place; without rows where nothing was cut.
func (b *FieldPlace) section() section {
	how, where := "nothing marked", "where the engine would"
	if b.Marked {
		how = "marked as in the file"
	}
	if b.At > 0 {
		where = fmt.Sprintf("at %.2f of the room", b.At)
	}
	s := section{title: fmt.Sprintf("Window %s, fixed part %s, %s, cut %s: %s", text.Number(b.Window), text.Number(b.Fixed), how, where, b.counts())}
	if b.Cuts == 0 {
		return s
	}
	s.title += fmt.Sprintf("\nHistory %s tokens; edits whose text was last seen below 20k tokens ago: %d, 20–60k: %d, further: %d", text.Number(b.History), b.ByAge[0], b.ByAge[1], b.ByAge[2])
	s.grid = grid{right: 1, head: []string{
		"view", "prompt", "from", "to", "tokens", "share", "V", "95 %", "tail", "naive", "V − tail", "95 %", "V − naive", "95 %",
		"<20k", "20–60k", ">60k", "tail", "", "", "closing", "in part", "C", "typed", "given up",
	}}
	for i := range b.Rows {
		r := &b.Rows[i]
		row := []string{r.Policy, text.Number(r.Prompt), text.Number(r.Least), text.Number(r.Most), text.Number(r.Tokens), formatShare(r.Share)}
		row = append(row, r.readyCells()...)
		for _, v := range append(append([]*float64{}, r.ByAge...), r.Rivals[0].ByAge...) {
			row = append(row, twoDigits(v))
		}
		s.rows = append(s.rows, append(row, twoDigits(r.Closing), twoDigits(r.Part), twoDigits(r.C), twoDigits(r.Typed), text.Number(r.Given)))
	}
	return s
}

// counts says how many edits at how many cuts were measured.
func (b *FieldPlace) counts() string {
	return fmt.Sprintf("%s at %s of %s", text.Plural(b.Edits, "edit"), text.Plural(b.Cuts, "cut"), text.Plural(b.Sessions, "session"))
}

// readyCells returns the cells that say how many of the next edits are ready: V with its
// range, those of the rivals, and the differences with theirs.
func (r *FieldRow) readyCells() []string {
	cells := []string{formatShare(r.V), r.Between.String()}
	for _, v := range r.Rivals {
		cells = append(cells, formatShare(v.V))
	}
	for _, v := range r.Rivals {
		cells = append(cells, fmt.Sprintf("%+.3f", v.More), v.Range.String())
	}
	return cells
}
