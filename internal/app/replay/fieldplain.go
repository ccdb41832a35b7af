package replay

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/token"
)

// An agent without files has its data in results. What it writes into its next
// calls is asked of the view, as the next edits are where there are files.

// Plain is how many of the next arguments stand in views.
type Plain struct {
	What    string  `json:"what"`
	Cuts    int     `json:"cuts"`
	Args    int     `json:"arguments"` // demanded
	History int     `json:"history"`   // mean tokens before a cut
	Tokens  int     `json:"tokens"`    // mean size of the views
	Share   float64 `json:"share"`
	Given   int     `json:"given_up"`

	Ready   Tally `json:"ready"`
	Tail    Tally `json:"tail"`
	Between *Span `json:"more_between"` // of what the view has more than the tail
}

// plainScore is one session's.
type plainScore struct {
	cuts, given, history, size int
	own, tail                  Tally
}

func (a plainScore) plus(b plainScore) plainScore {
	return plainScore{a.cuts + b.cuts, a.given + b.given, a.history + b.history, a.size + b.size, a.own.plus(b.own), a.tail.plus(b.tail)}
}

// sumPlain sums up the scores of sessions.
func sumPlain(what string, list []plainScore) Plain {
	var s plainScore
	for _, x := range list {
		s = s.plus(x)
	}
	n := max(1, s.cuts)
	more := func(s plainScore) float64 { return s.own.Share() - s.tail.Share() }
	return Plain{
		What: what, Cuts: s.cuts, Args: s.own.Of, History: s.history / n, Tokens: s.size / n,
		Share: float64(s.size) / float64(max(1, s.history)), Given: s.given, Ready: s.own, Tail: s.tail,
		Between: bootstrap(list, plainScore.plus, more),
	}
}

const (
	plainCalls  = 6   // that a session without files has at least
	shortestArg = 4   // characters
	longestArg  = 200 // characters
)

// measurePlain measures the sessions in which no file is read or changed, each in a window
// that it fills half-way through.
func (o *FieldOptions) measurePlain(ctx context.Context, d *Data) ([]Plain, error) {
	each := d.sessionsThat(withoutFiles)
	counter := token.New(counting, nil)
	scores := make([]plainScore, len(each))
	err := o.Each(ctx, len(scores), "without files", func(i int) (err error) {
		scores[i], err = o.plainHalf(ctx, each[i], counter)
		return err
	})
	return []Plain{sumPlain("each session, its window full half-way", scores)}, err
}

// withoutFiles reports whether a session has calls and none of them is about a
// file.
func withoutFiles(s *Session) bool {
	kinds, calls := work.DefaultKinds(), 0
	for _, m := range s.History.All() {
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == chat.ToolCall {
				a := kinds.Access(p)
				if a.Command != "" || len(a.Ops) > 0 {
					return false
				}
				calls++
			}
		}
	}
	return calls >= plainCalls
}

// plainHalf cuts a session at its half, in a window of which it then fills 90 % of
// the room.
func (o *FieldOptions) plainHalf(ctx context.Context, s *Session, k *token.Counter) (plainScore, error) {
	h := s.History
	all, size := 0, 0
	for i := range h.Len() {
		all += k.At(h, i)
	}
	fixed := k.Conversation() + k.System(s.System) + k.Tools(s.Tools)
	at := 0
	for ; at < h.Len() && (at == 0 || 2*size < all || h.At(at).Role != chat.Assistant); at++ {
		size += k.At(h, at)
	}
	if at == h.Len() {
		return plainScore{}, nil
	}
	x, bare := newBareIndex(s)
	view, given, err := o.viewAt(ctx, s, bare, Place{Window: 5 * (size*10/9 + fixed) / 4, Fixed: fixed}, at)
	if err != nil {
		return plainScore{}, err
	}
	out := plainScore{cuts: 1, given: given, history: x.chars[at] / 4, size: viewSize(view)}
	own, tail := plainTexts(view), plainTexts(tailView(x, &NextCut{At: at}, 4*out.size))
	for _, v := range nextArgs(s, at) {
		out.own.put(standsInTexts(own, v))
		out.tail.put(standsInTexts(tail, v))
	}
	return out, nil
}

// plainTexts returns what messages say, as [eachText] reads it.
func plainTexts(msgs []*chat.Message) []string {
	var out []string
	for _, m := range msgs {
		eachText(m, func(text string) { out = append(out, text) })
	}
	return out
}

// nextArgs returns the values that the agent writes into its next 30 calls, each
// once, which stood before the cut, in no message since, and not in the system
// prompt.
func nextArgs(s *Session, at int) []string {
	h := s.History
	before := plainTexts(messagesOf(h.Head(at)))
	var since, out []string
	for i := range s.System {
		since = append(since, s.System[i].Text)
	}
	calls := 0
	for i := at; i < h.Len() && calls < nextCalls; i++ {
		for k := range h.At(i).Parts {
			p := &h.At(i).Parts[k]
			if p.Kind != chat.ToolCall || calls == nextCalls {
				continue
			}
			calls++
			for v := range strings.SplitSeq(flattenJSON(p.Args, false), "\n") {
				v = strings.TrimSpace(v)
				if n := utf8.RuneCountInString(v); n < shortestArg || n > longestArg {
					continue
				}
				if standsInTexts(before, v) && !standsInTexts(since, v) {
					out = append(out, v)
				}
			}
		}
		since = append(since, plainTexts([]*chat.Message{h.At(i)})...)
	}
	return out
}

// standsInTexts reports whether a value stands in one of the texts between marks or
// blanks.
func standsInTexts(texts []string, v string) bool {
	for _, t := range texts {
		for from := 0; ; {
			i := strings.Index(t[from:], v)
			if i < 0 {
				break
			}
			i += from
			from = i + len(v)
			if (i == 0 || !partOfWord(t[i-1])) && (from == len(t) || !partOfWord(t[from])) {
				return true
			}
		}
	}
	return false
}

func partOfWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
