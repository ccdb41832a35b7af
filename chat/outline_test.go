package chat_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
)

func conv(notation string) chat.Messages { return randhist.Parse(notation) }

// Turn boundaries, with the inputs and expectations of PicoClaw's tests.
func TestBoundaries(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []int
	}{
		{"", nil},
		{"u a u a", []int{0, 2}},
		{"u tc t a u a", []int{0, 4}},
		{"u tc t tc t a", []int{0}},
		{"a a", nil},
		{"tc t a u a", []int{3}},
		// Ours: neither a message with results nor a synthetic one starts a turn.
		{"u tc r(A)+ a u a", []int{0, 4}},
		{"u a y a u", []int{0, 4}},
	} {
		if got := chat.Boundaries(conv(c.in)); !slices.Equal(got, c.want) {
			t.Errorf("%q: boundaries %v, want %v", c.in, got, c.want)
		}
	}
}

func TestOutline(t *testing.T) {
	for _, c := range []struct {
		name, in, turns, exchanges string
	}{
		{"nothing", "", "", ""},
		{"two turns", "u a u a", "0-2 2-4", ""},
		{"headless", "a u a", "0-1! 1-3", ""},
		{"one call", "u tc t a", "0-4", "1-3/1"},
		{"parallel", "u tc(A,B) t(B) t(A) a", "0-5", "1-4/2"},
		{"parallel in one message", "u tc(A,B) r(A,B)+ a", "0-4", "1-3/2"},
		{"split results", "u tc(A,B) r(A) r(B) a", "0-5", "1-4/2"},
		{"two exchanges", "u tc(A) t(A) tc(B) t(B)", "0-5", "1-3/1 3-5/1"},
		{"same id in two turns", "u tc t a u tc t a", "0-4 4-8", "1-3/1 5-7/1"},
		{"same id in a row", "u tc t tc t a", "0-6", "1-3/1 3-5/1"},
		{"unanswered", "u tc(A,B) t(A) u", "0-3 3-4", "1-3/2 open B"},
		{"unanswered at the end", "u tc(A,B)", "0-2", "1-2/2 open A B"},
		{"call after call", "u tc(A) tc(B) t(B)", "0-4", "1-2/1 open A 2-4/1"},
		{"orphan first", "t(A) u", "0-1! 1-2", ""},
		{"orphan later", "u a t(A)", "0-3", ""},
		{"orphan ends the exchange", "u tc(A) t(X) t(A)", "0-4", "1-2/1 open A"},
		{"orphan beside a result", "u tc(A) r(A,X) a", "0-4", "1-3/1"},
		{"twice answered", "u tc(A) t(A) t(A) a", "0-5", "1-4/1"},
		{"system between", "u tc(A) s t(A)", "0-4", "1-2/1 open A"},
		{"one id for two calls", "u tc(A,A) t(A) t(A)", "0-4", "1-4/2"},
		{"one id for two calls, one result", "u tc(A,A) t(A) u", "0-3 3-4", "1-3/2 open A"},
		{"synthetic", "u tc t y a", "0-5", "1-3/1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := chat.NewOutline(conv(c.in))
			var turns, exchanges []string
			for _, x := range o.Turns {
				turns = append(turns, fmt.Sprintf("%d-%d%s", x.From, x.To, map[bool]string{true: "!"}[x.Headless]))
			}
			for _, x := range o.Exchanges {
				s := fmt.Sprintf("%d-%d/%d", x.From, x.To, x.Calls)
				if len(x.Open) > 0 {
					s += " open " + strings.Join(x.Open, " ")
				}
				exchanges = append(exchanges, s)
			}
			if got := strings.Join(turns, " "); got != c.turns {
				t.Errorf("turns %q, want %q", got, c.turns)
			}
			if got := strings.Join(exchanges, " "); got != c.exchanges {
				t.Errorf("exchanges %q, want %q", got, c.exchanges)
			}
		})
	}
}

func TestCuts(t *testing.T) {
	o := chat.NewOutline(conv("u tc(A,B) t(A) t(B) tc(C) t(C) a"))
	can := []bool{true, true, false, false, true, false, true, true, true}
	before := []int{0, 1, 1, 1, 4, 4, 6, 7, 7}
	for i := range can {
		if o.CanCut(i) != can[i] || o.CutBefore(i) != before[i] {
			t.Errorf("at %d: can cut %v, cut before %d; want %v, %d", i, o.CanCut(i), o.CutBefore(i), can[i], before[i])
		}
	}
	if !o.CanCut(-3) || o.CutBefore(-3) != 0 {
		t.Error("before the start there is always a cut, at the start")
	}
}

