package replay

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/token"
)

// Regret is what agents read again after places of their sessions, and how much
// of it views at those places still have.
type Regret struct {
	Places  int `json:"places"`
	Calls   int `json:"calls"`    // after them, up to 30 each
	Reads   int `json:"reads"`    // of one file, among the calls
	Again   int `json:"rereads"`  // half of whose lines at least had been shown before
	History int `json:"history"`  // mean tokens before a place
	Tokens  int `json:"tokens"`   // mean size of the views, in characters / 4
	Given   int `json:"given_up"` // places at which the view is everything

	// Lines that were read again and stand in the view; Tail is the newest tokens of
	// the same number.
	Lines Tally `json:"lines"`
	Tail  Tally `json:"tail_lines"`

	// Whole counts the reads again of which nine in ten lines stand in the view.
	Whole     Tally `json:"whole"`
	TailWhole Tally `json:"tail_whole"`
}

func (a Regret) plus(b Regret) Regret {
	return Regret{
		a.Places + b.Places, a.Calls + b.Calls, a.Reads + b.Reads, a.Again + b.Again,
		a.History + b.History, a.Tokens + b.Tokens, a.Given + b.Given,
		a.Lines.plus(b.Lines), a.Tail.plus(b.Tail), a.Whole.plus(b.Whole), a.TailWhole.plus(b.TailWhole),
	}
}

// mean makes means of the sums of sizes.
func (a Regret) mean() Regret {
	a.History /= max(1, a.Places)
	a.Tokens /= max(1, a.Places)
	return a
}

// measureRegrets measures the recorded compactions of the sessions, and beside each a
// place of the same session, drawn by lot, at which nothing was compacted.
func (o *FieldOptions) measureRegrets(ctx context.Context, d *Data) (recorded, random Regret, err error) {
	list := d.sessionsThat(func(s *Session) bool { return len(Summarised(s.Compactions)) > 0 })
	sums := make([][2]Regret, len(list))
	err = o.Each(ctx, len(list), "regret", func(i int) error {
		var err error
		sums[i], err = o.measureRegret(ctx, list[i])
		return err
	})
	for _, s := range sums {
		recorded, random = recorded.plus(s[0]), random.plus(s[1])
	}
	return recorded.mean(), random.mean(), err
}

// measureRegret measures one session.
func (o *FieldOptions) measureRegret(ctx context.Context, s *Session) (out [2]Regret, err error) {
	k := token.New(counting, nil)
	x, bare := newBareIndex(s)
	fixed := fixedPart(s, k)
	for _, c := range Summarised(s.Compactions) {
		size := k.Text(c.Summary)
		for i := c.At - c.Kept; i < c.At; i++ {
			size += k.At(s.History, i)
		}
		if c.TokensAfter > 0 {
			size = max(size, c.TokensAfter-fixed)
		}
		p := Place{Window: 200_000, Fixed: fixed, Target: fixed + max(size, leastView)}
		for i, at := range [...]int{c.At, x.drawUncompacted(o.Seed, c.At)} {
			if at == 0 {
				continue
			}
			r, err := o.regretAt(ctx, x, bare, p, at)
			if err != nil {
				return out, err
			}
			out[i] = out[i].plus(r)
		}
	}
	return out, nil
}

// leastView is the smallest view that is asked for, in tokens: some clients keep
// nothing but a summary of a few hundred.
const leastView = 2000

// fixedPart estimates what every request of a session carried beside its messages,
// from the first reported usage: at least what the file shows of it.
func fixedPart(s *Session, k *token.Counter) int {
	shown := k.Conversation() + k.System(s.System) + k.Tools(s.Tools)
	size := 0
	for i, m := range s.History.All() {
		if m.Role == chat.Assistant && m.Usage != nil && m.Usage.Prompt() > 0 {
			return max(shown, m.Usage.Prompt()-size)
		}
		size += k.At(s.History, i)
	}
	return shown
}

