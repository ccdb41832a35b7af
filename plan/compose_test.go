package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// list writes edits in one line.
func list(edits []plan.Edit) string {
	var out []string
	for _, e := range edits {
		s := fmt.Sprintf("%s %d-%d", e.Kind, e.From, e.To)
		if e.Part >= 0 {
			s = fmt.Sprintf("%s %d.%d", e.Kind, e.From, e.Part)
		}
		if len(e.Keep) > 0 {
			s += fmt.Sprint(" keep ", e.Keep)
		}
		out = append(out, s+" "+e.Text)
	}
	return strings.Join(out, ", ")
}

func stateAt(at int, text string) plan.Edit {
	return plan.Edit{Kind: plan.State, From: at, To: at, Part: -1, Text: text}
}

func TestCompose(t *testing.T) {
	const talk = "u tc(A,B) t(A) t(B) a u tc(C) t(C) a u"
	for _, c := range []struct {
		name      string
		base, add []plan.Edit
		release   []plan.Ref
		want      string
		replaced  string
	}{
		{"nothing", nil, nil, nil, "", ""},
		{"in order of place", nil, []plan.Edit{mask(7, 0, "c"), mask(2, 0, "a"), drop(5, 5, "m")}, nil, "mask 2.0 a, drop 5-5 m, mask 7.0 c", ""},
		{"carried", []plan.Edit{mask(2, 0, "a")}, []plan.Edit{mask(3, 0, "b")}, nil, "mask 2.0 a, mask 3.0 b", ""},
		{"same place", []plan.Edit{mask(2, 0, "skeleton")}, []plan.Edit{mask(2, 0, "gone")}, nil, "mask 2.0 gone", "mask 2.0 skeleton"},
		{"another part", []plan.Edit{mask(1, 0, "{}")}, []plan.Edit{mask(1, 1, "{}")}, nil, "mask 1.0 {}, mask 1.1 {}", ""},
		{"mask in a fold", []plan.Edit{mask(2, 0, "a"), mask(7, 0, "c")}, []plan.Edit{fold(0, 5, "f")}, nil, "fold 0-5 f, mask 7.0 c", "mask 2.0 a"},
		{"fold in a fold", []plan.Edit{fold(0, 5, "f")}, []plan.Edit{fold(0, 9, "g")}, nil, "fold 0-9 g", "fold 0-5 f"},
		{"fold beside a fold", []plan.Edit{fold(0, 5, "f")}, []plan.Edit{fold(5, 9, "g")}, nil, "fold 0-5 f, fold 5-9 g", ""},
		{"fold becomes drop", []plan.Edit{fold(0, 5, "f")}, []plan.Edit{drop(0, 5, "d")}, nil, "drop 0-5 d", "fold 0-5 f"},
		{"kept with its masks", []plan.Edit{mask(2, 0, "a"), mask(4, 0, "x")}, []plan.Edit{fold(0, 9, "f", 4)}, nil, "fold 0-9 keep [4] f, mask 4.0 x", "mask 2.0 a"},
		{"mask on what a fold keeps", []plan.Edit{fold(0, 9, "f", 4)}, []plan.Edit{mask(4, 0, "x")}, nil, "fold 0-9 keep [4] f, mask 4.0 x", ""},
		{"stronger mask on what a fold keeps", []plan.Edit{fold(0, 9, "f", 4), mask(4, 0, "x")}, []plan.Edit{mask(4, 0, "y")}, nil, "fold 0-9 keep [4] f, mask 4.0 y", "mask 4.0 x"},
		{"no longer kept", []plan.Edit{fold(0, 9, "f", 4), mask(4, 0, "x")}, []plan.Edit{fold(0, 9, "g")}, nil, "fold 0-9 g", "fold 0-9 keep [4] f, mask 4.0 x"},
		{"kept at the start", nil, []plan.Edit{fold(0, 9, "f", 0, 1, 2, 3, 5)}, nil, "fold 4-9 keep [5] f", ""},
		{"kept exchange", nil, []plan.Edit{fold(0, 9, "f", 1, 2, 3, 6, 7)}, nil, "fold 0-9 keep [1 2 3 6 7] f", ""},
		{"marker for marker", []plan.Edit{drop(5, 5, "m")}, []plan.Edit{drop(5, 5, "n")}, nil, "drop 5-5 n", "drop 5-5 m"},
		{"marker before a fold", []plan.Edit{fold(5, 9, "f")}, []plan.Edit{drop(5, 5, "m")}, nil, "drop 5-5 m, fold 5-9 f", ""},
		{"marker inside a fold", []plan.Edit{drop(5, 5, "m")}, []plan.Edit{fold(4, 9, "f")}, nil, "fold 4-9 f", "drop 5-5 m"},
		{"marker after a fold", []plan.Edit{drop(5, 5, "m")}, []plan.Edit{fold(0, 5, "f")}, nil, "fold 0-5 f, drop 5-5 m", ""},
		{"released", []plan.Edit{mask(2, 0, "a"), mask(3, 0, "b")}, nil, []plan.Ref{{From: 2, Part: 0}}, "mask 3.0 b", ""},
		{"released fold", []plan.Edit{fold(0, 5, "f"), mask(7, 0, "c")}, []plan.Edit{fold(0, 1, "g")}, []plan.Ref{{From: 0, Part: -1}}, "fold 0-1 g, mask 7.0 c", ""},
		{"state of a released fold", []plan.Edit{fold(0, 5, "f"), stateAt(5, "s"), mask(7, 0, "c")}, nil, []plan.Ref{{From: 0, Part: -1}}, "mask 7.0 c", ""},
		{"state of a fold that is left", []plan.Edit{fold(0, 1, "f"), fold(1, 5, "g"), stateAt(5, "s")}, nil, []plan.Ref{{From: 0, Part: -1}}, "fold 1-5 g, state 5-5 s", ""},
		{"state of a new fold", []plan.Edit{fold(0, 5, "f"), stateAt(5, "s")}, []plan.Edit{fold(0, 1, "g")}, []plan.Ref{{From: 0, Part: -1}}, "fold 0-1 g, state 5-5 s", ""},
		{"released, but never there", []plan.Edit{mask(2, 0, "a")}, nil, []plan.Ref{{From: 3, Part: 0}}, "mask 2.0 a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hist(talk)
			var base *plan.Plan
			if c.base != nil {
				base = compose(t, nil, h, free, c.base...)
			}
			before := list(c.add)
			p, err := plan.Compose(base, h, free, c.release, c.add...)
			if err != nil {
				t.Fatal(err)
			}
			if got := list(p.Edits); got != c.want {
				t.Errorf("edits %q, want %q", got, c.want)
			}
			if got := list(p.Replaced); got != c.replaced {
				t.Errorf("replaced %q, want %q", got, c.replaced)
			}
			for _, e := range p.Edits {
				if want := map[bool]plan.ID{true: base.ID(), false: p.ID()}[base != nil && slices.ContainsFunc(base.Edits, func(o plan.Edit) bool { return o.Text == e.Text && o.Ref() == e.Ref() })]; e.Made != want {
					t.Errorf("%s was made by %q, want %q", e.Text, e.Made, want)
				}
			}
			for _, e := range p.Replaced {
				if e.By != p.ID() || e.Made != base.ID() {
					t.Errorf("%s was replaced by %q, want %q", e.Text, e.By, p.ID())
				}
			}
			if p.Parent != base.ID() || p.Len != h.Len() || !p.Covers(h) || list(c.add) != before {
				t.Errorf("parent %q, length %d", p.Parent, p.Len)
			}
		})
	}
}