// Every message belongs to one turn; exchanges hold what TurnOf and ExchangeOf
// say; the calls that an outline finds open are those that the rules complain about.
func TestOutlineProperties(t *testing.T) {
	for seed := range uint64(2000) {
		h := randhist.New(rand.New(rand.NewPCG(seed+randhist.FirstSeed, 1)), randhist.Options{})
		o := chat.NewOutline(h)
		for i := range h.Len() {
			if x := o.Turns[o.TurnOf(i)]; i < x.From || i >= x.To {
				t.Fatalf("seed %d: message %d is not in turn %d-%d", seed, i, x.From, x.To)
			}
			if k := o.ExchangeOf(i); k >= 0 {
				if x := o.Exchanges[k]; i < x.From || i >= x.To || !h.At(x.From).Has(chat.ToolCall) {
					t.Fatalf("seed %d: message %d is not in exchange %d-%d", seed, i, x.From, x.To)
				}
			}
		}
		open := map[string]int{}
		for _, x := range o.Exchanges {
			for _, id := range x.Open {
				open[fmt.Sprint(x.From, " ", id)]++
			}
		}
		for _, p := range chat.AllDialects().Check(h) {
			if p.Rule == chat.RuleUnanswered {
				open[fmt.Sprint(p.At, " ", p.Call)]--
			}
		}
		for call, n := range open {
			if n != 0 {
				t.Fatalf("seed %d: outline and rules disagree by %d on call %q", seed, n, call)
			}
		}
	}
}

// A history's outline is that of its messages, whatever was asked for before:
// histories that share memory are told apart.
func TestOutlineOfHistoriesThatShareMessages(t *testing.T) {
	step := func(id string) []chat.Message {
		return []chat.Message{chat.CallMessage("", chat.Call(id, "ls", "{}")), chat.ResultMessage(id, "ok")}
	}
	h := chat.NewHistory(chat.TextMessage(chat.User, "go"))
	all := []chat.History{h, {}}
	for _, id := range []string{"a", "b", "c"} {
		h = h.Append(step(id)...)
		all = append(all, h, h.Head(2), h.Head(h.Len()-1), h.Head(2).Append(chat.TextMessage(chat.User, id)))
	}
	for range 2 {
		for _, h := range all {
			got, want := chat.NewOutline(h), chat.NewOutline(chat.Messages(h.Messages()))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d messages: got %+v, want %+v", h.Len(), got, want)
			}
		}
	}
	if first := chat.NewOutline(h); first != chat.NewOutline(h) {
		t.Error("the outline of a history is made twice")
	}
}

func TestOpenLoop(t *testing.T) {
	user := chat.TextMessage(chat.User, "go")
	said := chat.TextMessage(chat.Assistant, "hm")
	system := chat.TextMessage(chat.System, "be brief")
	call, result := chat.CallMessage("", chat.Call("1", "x", "{}")), chat.ResultMessage("1", "out")
	joined := result
	joined.Role = chat.User
	joined.Parts = append(joined.Parts[:1:1], chat.Part{Kind: chat.Text, Text: "and this"})
	for _, c := range []struct {
		name string
		h    []chat.Message
		want int
	}{
		{"nothing", nil, -1},
		{"a request", []chat.Message{user}, -1},
		{"an answer", []chat.Message{user, said}, -1},
		{"a call that waits", []chat.Message{user, call}, -1},
		{"one exchange", []chat.Message{user, call, result}, 1},
		{"two exchanges", []chat.Message{user, call, result, call, result}, 1},
		{"text before the calls", []chat.Message{user, said, call, result}, 1},
		{"a later turn", []chat.Message{user, call, result, said, user, call, result}, 5},
		{"results with the user's words", []chat.Message{user, call, joined, call, result}, 1},
		{"a system message at the end", []chat.Message{user, call, result, system}, 1},
		{"no user at all", []chat.Message{call, result}, 0},
	} {
		if got := chat.OpenLoop(chat.NewHistory(c.h...)); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