// drawUncompacted returns a message before which nothing was compacted, nor soon after it,
// drawn by lot for a compaction; 0 where there is none.
func (x *nextIndex) drawUncompacted(seed uint64, compaction int) int {
	h := x.session.History
	var fit []int
	for at := h.Len() / 4; at < h.Len(); at++ {
		if h.At(at).Role != chat.Assistant {
			continue
		}
		c := NextCut{At: at}
		x.findDemand(&c)
		if c.End < h.Len() && !x.compactedBetween(at-nextClear, c.End) {
			fit = append(fit, at)
		}
	}
	if len(fit) == 0 {
		return 0
	}
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s %d", x.session.File, compaction)
	return fit[rand.New(rand.NewPCG(seed, sum.Sum64())).IntN(len(fit))]
}

// regretAt measures one place of a session.
func (o *FieldOptions) regretAt(ctx context.Context, x *nextIndex, bare chat.History, p Place, at int) (Regret, error) {
	h := x.session.History
	all := messagesOf(h.Head(at))
	view, given, err := o.viewAt(ctx, x.session, bare, p, at)
	r := Regret{Places: 1, History: viewSize(all), Tokens: viewSize(view), Given: given}
	if err != nil {
		return r, err
	}
	before, shown := x.readView(all), x.readView(view)
	tail := x.readView(tailView(x, &NextCut{At: at}, 4*r.Tokens))
	for i := at; i < h.Len() && r.Calls < nextCalls; i++ {
		if i > at && x.compactedBetween(i-1, i) {
			break
		}
		for k := range h.At(i).Parts {
			call := &h.At(i).Parts[k]
			if call.Kind != chat.ToolCall || r.Calls == nextCalls {
				continue
			}
			r.Calls++
			path, lines, _ := x.readBy(i, call)
			if len(lines) == 0 {
				continue
			}
			r.Reads++
			stood := keepPresent(lines, before.linesOfFile(path))
			if 2*len(stood) < len(lines) {
				continue
			}
			r.Again++
			own, newest := len(keepPresent(stood, shown.linesOfFile(path))), len(keepPresent(stood, tail.linesOfFile(path)))
			r.Lines = r.Lines.plus(Tally{own, len(stood)})
			r.Tail = r.Tail.plus(Tally{newest, len(stood)})
			r.Whole.put(10*own >= 9*len(stood))
			r.TailWhole.put(10*newest >= 9*len(stood))
		}
	}
	return r, nil
}

// readBy returns the file that a call reads, the lines that it showed, and the result.
func (x *nextIndex) readBy(answer int, call *chat.Part) (path string, lines []string, result *chat.Part) {
	a := x.access[call]
	if a.Kind != work.ToolRead || len(a.Ops) != 1 {
		return "", nil, nil
	}
	result, texts := x.resultOf(answer, call)
	if result == nil || result.Failed {
		return "", nil, nil
	}
	return a.Ops[0].Path, linesOf(texts), result
}

// viewAt returns the first policy's view of a session's first messages in a place.
func (o *FieldOptions) viewAt(ctx context.Context, s *Session, bare chat.History, p Place, at int) (msgs []*chat.Message, given int, err error) {
	policies, err := o.policiesFor(p)
	if err != nil {
		return nil, 0, err
	}
	place := &fieldPlace{Place: p, counter: token.New(counting, nil)}
	msgs, given, err = viewOf(ctx, &policies[0], place.newRequest(s, bare.Head(at)))
	if err != nil {
		err = fmt.Errorf("replay: %s on %s at message %d: %w", policies[0].Name, s.File, at, err)
	}
	return msgs, given, err
}

// viewOf makes a view. It is everything where the engine says that it cannot be less;
// given is 1 then.
func viewOf(ctx context.Context, by *FieldPolicy, req chat.Request) (msgs []*chat.Message, given int, err error) {
	msgs, err = by.View(ctx, req)
	var cannot *winnow.CannotFitError
	var short *winnow.NotLastingError
	if !errors.As(err, &cannot) && !errors.As(err, &short) {
		return msgs, 0, err
	}
	return messagesOf(req.History), 1, nil
}

// messagesOf returns the messages of a history.
func messagesOf(h chat.History) []*chat.Message {
	out := make([]*chat.Message, h.Len())
	for i := range out {
		out[i] = h.At(i)
	}
	return out
}
