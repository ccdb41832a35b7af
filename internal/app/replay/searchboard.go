package replay

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/search"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// What recall is worth: of the edits that the agent made next, the old text stands in
// the view, or one search in what the view hides finds it. The agent searches with the
// path and the words that it wrote last before the edit.

// SearchBoard says what one search finds.
type SearchBoard struct {
	Fingerprint string      `json:"fingerprint"`
	Places      []SearchRow `json:"places"`
}

// SearchRow is what one search finds in a place.
type SearchRow struct {
	Place
	Cuts  int   `json:"cuts"`
	Ready Tally `json:"ready"` // of the edits in the next 100 calls: in the view
	First Tally `json:"first"` // or in the best message that a search finds
	Five  Tally `json:"five"`  // or in one of the five best
	Whole Tally `json:"whole"` // or anywhere in what is hidden: what a search could find
}

func (a SearchRow) plus(b SearchRow) SearchRow {
	return SearchRow{a.Place, a.Cuts + b.Cuts, a.Ready.plus(b.Ready), a.First.plus(b.First), a.Five.plus(b.Five), a.Whole.plus(b.Whole)}
}

// Searches measures the search of package recall over what the engine's views hide, in some
// places; nil are the usual ones.
func Searches(ctx context.Context, d *Data, in []Place, c *Crew) (*SearchBoard, error) {
	if in == nil {
		in = []Place{{Window: 200_000, Fixed: 42_000}, {Window: 100_000, Fixed: 20_000}, {Window: 64_000}}
	}
	places, err := openPlaces(in)
	if err != nil {
		return nil, err
	}
	sums := make([][]SearchRow, len(d.Sessions))
	err = c.Each(ctx, len(d.Sessions), "searches", func(i int) error {
		var err error
		sums[i], err = searchSession(ctx, &d.Sessions[i], places)
		return err
	})
	if err != nil {
		return nil, err
	}
	b := &SearchBoard{Fingerprint: d.Fingerprint}
	for p := range places {
		row := SearchRow{Place: places[p].Place}
		for i := range sums {
			row = row.plus(sums[i][p])
		}
		b.Places = append(b.Places, row)
	}
	return b, nil
}

// searchSession measures the cuts of one session in every place.
func searchSession(ctx context.Context, s *Session, places []fieldPlace) ([]SearchRow, error) {
	out := make([]SearchRow, len(places))
	err := eachCut(s, places, func(p int, x *nextIndex, req chat.Request, c *NextCut) error {
		r, err := places[p].engine.Fit(ctx, req, winnow.State{Ask: winnow.Ask{Force: true}})
		if err != nil {
			return err
		}
		out[p].Cuts++
		shown := x.readView(viewMessages(req.History, r.View))
		for _, e := range slices.Concat(c.Edits, c.Later) {
			ready := shown.isReady(e.Path, e.Old)
			first, five, whole := ready, ready, ready
			if !ready {
				whole = x.hidesOld(r.Plan, &e)
				for k, h := range recall.Hidden(req.History, r.Plan, x.searchQuery(&e), "") {
					if k >= 5 || five {
						break
					}
					five = x.holdsOld(h.Message, &e)
					first = k == 0 && five
				}
			}
			out[p].Ready.put(ready)
			out[p].First.put(first)
			out[p].Five.put(five)
			out[p].Whole.put(whole)
		}
		return nil
	})
	return out, err
}

// hidesOld reports whether what a plan hides has the old text of an edit.
func (x *nextIndex) hidesOld(p *plan.Plan, e *NextEdit) bool {
	return p != nil && slices.ContainsFunc(p.Edits, func(h plan.Edit) bool {
		for i := h.From; i < h.To && h.Handle != ""; i++ {
			if !slices.Contains(h.Keep, i) && x.holdsOld(i, e) {
				return true
			}
		}
		return false
	})
}

// searchMeans says what the columns are.
const searchMeans = `Of the edits in the agent's next 100 calls, the old text stands in the view, or one search
finds it, with the path and the words that the agent wrote last before the edit.
`

// Table prints the board.
func (b *SearchBoard) Table(out io.Writer) error {
	g := grid{head: []string{"window", "fixed", "cuts", "edits", "in view", "best place", "best five", "hidden"}}
	for _, r := range b.Places {
		row := []string{text.Number(r.Window), text.Number(r.Fixed), text.Number(r.Cuts), text.Number(r.Ready.Of)}
		for _, t := range []Tally{r.Ready, r.First, r.Five, r.Whole} {
			row = append(row, formatShare(t.Share()))
		}
		g.rows = append(g.rows, row)
	}
	return writeSections(out, []section{{title: searchMeans, grid: g}})
}

// countFound counts the edits of a cut that are ready in a view, or found by one search
// in what it hides.
func (x *nextIndex) countFound(c *NextCut, msgs []*chat.Message, shown *shownView) (t Tally) {
	in := map[*chat.Message]bool{}
	for _, m := range msgs {
		in[m] = true
	}
	for _, e := range c.Edits {
		t.put(shown.isReady(e.Path, e.Old) || x.searchFinds(c, &e, in))
	}
	return t
}

// searchFinds reports whether one search in what a view hides finds an edit's old
// text: the agent reads the best message that is found.
func (x *nextIndex) searchFinds(c *NextCut, e *NextEdit, in map[*chat.Message]bool) bool {
	var hidden []int
	var texts []string
	for i := range c.At {
		if m := x.session.History.At(i); !in[m] {
			var b strings.Builder
			eachText(m, func(text string) { b.WriteString(text + "\n") })
			for k := range m.Parts { // a result does not say which file it shows; its call does
				if call := x.result[&m.Parts[k]]; call != nil {
					b.WriteString(call.Args + "\n")
				}
			}
			hidden, texts = append(hidden, i), append(texts, b.String())
		}
	}
	found := search.Rank(search.Words(x.searchQuery(e)), texts, 1)
	return len(found) > 0 && x.holdsOld(hidden[found[0].Text], e)
}

// searchQuery returns the query of an agent that needs the text of an edit: the
// file, and the words it wrote last.
func (x *nextIndex) searchQuery(e *NextEdit) string { return e.Path + " " + x.lastWords(e.At) }

// holdsOld reports whether a message shows the old text of an edit.
func (x *nextIndex) holdsOld(message int, e *NextEdit) bool {
	return slices.ContainsFunc(x.texts[message], func(texts []string) bool { return anyContains(texts, e.Old) })
}

// lastWords returns the newest words of the agent up to a message.
func (x *nextIndex) lastWords(at int) string {
	for i := at; i >= 0; i-- {
		if m := x.session.History.At(i); m.Role == chat.Assistant {
			if t := strings.TrimSpace(m.Text()); t != "" {
				return t
			}
		}
	}
	return ""
}
