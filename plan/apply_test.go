package plan_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

func TestApplyNothing(t *testing.T) {
	h := hist("u tc t a")
	v := apply(t, h, nil)
	if v.Len() != 4 || v.At(2) != h.At(2) || !v.Origin(2).Untouched() || v.Raw(2) != 2 || v.Sealed() != 0 || v.Plan() != nil || v.Key() != "" {
		t.Errorf("without a plan the view is %s", show(v))
	}
	v = apply(t, h, compose(t, nil, h, free))
	for i := range h.Len() {
		if v.At(i) != h.At(i) || v.Raw(i) != i {
			t.Errorf("message %d is a copy", i)
		}
	}
	if v.Sealed() != 4 || v.History().Len() != 4 {
		t.Errorf("%d messages are sealed", v.Sealed())
	}
}

// Every kind of edit on every kind of part.
func TestApplyToParts(t *testing.T) {
	image := chat.Part{Kind: chat.Image, Media: "image/png", Data: "aGk="}
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "go"),
		chat.Message{Role: chat.Assistant, Wire: 99, Usage: &chat.Usage{Input: 1}, Parts: []chat.Part{
			{Kind: chat.Thinking, Text: "plain"},
			{Kind: chat.Thinking, Text: "bound", Signature: "s"},
			{Kind: chat.Text, Text: "reading"},
			{Kind: chat.Opaque, Data: "{}"},
			chat.Call("A", "read", `{"path":"a.go","offset":3}`),
		}},
		chat.Message{Role: chat.User, Parts: []chat.Part{
			{Kind: chat.ToolResult, ID: "A", Name: "read", Text: "package a", Failed: true, Content: []chat.Part{image}},
			{Kind: chat.Text, Text: "and this"},
			image,
			{Kind: chat.Document, Name: "a.pdf", Data: "aGk=", Text: "pdf"},
		}},
		chat.Message{Role: chat.Assistant},
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Thinking, Text: "only", Signature: "s"}}},
	)
	before := show(h)
	for _, c := range []struct {
		name string
		edit plan.Edit
		at   int
		want string
	}{
		{"text", mask(0, 0, "shorter"), 0, "u[shorter]"},
		{"text removed, nothing left", mask(0, 0, ""), 0, "u[(no content)]"},
		{"thinking removed", mask(1, 0, ""), 1, `a[thinking bound signed; reading; opaque {}; read:A{"path":"a.go","offset":3}]`},
		{"signed thinking removed", mask(1, 1, ""), 1, `a[thinking plain; reading; opaque {}; read:A{"path":"a.go","offset":3}]`},
		{"text removed beside others", mask(1, 2, ""), 1, `a[thinking plain; thinking bound signed; opaque {}; read:A{"path":"a.go","offset":3}]`},
		{"opaque removed", mask(1, 3, ""), 1, `a[thinking plain; thinking bound signed; reading; read:A{"path":"a.go","offset":3}]`},
		{"arguments", mask(1, 4, `{"path":"a.go"}`), 1, `a[thinking plain; thinking bound signed; reading; opaque {}; read:A{"path":"a.go"}]`},
		{"result", mask(2, 0, "skeleton"), 2, "u[A=skeleton failed; and this; image aGk=; document pdfaGk=]"},
		{"result without a text", mask(2, 0, ""), 2, "u[A= failed; and this; image aGk=; document pdfaGk=]"},
		{"image", mask(2, 2, "[image]"), 2, "u[A=package a with image aGk= failed; and this; [image]; document pdfaGk=]"},
		{"image removed", mask(2, 2, ""), 2, "u[A=package a with image aGk= failed; and this; document pdfaGk=]"},
		{"document", mask(2, 3, "[a.pdf]"), 2, "u[A=package a with image aGk= failed; and this; image aGk=; [a.pdf]]"},
		{"a message without parts", mask(3, 0, "[empty]"), 3, "a[[empty]]"},
		{"thinking removed, nothing left", mask(4, 0, ""), 4, "a[(no content)]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := apply(t, h, compose(t, nil, h, free, c.edit))
			if got := show(chat.Messages{*v.At(c.at)}); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if m := v.At(c.at); m.Wire != 0 || m.Usage != nil {
				t.Error("a changed message still claims the size and usage of the original")
			}
			if o := v.Origin(c.at); o.Message != c.at || len(o.Edits) != 1 || o.Untouched() || v.Raw(c.at) != -1 {
				t.Errorf("origin %+v", o)
			}
			if v.Len() != h.Len() || show(h) != before {
				t.Error("something else changed")
			}
		})
	}
}

