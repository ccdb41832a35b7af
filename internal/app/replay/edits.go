package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/token"
)

// The next edits in a small window, which a conversation has to itself: there choosing
// matters most.

// nextOutput is the output reserve at a cut, in tokens.
const nextOutput = 4096

// nextPolicies returns what the board of next edits compares, as far as a window has room
// for it: targets, the preset thrifty, and the engine with nothing set, which is the preset
// default.
func nextPolicies(window int) (out []FieldPolicy, err error) {
	for _, v := range []struct {
		name, preset string
		target       int // tokens; 0 leaves that to the settings
	}{{"target 16000", "", 16_000}, {"target 22000", "", 22_000}, {"target 30000", "", 30_000}, {"thrifty", "thrifty", 0}, {"default", "", 0}} {
		if v.target >= window-nextOutput {
			continue // it is not below what is available
		}
		w, err := engineFor(winnow.Settings{Preset: v.preset, Window: window, OutputReserve: nextOutput}, "unpriced", counting, model.Window{})
		if err != nil {
			return nil, fmt.Errorf("replay: %s: %w", v.name, err)
		}
		p, err := compactingPolicy(v.name, w, v.target)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// NextBoard says of how many of the next edits the old text is still there.
type NextBoard struct {
	Fingerprint string `json:"fingerprint"`
	FieldPlace
}

// alonePlace is a window that a conversation has to itself.
func alonePlace(window int) (fieldPlace, error) {
	policies, err := nextPolicies(window)
	return fieldPlace{Place: Place{Window: window, Marked: true}, policies: policies, counter: token.New(counting, nil), alone: true}, err
}

// RunNext measures the next edits in a window; 0 is 64,000 tokens.
func RunNext(ctx context.Context, d *Data, window int, c *Crew) (*NextBoard, error) {
	window = cmp.Or(window, 64000)
	place, err := alonePlace(window)
	if err != nil {
		return nil, err
	}
	sessions := d.sessionsThat(func(s *Session) bool { return !tooShort(s, window) })
	places, err := c.scorePlaces(ctx, sessions, []fieldPlace{place})
	if err != nil {
		return nil, err
	}
	return &NextBoard{d.Fingerprint, places[0]}, nil
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

// grid returns the table of next edits.
func (b *NextBoard) grid() grid {
	g := grid{head: []string{"view", "tokens", "V", "95 %", "tail", "naive", "V − tail", "95 %", "V − naive", "95 %", "given up"}, right: 1}
	for i := range b.Rows {
		r := &b.Rows[i]
		g.rows = append(g.rows, append(append([]string{r.Policy, text.Number(r.Tokens)}, r.readyCells()...), text.Number(r.Given)))
	}
	return g
}

// besideGrid returns the table of what else the views hold.
func (b *NextBoard) besideGrid() grid {
	g := grid{head: []string{"view", "V 31–100", "of", "with search", "C", "stale", "of"}, right: 1}
	for i := range b.Rows {
		r := &b.Rows[i]
		g.rows = append(g.rows, []string{
			r.Policy, twoDigits(r.Later), text.Number(r.later.Of), twoDigits(r.Found), twoDigits(r.C), threeDigits(r.Stale), text.Number(r.stale.Of),
		})
	}
	return g
}

// about says what the board measured.
func (b *NextBoard) about() string {
	return fmt.Sprintf("%s, a window of %s tokens", b.counts(), text.Number(b.Window))
}

// Table writes the board for a terminal.
func (b *NextBoard) Table(w io.Writer) error { return (&Board{Next: b}).Table(w) }
