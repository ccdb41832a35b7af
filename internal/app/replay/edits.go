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

// Viewer makes views of histories whose context is full: the engine under some
// settings, or aiming at a number of tokens, as winnow compact --target does.
type Viewer struct {
	Name     string
	Settings winnow.Settings
	Target   int // tokens; 0 leaves that to the settings
}

// Viewers returns what the board of next edits compares: targets, the preset thrifty,
// and the engine with nothing set, which is the preset default.
func Viewers() []Viewer {
	var out []Viewer
	for _, n := range []int{16000, 22000, 30000} {
		out = append(out, Viewer{Name: fmt.Sprintf("target %d", n), Target: n})
	}
	return append(out, Viewer{Name: "thrifty", Settings: winnow.Settings{Preset: "thrifty"}}, Viewer{Name: "default"})
}

// openPolicy makes the viewer's engine for a window.
func (v Viewer) openPolicy(window int) (FieldPolicy, error) {
	set := v.Settings
	set.Window, set.OutputReserve = window, nextOutput
	w, err := engineFor(set, "unpriced", counting, model.Window{})
	if err != nil {
		return FieldPolicy{}, fmt.Errorf("replay: %s: %w", v.Name, err)
	}
	return compactingPolicy(v.Name, w, v.Target)
}

// NextOptions say what the board of next edits measures: [Viewers], as far as the window
// has room for them.
type NextOptions struct {
	Window int // the default is 64,000
	Crew
}

// NextBoard says of how many of the next edits the old text is still there.
type NextBoard struct {
	Fingerprint string `json:"fingerprint"`
	FieldPlace
}

// RunNext measures the next edits.
func RunNext(ctx context.Context, d *Data, opts *NextOptions) (*NextBoard, error) {
	var o NextOptions
	if opts != nil {
		o = *opts
	}
	o.Window = cmp.Or(o.Window, 64000)
	place := fieldPlace{Place: Place{Window: o.Window, Marked: true}, counter: token.New(counting, nil), alone: true}
	for _, v := range Viewers() {
		if v.Target >= o.Window-nextOutput {
			continue // it is not below what is available
		}
		p, err := v.openPolicy(o.Window)
		if err != nil {
			return nil, err
		}
		place.policies = append(place.policies, p)
	}
	sessions := d.sessionsThat(func(s *Session) bool { return !tooShort(s, o.Window) })
	places, err := o.scorePlaces(ctx, sessions, []fieldPlace{place})
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
