package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/transcript"
)

// Reading is how compactions by the engine with nothing set are drawn to be read by a
// person.
type Reading struct {
	Count  int    // how many; 0 is ten
	Seed   uint64 // the same seed draws the same compactions
	Window int    // tokens; 0 is 64,000

	// Fixed is what system prompt and tools have, in tokens, as in [Place]. With 0 the
	// conversation has the window to itself.
	Fixed int
}

// place returns where the compactions are made.
func (r Reading) place() (fieldPlace, error) {
	if r.Fixed == 0 {
		p, err := alonePlace(cmp.Or(r.Window, 64000))
		if err != nil {
			return p, err
		}
		p.policies = p.policies[len(p.policies)-1:]
		return p, nil
	}
	places, err := openPlaces([]Place{{Window: cmp.Or(r.Window, 200_000), Fixed: r.Fixed, Marked: true}})
	if err != nil {
		return fieldPlace{}, err
	}
	nothingSet, err := Shipped("nothing set", winnow.Settings{}, places[0].Place, 0)
	places[0].policies = []FieldPolicy{nothingSet}
	return places[0], err
}

// Read draws compactions of sessions and writes each as the model would read it:
// the messages that the engine put in whole, those that stayed as a line each,
// and then what the agent did next and whether its edits were ready. The formats
// of the sessions take turns, and no repository comes a second time before each
// had its own.
func Read(ctx context.Context, out io.Writer, d *Data, r Reading) error {
	place, err := r.place()
	if err != nil {
		return err
	}
	type drawn struct {
		x   *nextIndex
		req chat.Request
		cut *NextCut
	}
	n := 0
	for _, s := range d.drawSessions(rand.New(rand.NewPCG(r.Seed, 1)), place.Room()/2) {
		if n == cmp.Or(r.Count, 10) {
			break
		}
		var cuts []drawn
		err := eachCut(s, []fieldPlace{place}, func(_ int, x *nextIndex, req chat.Request, c *NextCut) error {
			cuts = append(cuts, drawn{x, req, c})
			return nil
		})
		if err != nil {
			return err
		}
		if len(cuts) == 0 {
			continue
		}
		c := cuts[rand.New(rand.NewPCG(r.Seed, uint64(n))).IntN(len(cuts))]
		n++
		msgs, given, err := viewOf(ctx, &place.policies[0], c.req)
		if err != nil {
			return fmt.Errorf("replay: %s at message %d: %w", s.File, c.cut.At, err)
		}
		if err := c.x.writeCompaction(out, n, c.cut, msgs, given); err != nil {
			return err
		}
	}
	return nil
}

// drawSessions returns the sessions that may have some tokens, in a random order in
// which formats take turns.
func (d *Data) drawSessions(r *rand.Rand, least int) []*Session {
	byFormat := map[transcript.Format][]*Session{}
	for _, i := range r.Perm(len(d.Sessions)) {
		if s := &d.Sessions[i]; !tooShort(s, least) {
			byFormat[s.Format] = append(byFormat[s.Format], s)
		}
	}
	formats := slices.Sorted(maps.Keys(byFormat))
	r.Shuffle(len(formats), func(i, k int) { formats[i], formats[k] = formats[k], formats[i] })
	var out []*Session
	seen := map[string]bool{}
	for left := true; left; {
		left = false
		for _, f := range formats {
			list := byFormat[f]
			if len(list) == 0 {
				continue
			}
			left = true
			i := max(0, slices.IndexFunc(list, func(s *Session) bool { return !seen[s.Source] }))
			seen[list[i].Source] = true
			out = append(out, list[i])
			byFormat[f] = slices.Delete(list, i, i+1)
		}
	}
	return out
}

// writeCompaction writes one compaction.
func (x *nextIndex) writeCompaction(out io.Writer, n int, c *NextCut, msgs []*chat.Message, given int) error {
	var b strings.Builder
	s := x.session
	fmt.Fprintf(&b, "%s\n%d. %s, %s: %d messages, about %d tokens, become %d messages, about %d tokens\n",
		strings.Repeat("=", 80), n, s.Format, s.File, c.At, x.chars[c.At]/4, len(msgs), viewSize(msgs))
	if given > 0 {
		b.WriteString("The engine said that it cannot be compacted to the target.\n")
	}
	stays := 0
	for _, m := range msgs {
		if i, ok := x.raw[m]; ok && i < c.At {
			stays++
			fmt.Fprintf(&b, "· %d %s: %s\n", i+1, m.Role, messageLine(m))
			continue
		}
		fmt.Fprintf(&b, "%s put in %s\n%s\n%s\n", strings.Repeat("-", 20), strings.Repeat("-", 50), messageText(m), strings.Repeat("-", 80))
	}
	fmt.Fprintf(&b, "%d messages stay as they are. Then the agent did:\n", stays)
	shown := x.readView(msgs)
	calls := 0
	for i := c.At; i < s.History.Len() && calls < 8; i++ {
		m := s.History.At(i)
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == chat.ToolCall && calls < 8 {
				calls++
				fmt.Fprintf(&b, "  %d. %s\n", calls, work.Headline(p, 110))
			}
		}
	}
	for _, e := range c.Edits {
		state := "NOT READY"
		if shown.isReady(e.Path, e.Old) {
			state = "ready"
		}
		fmt.Fprintf(&b, "  edit by call %d of %s: %s: %s\n", e.Call, e.Path, state, text.Runes(strings.Join(strings.Fields(e.Old), " "), 70))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(out, b.String())
	return err
}

// messageLine returns a message in a line.
func messageLine(m *chat.Message) string {
	var words []string
	for k := range m.Parts {
		switch p := &m.Parts[k]; p.Kind {
		case chat.ToolCall:
			words = append(words, work.Headline(p, 90))
		default:
			words = append(words, fmt.Sprintf("%s (%d characters)", text.Runes(strings.Join(strings.Fields(p.Text), " "), 70), partChars(p)))
		}
	}
	return strings.Join(words, "; ")
}

// messageText returns all that a message says.
func messageText(m *chat.Message) string {
	var b strings.Builder
	for k := range m.Parts {
		if k > 0 {
			b.WriteByte('\n')
		}
		p := &m.Parts[k]
		if p.Kind == chat.ToolCall {
			b.WriteString(p.Name + " " + p.Args)
			continue
		}
		b.WriteString(p.Text)
	}
	return b.String()
}