func TestApply(t *testing.T) {
	calls := chat.Rules{CallAfterInput: true}
	alternate := chat.Rules{Alternate: true}
	together := chat.Rules{Alternate: true, ResultsJoined: true}
	for _, c := range []struct {
		name  string
		rules chat.Rules
		in    string
		edits []plan.Edit
		want  string
	}{
		{"fold", free, "u a u a u", []plan.Edit{fold(0, 4, "sum")}, "y[sum] u[u 4]"},
		{"drop", free, "u a u a u", []plan.Edit{drop(2, 4, "gone")}, "u[u 0] a[a 1] y[gone] u[u 4]"},
		{"marker", free, "a u", []plan.Edit{drop(0, 0, "start")}, "y[start] a[a 0] u[u 1]"},
		{"marker and fold", free, "u a u", []plan.Edit{drop(0, 0, "start"), fold(0, 2, "sum")}, "y[start] y[sum] u[u 2]"},
		{"fold of all", free, "u a", []plan.Edit{fold(0, 2, "sum")}, "y[sum]"},
		{"kept after the summary", free, "u s u a u", []plan.Edit{fold(0, 4, "sum", 1)}, "y[sum] s[s 1] u[u 4]"},
		{"kept and masked", free, "u a u a u", []plan.Edit{fold(0, 4, "sum", 2), mask(2, 0, "short")}, "y[sum] u[short] u[u 4]"},
		{"kept at the start stands before", free, "u a u a u", []plan.Edit{fold(0, 4, "sum", 0, 3)}, "u[u 0] y[sum] a[a 3] u[u 4]"},
		{"kept exchange", free, "u tc t a u", []plan.Edit{fold(0, 4, "sum", 1, 2)}, `y[sum] a[tool_A:A{"n":1}] t[A=t 2 of A] u[u 4]`},

		{"answer, role tool", free, "u tc(A,B) t(A) u", []plan.Edit{answer(1, 1, "B", "none")}, `u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}] t[A=t 2 of A] t[B=none] u[u 3]`},
		{"answer, user's message", free, "u tc(A,B) r(A)+ u", []plan.Edit{answer(1, 1, "B", "none")}, `u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}] u[A=r 2 of A; B=none; words r 2] u[u 3]`},
		{"no results at all", free, "u tc(A,B) u", []plan.Edit{answer(1, 0, "A", "none"), answer(1, 1, "B", "none")}, `u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}] t[A=none] t[B=none] u[u 2]`},
		{"no results at all, in the style of others", free, "u tc(C) r(C) tc(A,B) u", []plan.Edit{answer(3, 0, "A", "none"), answer(3, 1, "B", "none")}, `u[u 0] a[tool_C:C{"n":1}] u[C=r 2 of C] a[tool_A:A{"n":1}; tool_B:B{"n":1}] y[A=none; B=none] u[u 4]`},
		{"no results at all, in the dialect's style", together, "u tc(A,B) a", []plan.Edit{answer(1, 0, "A", "none"), answer(1, 1, "B", "none")}, `u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}] y[A=none; B=none] a[a 2]`},
		{"split results", free, "u tc(A,B,C) r(A) r(B) a", []plan.Edit{answer(1, 2, "C", "none")}, `u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}; tool_C:C{"n":1}] u[A=r 2 of A; C=none] u[B=r 3 of B] a[a 4]`},
		{"at the end", free, "u tc(A)", []plan.Edit{answer(1, 0, "A", "none")}, `u[u 0] a[tool_A:A{"n":1}] t[A=none]`},
		{"before a fold", free, "u tc(A) u a u", []plan.Edit{answer(1, 0, "A", "none"), fold(2, 4, "sum")}, `u[u 0] a[tool_A:A{"n":1}] t[A=none] y[sum] u[u 4]`},
		{"kept by a fold", free, "u tc(A) u a u", []plan.Edit{fold(0, 4, "sum", 1), answer(1, 0, "A", "none")}, `y[sum] a[tool_A:A{"n":1}] t[A=none] u[u 4]`},
		{"before a system message", free, "u tc(A) s t(A)", []plan.Edit{answer(1, 0, "A", "none"), answer(3, 0, "", "> late")}, `u[u 0] a[tool_A:A{"n":1}] t[A=none] s[s 2] y[> late]`},
		{"two calls in a row", free, "u tc(A) tc(B) t(B)", []plan.Edit{answer(1, 0, "A", "none")}, `u[u 0] a[tool_A:A{"n":1}] t[A=none] a[tool_B:B{"n":1}] t[B=t 3 of B]`},
		{"masked and answered", free, "u tc(A) u", []plan.Edit{mask(1, 0, "{}"), answer(1, 0, "A", "none")}, `u[u 0] a[tool_A:A{}] t[A=none] u[u 2]`},
		{"a call becomes text", free, "u tc(A) u", []plan.Edit{answer(1, 0, "", "(called A)")}, "u[u 0] a[(called A)] u[u 2]"},
		{"a call is removed", free, "u tc(A) u", []plan.Edit{answer(1, 0, "", "")}, "u[u 0] u[u 2]"},
		{"one of two calls is removed", free, "u tc(A,B) t(B)", []plan.Edit{answer(1, 0, "", "")}, `u[u 0] a[tool_B:B{"n":1}] t[B=t 2 of B]`},

		{"orphan quoted", free, "u t(A) a", []plan.Edit{answer(1, 0, "", "> was A")}, "u[u 0] y[> was A] a[a 2]"},
		{"orphan removed", free, "u t(A) a", []plan.Edit{answer(1, 0, "", "")}, "u[u 0] a[a 2]"},
		{"orphan in a user's message", free, "u r(A) a", []plan.Edit{answer(1, 0, "", "> was A")}, "u[u 0] y[> was A] a[a 2]"},
		{"orphan beside the user's words", free, "u r(A)+ a", []plan.Edit{answer(1, 0, "", "> was A")}, "u[u 0] u[words r 1; > was A] a[a 2]"},
		{"orphan before results that stay", free, "u tc(A) r(X,A) a", []plan.Edit{answer(2, 0, "", "> was X")}, `u[u 0] a[tool_A:A{"n":1}] u[A=r 2 of A; > was X] a[a 3]`},
		{"orphan removed beside others", free, "u tc(A) r(X,A) a", []plan.Edit{answer(2, 0, "", "")}, `u[u 0] a[tool_A:A{"n":1}] u[A=r 2 of A] a[a 3]`},
		{"orphan after an answered call", free, "u tc(A) t(X) u", []plan.Edit{answer(1, 0, "A", "none"), answer(2, 0, "", "> was X")}, `u[u 0] a[tool_A:A{"n":1}] t[A=none] y[> was X] u[u 3]`},
		{"orphan removed after an answered call", free, "u tc(A) t(X) u", []plan.Edit{answer(1, 0, "A", "none"), answer(2, 0, "", "")}, `u[u 0] a[tool_A:A{"n":1}] t[A=none] u[u 3]`},
		{"repeated result removed", free, "u tc(A) t(A) t(A) a", []plan.Edit{answer(3, 0, "", "")}, `u[u 0] a[tool_A:A{"n":1}] t[A=t 2 of A] a[a 4]`},

		{"neighbours stay apart", free, "u u a a tc t", nil, `u[u 0] u[u 1] a[a 2] a[a 3] a[tool_A:A{"n":1}] t[A=t 5 of A]`},
		{"calls join the texts before", calls, "u u a a tc t", nil, `u[u 0] u[u 1] a[a 2; a 3; tool_A:A{"n":1}] t[A=t 5 of A]`},
		{"calls join when what stood between goes", calls, "u a t(X) tc t", []plan.Edit{answer(2, 0, "", "")}, `u[u 0] a[a 1; tool_A:A{"n":1}] t[A=t 4 of A]`},
		{"calls after a system message", calls, "u a s tc t", nil, `u[u 0] a[a 1] s[s 2] y[Go on.] a[tool_A:A{"n":1}] t[A=t 4 of A]`},
		{"calls after a system message and a text", calls, "u a s a tc t", nil, `u[u 0] a[a 1] s[s 2] a[a 3] y[Go on.] a[tool_A:A{"n":1}] t[A=t 5 of A]`},
		{"all join", alternate, "u u a a u", nil, "u[u 0; u 1] a[a 2; a 3] u[u 4]"},
		{"synthetic and real", alternate, "y y u", nil, "u[y 0; y 1; u 2]"},
		{"only synthetic", alternate, "y y a", nil, "y[y 0; y 1] a[a 2]"},
		{"summary and request", alternate, "u a u", []plan.Edit{fold(0, 2, "sum")}, "u[sum; u 2]"},
		{"results in messages of their own", alternate, "u tc(A,B) t(A) t(B) a", nil, `u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}] t[A=t 2 of A] t[B=t 3 of B] a[a 4]`},
		{"user after a result", alternate, "u tc t u", nil, `u[u 0] a[tool_A:A{"n":1}] t[A=t 2 of A] a[(continued)] u[u 3]`},
		{"split results become one", together, "u tc(A,B) r(A) r(B) u", nil, `u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}] u[A=r 2 of A; B=r 3 of B; u 4]`},
		{"around a system message", alternate, "u s u a", nil, "u[u 0] s[s 1] a[(continued)] u[u 2] a[a 3]"},
		{"around a system message, the model", alternate, "u a s a", nil, "u[u 0] a[a 1] s[s 2] y[Go on.] a[a 3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hist(c.in)
			v := apply(t, h, compose(t, nil, h, c.rules, c.edits...))
			if got := show(v); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// What comes after a sealed plan never changes what the model saw.
func TestSeals(t *testing.T) {
	alternate := chat.Rules{Alternate: true}
	calls := chat.Rules{CallAfterInput: true}
	for _, c := range []struct {
		name     string
		rules    chat.Rules
		in, more string
		add      []plan.Edit
		sent     string // by the first plan, when the history has grown
		want     string // by a second one
	}{
		{
			"two users", alternate, "u a u", "u", nil,
			"u[u 0] a[a 1] u[u 2] a[(continued)] u[u 0]", "u[u 0] a[a 1] u[u 2] a[(continued)] u[u 0]",
		},
		{
			"two assistants", alternate, "u a", "a", nil,
			"u[u 0] a[a 1] y[Go on.] a[a 0]", "u[u 0] a[a 1] y[Go on.] a[a 0]",
		},
		{
			"a call after a text", calls, "u a", "tc t", nil,
			`u[u 0] a[a 1] y[Go on.] a[tool_A:A{"n":1}] t[A=t 1 of A]`, `u[u 0] a[a 1] y[Go on.] a[tool_A:A{"n":1}] t[A=t 1 of A]`,
		},
		{
			"a text after a text", calls, "u a", "a u", nil,
			"u[u 0] a[a 1] a[a 0] u[u 1]", "u[u 0] a[a 1] a[a 0] u[u 1]",
		},
		{
			"results that come late", alternate, "u tc(A,B) t(A)", "t(B) a", nil,
			`u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}] t[A=t 2 of A] t[B=t 0 of B] a[a 1]`, `u[u 0] a[tool_A:A{"n":1}; tool_B:B{"n":1}] t[A=t 2 of A] t[B=t 0 of B] a[a 1]`,
		},
		{
			"system message", alternate, "u a u s", "u", nil,
			"u[u 0] a[a 1] u[u 2] s[s 3] a[(continued)] u[u 0]", "u[u 0] a[a 1] u[u 2] s[s 3] a[(continued)] u[u 0]",
		},
		{
			"a marker after the seal", alternate, "u a u", "u",
			[]plan.Edit{drop(3, 3, "note")},
			"u[u 0] a[a 1] u[u 2] a[(continued)] u[u 0]", "u[u 0] a[a 1] u[u 2] a[(continued)] u[note; u 0]",
		},
		{
			"the first message after the seal goes", alternate, "u a u", "t(X) u",
			[]plan.Edit{answer(3, 0, "", "")},
			"u[u 0] a[a 1] u[u 2] t[X=t 0 of X] u[u 1]", "u[u 0] a[a 1] u[u 2] a[(continued)] u[u 1]",
		},
		{
			"a rewrite before", alternate, "u a u", "u a",
			[]plan.Edit{fold(0, 2, "sum")},
			"u[u 0] a[a 1] u[u 2] a[(continued)] u[u 0] a[a 1]", "u[sum; u 2; u 0] a[a 1]",
		},
		{
			"a rewrite at the seal", alternate, "u a u", "u a",
			[]plan.Edit{mask(3, 0, "short")},
			"u[u 0] a[a 1] u[u 2] a[(continued)] u[u 0] a[a 1]", "u[u 0] a[a 1] u[u 2] a[(continued)] u[short] a[a 1]",
		},
		{
			"a rewrite after", alternate, "u a u", "u a u",
			[]plan.Edit{mask(4, 0, "short")},
			"u[u 0] a[a 1] u[u 2] a[(continued)] u[u 0] a[a 1] u[u 2]", "u[u 0] a[a 1] u[u 2] a[(continued)] u[u 0] a[short] u[u 2]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hist(c.in)
			p := compose(t, nil, h, c.rules)
			h = h.Append(hist(c.more).Messages()...)
			v := apply(t, h, p)
			if got := show(v); got != c.sent {
				t.Errorf("sent %s\nwant %s", got, c.sent)
			}
			for i := v.Sealed(); i < v.Len(); i++ {
				if o := v.Origin(i); o.Message >= 0 && (o.Message < p.Len || v.At(i) != h.At(o.Message)) {
					t.Errorf("message %d has the origin %+v", i, o)
				}
			}
			if got := show(apply(t, h, compose(t, p, h, c.rules, c.add...))); got != c.want {
				t.Errorf("then %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestStripInViews(t *testing.T) {
	h := chat.NewHistory(append(hist("u th(A) t(A)").Messages(),
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Thinking, Text: "alone", Signature: "s"}}},
		chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Thinking, Text: "plain"}, {Kind: chat.Text, Text: "done"}}},
	)...)
	p := compose(t, nil, h, chat.Rules{BoundThinking: true}, mask(0, 0, "short"))
	h = h.Append(hist("u th(B) t(B)").Messages()...)
	v := apply(t, h, p)
	want := `u[short] a[tool_A:A{"n":1}] t[A=t 2 of A] a[(no content)] a[thinking plain; done] u[u 0] a[thinking th 1 signed; tool_B:B{"n":1}] t[B=t 2 of B]`
	if got := show(v); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if !v.Origin(1).Stripped || v.Origin(4).Stripped || v.Origin(6).Stripped {
		t.Error("origins do not say what was stripped")
	}
}

func TestJoinedOrigins(t *testing.T) {
	h := hist("u a u s u u")
	v := apply(t, h, compose(t, nil, h, chat.Rules{Alternate: true}, fold(0, 2, "sum"), mask(4, 0, "short")))
	if got, want := show(v), "u[sum; u 2] s[s 3] a[(continued)] u[short; u 5]"; got != want {
		t.Fatalf("%s\nwant %s", got, want)
	}
	if o := v.Origin(0); o.Message != -1 || o.Edit != 0 || len(o.Joined) != 1 || o.Joined[0] != 2 {
		t.Errorf("summary and request: %+v", o)
	}
	if o := v.Origin(2); o.Message != -1 || o.Edit != -1 {
		t.Errorf("separator: %+v", o)
	}
	if o := v.Origin(3); o.Message != 4 || len(o.Edits) != 1 || o.Edits[0] != 1 || o.Joined[0] != 5 {
		t.Errorf("masked and joined: %+v", o)
	}
}

// Ten thousand messages of one side become one without taking all day.
func TestJoinOfMany(t *testing.T) {
	h := hist(strings.Repeat("u ", 20_000) + "a")
	v := apply(t, h, compose(t, nil, h, chat.Rules{Alternate: true}))
	if v.Len() != 2 || len(v.At(0).Parts) != 20_000 || len(v.Origin(0).Joined) != 19_999 {
		t.Errorf("%d messages, the first of %d parts", v.Len(), len(v.At(0).Parts))
	}
}

func TestApplyAgainAllocatesNothing(t *testing.T) {
	h := hist("u tc t a u")
	p := compose(t, nil, h, chat.Rules{Alternate: true}, fold(0, 4, "sum"))
	apply(t, h, p)
	h = h.Append(hist("u a u").Messages()...)
	if n := testing.AllocsPerRun(100, func() {
		v, err := plan.Apply(h, p)
		if err != nil || v.Len() != 5 || v.At(1).Text() != "(continued)" || v.Raw(4) != 7 {
			t.Errorf("%v: %s", err, show(v))
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestConcurrentUse(t *testing.T) {
	h := hist("u tc t a u tc t a u")
	p := compose(t, nil, h, chat.AllDialects(), fold(0, 4, "sum"), mask(6, 0, "short"))
	want := digest(apply(t, h, compose(t, nil, h, chat.AllDialects(), fold(0, 4, "sum"), mask(6, 0, "short"))))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			v, err := plan.Apply(h, p)
			if err != nil || digest(v) != want {
				t.Errorf("%v", err)
			}
			longer := h.Append(hist("a u").Messages()...)
			if _, err := plan.Compose(p, longer, chat.AllDialects(), nil, fold(0, 8, "all")); err != nil {
				t.Error(err)
			}
			if _, err := plan.Undo(p, p.ID(), longer, chat.AllDialects()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
