package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
)

// NextOptions say what the board of next edits measures. The zero value is all.
type NextOptions struct {
	Viewers []Viewer // nil is [Viewers], as far as the window has room for them
	Window  int      // the default is 64,000
	Crew
}

// NextBoard says of how many of the next edits the old text is still there.
type NextBoard struct {
	Fingerprint string    `json:"fingerprint"`
	Window      int       `json:"window"`
	Sessions    int       `json:"sessions"` // with a cut
	Cuts        int       `json:"cuts"`
	Edits       int       `json:"edits"` // demanded
	Rows        []NextRow `json:"rows"`
}

// NextRow is one viewer over all cuts.
type NextRow struct {
	Viewer  string  `json:"viewer"`
	Tokens  int     `json:"tokens"` // mean size of its views, in characters / 4
	Given   int     `json:"given_up"`
	V       float64 `json:"v"`
	Between *Span   `json:"between"` // where 95 of 100 resamplings put V

	Rivals []RivalScore `json:"rivals"` // views of the same size

	// What else the views hold; null where nothing is asked for.
	Later  *float64 `json:"v_later"`    // V of calls 31 to 100
	Found  *float64 `json:"v_searched"` // ready, or found by one search
	C      *float64 `json:"c"`
	Recent *float64 `json:"recent"` // the last three exchanges whole, where they fit
	Stale  *float64 `json:"stale"`
	Bare   *float64 `json:"bare"` // words in bare lists

	Beside Beside `json:"-"`
}

// Span is where 95 of 100 resamplings of the sessions put a figure.
type Span [2]float64

// RivalScore is a rival's V at the size of a viewer's views, and how much better
// the viewer is.
type RivalScore struct {
	Name  string  `json:"name"`
	V     float64 `json:"v"`
	More  float64 `json:"more"`
	Range *Span   `json:"more_between"`
}

// nextScore is what one viewer's views of one session hold.
type nextScore struct {
	own    Tally
	rivals []Tally
	size   int
	given  int
	cuts   int
	beside Beside
}

func (a nextScore) plus(b nextScore) nextScore {
	c := nextScore{own: a.own.plus(b.own), size: a.size + b.size, given: a.given + b.given, cuts: a.cuts + b.cuts, beside: a.beside.plus(b.beside)}
	n := max(len(a.rivals), len(b.rivals))
	c.rivals = make([]Tally, n)
	copy(c.rivals, a.rivals)
	for i, t := range b.rivals {
		c.rivals[i] = c.rivals[i].plus(t)
	}
	return c
}

// RunNext measures the next edits.
func RunNext(ctx context.Context, d *Data, opts *NextOptions) (*NextBoard, error) {
	var o NextOptions
	if opts != nil {
		o = *opts
	}
	o.Window = cmp.Or(o.Window, 64000)
	if o.Viewers == nil { // a target that is not below what is available is none
		o.Viewers = slices.DeleteFunc(Viewers(), func(v Viewer) bool { return v.Target >= o.Window-nextOutput })
	}
	views := make([]FieldPolicy, len(o.Viewers))
	for i, v := range o.Viewers {
		var err error
		if views[i], err = v.openPolicy(o.Window); err != nil {
			return nil, err
		}
	}
	scores := make([][]nextScore, len(d.Sessions)) // by session and viewer; nil without a cut
	err := o.Each(ctx, len(d.Sessions), "next edits", func(i int) error {
		var err error
		scores[i], err = scoreNext(ctx, &d.Sessions[i], views, o.Window)
		return err
	})
	if err != nil {
		return nil, err
	}
	scores = slices.DeleteFunc(scores, func(s []nextScore) bool { return s == nil })
	b := &NextBoard{Fingerprint: d.Fingerprint, Window: o.Window, Sessions: len(scores)}
	for k := range views {
		list := make([]nextScore, len(scores))
		for i := range scores {
			list[i] = scores[i][k]
		}
		b.Rows = append(b.Rows, nextRow(views[k].Name, list))
		if k == 0 {
			for _, s := range list {
				b.Cuts += s.cuts
				b.Edits += s.own.Of
			}
		}
	}
	return b, nil
}

// scoreNext measures the cuts of one session.
func scoreNext(ctx context.Context, s *Session, views []FieldPolicy, window int) ([]nextScore, error) {
	if tooShort(s, window) {
		return nil, nil
	}
	x := newNextIndex(s)
	cuts := x.findCuts(window)
	if len(cuts) == 0 {
		return nil, nil
	}
	rivals := Rivals()
	out := make([]nextScore, len(views))
	for c := range cuts {
		cut := &cuts[c]
		asks := x.findAsked(cut)
		for k := range views {
			msgs, given, err := views[k].compactedView(ctx, s, cut.At)
			if err != nil {
				return nil, err
			}
			score := nextScore{rivals: make([]Tally, len(rivals)), cuts: 1, size: viewSize(msgs), given: given}
			shown := x.readView(msgs)
			score.own = cut.countReady(shown)
			score.beside = x.measureBeside(cut, asks, msgs, shown)
			for r, rival := range rivals {
				score.rivals[r] = cut.countReady(x.readView(rival.make(x, cut, 4*score.size)))
			}
			out[k] = out[k].plus(score)
		}
	}
	return out, nil
}