func TestComposeRefuses(t *testing.T) {
	h := chat.NewHistory(append(hist("u tc(A,B) t(A) t(B) a u tc(C) t(C) a u").Messages(),
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{
			{Kind: chat.Thinking, Text: "hm"},
			{Kind: chat.Text, Text: "signed", Signature: "s"},
			{Kind: chat.Opaque, Data: "{}"},
			{Kind: chat.ToolCall, ID: "S", Name: "x", Args: "{}", Signature: "s"},
		}}, chat.Message{Role: chat.User})...)
	for _, c := range []struct {
		name      string
		base, add []plan.Edit
		want      string
	}{
		{"fold starts inside an exchange", nil, []plan.Edit{fold(2, 5, "f")}, "the run 2-5 splits an exchange"},
		{"fold ends inside an exchange", nil, []plan.Edit{fold(0, 3, "f")}, "the run 0-3 splits an exchange"},
		{"marker inside an exchange", nil, []plan.Edit{drop(2, 2, "m")}, "splits an exchange"},
		{"marker at the end", nil, []plan.Edit{drop(12, 12, "m")}, "a marker must come before a message"},
		{"keeps a call only", nil, []plan.Edit{fold(0, 9, "f", 6)}, "keeps only part of an exchange"},
		{"keeps a result only", nil, []plan.Edit{fold(0, 9, "f", 7)}, "keeps only part of an exchange"},
		{"keeps some results", nil, []plan.Edit{fold(0, 9, "f", 1, 2)}, "keeps only part of an exchange"},
		{"keeps outside", nil, []plan.Edit{fold(0, 5, "f", 8)}, "keeps message 8"},
		{"keeps out of order", nil, []plan.Edit{fold(0, 9, "f", 5, 4)}, "keeps message 4"},
		{"keeps twice", nil, []plan.Edit{fold(0, 9, "f", 4, 4)}, "keeps message 4"},
		{"fold of nothing", nil, []plan.Edit{fold(5, 5, "f")}, "a fold of no messages"},
		{"fold that keeps all", nil, []plan.Edit{fold(4, 6, "f", 4, 5)}, "a fold of no messages"},
		{"fold without text", nil, []plan.Edit{fold(0, 5, "")}, "needs a text"},
		{"beyond the end", nil, []plan.Edit{mask(12, 0, "x")}, "messages 12 to 13 of 12"},
		{"before the start", nil, []plan.Edit{mask(-1, 0, "x")}, "messages -1 to 0"},
		{"no such part", nil, []plan.Edit{mask(0, 1, "x")}, "names part 1 of message 0, which has 1"},
		{"no part", nil, []plan.Edit{mask(0, -1, "x")}, "needs one message and a part"},
		{"mask over two messages", nil, []plan.Edit{{Kind: plan.Mask, From: 0, To: 2, Text: "x"}}, "needs one message and a part"},
		{"unknown kind", nil, []plan.Edit{{Kind: "squash", From: 0, To: 1, Text: "x"}}, `unknown kind "squash"`},
		{"same place twice", nil, []plan.Edit{mask(2, 0, "x"), mask(2, 0, "y")}, "out of order or twice at message 2"},
		{"overlapping folds", nil, []plan.Edit{fold(0, 5, "f"), fold(4, 9, "g")}, "overlaps the run before it"},
		{"reaching over an old fold's border", []plan.Edit{fold(0, 5, "f")}, []plan.Edit{fold(4, 9, "g")}, "overlaps the run before it"},
		{"inside an old fold", []plan.Edit{fold(0, 9, "f")}, []plan.Edit{fold(4, 5, "g")}, "overlaps the run before it"},
		{"mask inside an old fold", []plan.Edit{fold(0, 9, "f")}, []plan.Edit{mask(4, 0, "x")}, "changes a message that edit 0 takes away"},
		{"mask inside a new fold", nil, []plan.Edit{fold(0, 9, "f", 4), mask(5, 0, "x")}, "changes a message that edit 0 takes away"},
		{"thinking altered", nil, []plan.Edit{mask(10, 0, "x")}, "can be removed but not altered"},
		{"signed text altered", nil, []plan.Edit{mask(10, 1, "x")}, "can be removed but not altered"},
		{"opaque altered", nil, []plan.Edit{mask(10, 2, "x")}, "can be removed but not altered"},
		{"signed call altered", nil, []plan.Edit{mask(10, 3, "{}")}, "can be removed but not altered"},
		{"call removed", nil, []plan.Edit{mask(1, 0, "")}, "only become a JSON object"},
		{"arguments are no object", nil, []plan.Edit{mask(1, 0, "[1]")}, "only become a JSON object"},
		{"arguments are no JSON", nil, []plan.Edit{mask(1, 0, "{a")}, "only become a JSON object"},
		{"answer of another call", nil, []plan.Edit{answer(1, 0, "B", "x")}, `part 0 is not the call "B"`},
		{"answer of a text", nil, []plan.Edit{answer(0, 0, "A", "x")}, `part 0 is not the call "A"`},
		{"orphan that is a text", nil, []plan.Edit{answer(0, 0, "", "x")}, "neither a call nor a result"},
		{"answer where nothing is", nil, []plan.Edit{answer(11, 0, "", "x")}, "names part 0 of message 11, which has 0"},
		{"mask with a call id", nil, []plan.Edit{{Kind: plan.Mask, From: 2, To: 3, Text: "x", CallID: "A"}}, "a mask answers no call"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var base *plan.Plan
			if c.base != nil {
				base = compose(t, nil, h, free, c.base...)
			}
			p, err := plan.Compose(base, h, free, nil, c.add...)
			if err == nil {
				t.Fatalf("it was accepted: %s", list(p.Edits))
			}
			if !errors.Is(err, plan.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
}

func TestComposeOfAnotherHistory(t *testing.T) {
	h := hist("u a u a")
	p := compose(t, nil, h, free, mask(0, 0, "x"))
	for _, other := range []chat.History{hist("u a"), hist("u a a u"), {}} {
		if _, err := plan.Compose(p, other, free, nil); !errors.Is(err, plan.ErrMismatch) {
			t.Errorf("composed on %s: %v", show(other), err)
		}
		if _, err := plan.Apply(other, p); !errors.Is(err, plan.ErrMismatch) {
			t.Errorf("applied to %s: %v", show(other), err)
		}
		if _, err := plan.Undo(p, p.ID(), other, free); !errors.Is(err, plan.ErrMismatch) {
			t.Errorf("taken back on %s: %v", show(other), err)
		}
	}
}

// A rewrite takes the signed thinking after its first change with it; what is
// only added does not.
func TestStrip(t *testing.T) {
	bound := chat.Rules{BoundThinking: true}
	const talk = "u th(A) t(A) th(B) t(B) a u th(C) t(C)"
	for _, c := range []struct {
		name    string
		rules   chat.Rules
		base    []plan.Edit
		release []plan.Ref
		add     []plan.Edit
		want    []plan.Span
	}{
		{"no change", bound, nil, nil, nil, nil},
		{"mask", bound, nil, nil, []plan.Edit{mask(2, 0, "x")}, []plan.Span{{From: 2, To: 9}}},
		{"fold", bound, nil, nil, []plan.Edit{fold(0, 6, "f")}, []plan.Span{{From: 0, To: 9}}},
		{"not bound", free, nil, nil, []plan.Edit{mask(2, 0, "x")}, nil},
		{"not yet seen", bound, nil, nil, []plan.Edit{mask(8, 0, "x")}, nil},
		{"an earlier change widens", bound, []plan.Edit{mask(4, 0, "x")}, nil, []plan.Edit{mask(2, 0, "x")}, []plan.Span{{From: 2, To: 9}}},
		{"a later change does not narrow", bound, []plan.Edit{mask(2, 0, "x")}, nil, []plan.Edit{mask(4, 0, "x")}, []plan.Span{{From: 2, To: 9}}},
		{"replaced", bound, []plan.Edit{mask(4, 0, "x")}, nil, []plan.Edit{mask(4, 0, "y")}, []plan.Span{{From: 4, To: 9}}},
		{"released", bound, []plan.Edit{mask(8, 0, "x")}, []plan.Ref{{From: 8, Part: 0}}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hist(talk)
			p := compose(t, nil, h, c.rules, c.base...)
			p, err := plan.Compose(p, h, c.rules, c.release, c.add...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Strip, c.want) {
				t.Errorf("stripped %v, want %v", p.Strip, c.want)
			}
		})
	}

	t.Run("released after it was seen", func(t *testing.T) {
		h := hist("u th(A) t(A)")
		p := compose(t, nil, h, bound, mask(2, 0, "x"))
		if p.Strip != nil {
			t.Fatalf("stripped %v", p.Strip)
		}
		h = hist(talk)
		p, err := plan.Compose(p, h, bound, []plan.Ref{{From: 2, Part: 0}})
		if err != nil || !slices.Equal(p.Strip, []plan.Span{{From: 2, To: 9}}) {
			t.Errorf("stripped %v: %v", p.Strip, err)
		}
	})
	t.Run("an answer leaves its call's thinking", func(t *testing.T) {
		h := hist("u th(A) u th(B)")
		p := compose(t, nil, h, bound, answer(1, 0+1, "A", "none"))
		if want := []plan.Span{{From: 2, To: 4}}; !slices.Equal(p.Strip, want) {
			t.Errorf("stripped %v, want %v", p.Strip, want)
		}
		if got, want := show(apply(t, h, p)), `u[u 0] a[thinking th 1 signed; tool_A:A{"n":1}] t[A=none] u[u 2] a[tool_B:B{"n":1}]`; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	})
	t.Run("two rewrites apart", func(t *testing.T) {
		h := hist("u th(A) t(A) a u a")
		p := compose(t, nil, h, bound, fold(0, 4, "f"))
		h = h.Append(hist("u a u th(A) t(A) a u").Messages()...)
		p = compose(t, p, h, bound, mask(8, 0, "x"))
		if want := []plan.Span{{From: 0, To: 6}, {From: 8, To: 13}}; !slices.Equal(p.Strip, want) {
			t.Errorf("stripped %v, want %v", p.Strip, want)
		}
	})
}

func TestSeen(t *testing.T) {
	for in, want := range map[string]int{"": 0, "u": 0, "u a": 2, "u a u": 2, "u tc t": 2, "u tc t a u u": 4} {
		if got := plan.Seen(hist(in)); got != want {
			t.Errorf("%q: seen %d, want %d", in, got, want)
		}
	}
}

func TestTextIsMadeValid(t *testing.T) {
	h := chat.NewHistory(chat.TextMessage(chat.User, "go"), chat.CallMessage("", chat.Call("c\xff", "x", "{}")), chat.TextMessage(chat.User, "on"))
	p := compose(t, nil, h, free, mask(0, 0, "cut\xc3"), answer(1, 0, "c\xff", "none"))
	if got := p.Edits[0].Text; got != "cut\uFFFD" {
		t.Errorf("text %q", got)
	}
	if got := apply(t, h, p).At(2).Parts[0].ID; got != "c\xff" {
		t.Errorf("the answer has the id %q, the call %q", got, "c\xff")
	}
}

func TestSavedAndString(t *testing.T) {
	h := hist("u a u a")
	a, b := mask(0, 0, "x"), fold(1, 4, "f")
	a.Before, a.After = chat.Size{Tokens: 100, Bytes: 400}, chat.Size{Tokens: 5, Bytes: 20}
	b.Before, b.After = chat.Size{Tokens: 300, Bytes: 900, Images: 2}, chat.Size{Tokens: 50, Bytes: 100}
	p := compose(t, nil, h, free, a, b)
	if got, want := p.Saved(), (chat.Size{Tokens: 345, Bytes: 1180, Images: 2}); got != want {
		t.Errorf("saved %+v, want %+v", got, want)
	}
	if got, want := p.String(), fmt.Sprintf("plan %s over 4 messages: 1 mask, 1 fold", p.ID()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var none *plan.Plan
	if none.Saved() != (chat.Size{}) || none.ID() != "" || none.String() != "no plan" || none.Covers(h) {
		t.Error("no plan does something")
	}
	if got := compose(t, nil, h, free).String(); !strings.HasSuffix(got, "no edits") {
		t.Errorf("%q", got)
	}
}

// The id follows what a plan does, and nothing else.
func TestID(t *testing.T) {
	h := hist("u tc t a u a")
	id := func(h chat.History, r chat.Rules, add ...plan.Edit) plan.ID {
		return compose(t, nil, h, r, add...).ID()
	}
	same := mask(2, 0, "x")
	want := id(h, free, same)
	same.Stage, same.Why, same.Handle, same.Prose = "other", "because", "w123", "p"
	same.Before, same.After = chat.Size{Tokens: 9}, chat.Size{Tokens: 1}
	if got := id(h, free, same); got != want {
		t.Error("the id depends on the reason")
	}
	if len(want) != 16 {
		t.Errorf("the id is %q", want)
	}
	seen := map[plan.ID]string{want: "the first"}
	for name, other := range map[string]plan.ID{
		"another text":        id(h, free, mask(2, 0, "y")),
		"another place":       id(h, free, mask(3, 0, "x")),
		"two edits":           id(h, free, mask(2, 0, "x"), mask(3, 0, "x")),
		"a longer history":    id(h.Append(hist("u").Messages()...), free, mask(2, 0, "x")),
		"no edits":            id(h, free),
		"other joins":         id(h, chat.Rules{Alternate: true}, mask(2, 0, "x")),
		"answers by the user": id(h, chat.Rules{ResultsJoined: true}, mask(2, 0, "x")),
		"kept":                id(h, free, fold(0, 4, "x", 3)),
		"not kept":            id(h, free, fold(0, 4, "x")),
		"dropped":             id(h, free, drop(0, 4, "x")),
	} {
		if first, ok := seen[other]; ok {
			t.Errorf("%s has the id of %s", name, first)
		}
		seen[other] = name
	}
}