// tooShort reports whether a session surely never fills the window.
func tooShort(s *Session, window int) bool {
	n := 0
	for _, m := range s.History.All() {
		for k := range m.Parts {
			n += len(m.Parts[k].Text) + len(m.Parts[k].Args)
			for i := range m.Parts[k].Content {
				n += len(m.Parts[k].Content[i].Text)
			}
		}
	}
	return n/4 < int(nextShare*float64(window))
}

// countReady counts the edits of a cut that are ready in a view.
func (c *NextCut) countReady(v *shownView) Tally {
	var t Tally
	for _, e := range c.Edits {
		t.put(v.isReady(e.Path, e.Old))
	}
	return t
}

// nextRow sums up a viewer's scores by session.
func nextRow(name string, list []nextScore) NextRow {
	var sum nextScore
	for _, s := range list {
		sum = sum.plus(s)
	}
	own := func(s nextScore) float64 { return s.own.Share() }
	row := NextRow{
		Viewer: name, Tokens: sum.size / max(1, sum.cuts), Given: sum.given, V: own(sum),
		Between: bootstrap(list, nextScore.plus, own),
	}
	b := sum.beside
	row.Beside = b
	row.Later, row.Found, row.Recent, row.Stale, row.Bare = shareOrNil(b.Later), shareOrNil(b.Found), shareOrNil(b.Recent), shareOrNil(b.Stale), shareOrNil(b.Bare)
	row.C = shareOrNil(b.User)
	for r, rival := range Rivals() {
		more := func(s nextScore) float64 {
			if r >= len(s.rivals) {
				return 0
			}
			return s.own.Share() - s.rivals[r].Share()
		}
		row.Rivals = append(row.Rivals, RivalScore{
			Name: rival.Name, V: sum.rivals[r].Share(), More: more(sum), Range: bootstrap(list, nextScore.plus, more),
		})
	}
	return row
}

// grid returns the table of next edits.
func (b *NextBoard) grid() grid {
	g := grid{head: []string{"view", "tokens", "V", "95 %"}, right: 1}
	for _, r := range Rivals() {
		g.head = append(g.head, r.Name)
	}
	g.head = append(g.head, "V − tail", "95 %", "V − naive", "95 %", "given up")
	for i := range b.Rows {
		r := &b.Rows[i]
		row := []string{r.Viewer, text.Number(r.Tokens), formatShare(r.V), r.Between.String()}
		for _, v := range r.Rivals {
			row = append(row, formatShare(v.V))
		}
		for _, v := range r.Rivals[:2] {
			row = append(row, fmt.Sprintf("%+.3f", v.More), v.Range.String())
		}
		g.rows = append(g.rows, append(row, text.Number(r.Given)))
	}
	return g
}

// besideGrid returns the table of what else the views hold.
func (b *NextBoard) besideGrid() grid {
	g := grid{head: []string{"view", "V 31–100", "of", "with search", "C", "last 3", "of", "stale", "of", "bare lists"}, right: 1}
	for i := range b.Rows {
		r := &b.Rows[i]
		s := &r.Beside
		g.rows = append(g.rows, []string{
			r.Viewer, twoDigits(r.Later), text.Number(s.Later.Of), twoDigits(r.Found), twoDigits(r.C),
			twoDigits(r.Recent), text.Number(s.Recent.Of), threeDigits(r.Stale), text.Number(s.Stale.Of), threeDigits(r.Bare),
		})
	}
	return g
}

// threeDigits writes a share with three digits, and a dash for none.
func threeDigits(x *float64) string {
	if x == nil {
		return "–"
	}
	return formatShare(*x)
}

// String writes both ends.
func (s *Span) String() string {
	if s == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f–%.2f", s[0], s[1])
}

// formatShare writes a share with three digits and no zero in front.
func formatShare(x float64) string {
	return strings.Replace(fmt.Sprintf("%.3f", x), "0.", ".", 1)
}

// about says what the board measured.
func (b *NextBoard) about() string {
	return fmt.Sprintf("%s at %s of %s, a window of %s tokens", text.Plural(b.Edits, "edit"), text.Plural(b.Cuts, "cut"), text.Plural(b.Sessions, "session"), text.Number(b.Window))
}

// Table writes the board for a terminal.
func (b *NextBoard) Table(w io.Writer) error { return (&Board{Next: b}).Table(w) }
