package winnow_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
)

// pricedModel is gpt-4o with prices that stay when the registry's change, limitedModel
// one with limits of its own.
const pricedModel, limitedModel = "gpt-4o-priced", "gpt-4o-limited"

// models knows these two besides the built-in ones.
var models = sync.OnceValue(func() *model.Registry {
	r, err := model.Default().WithOverrides([]byte(`{"models": {
		"gpt-4o-priced": {"like": "gpt-4o", "prices": {"input": 5, "cache_read": 0.2, "cache_write": 5, "output": 20}, "cache": {"lifetime_seconds": 300}},
		"gpt-4o-limited": {"like": "gpt-4o", "input": 50000, "output": 1000}
	}}`))
	if err != nil {
		panic(err)
	}
	return r
})

func newWinnow(t testing.TB, s winnow.Settings) *winnow.Winnow {
	t.Helper()
	w, err := winnow.New(&winnow.Options{Settings: s, Registry: models()})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// small is a window of 8,000 tokens with little output, for a family whose
// counts do not change with the registry.
var small = winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500, Target: 0.60, Economy: winnow.EconomyOff}

func user(text string) chat.Message { return chat.TextMessage(chat.User, text) }
func said(text string) chat.Message { return chat.TextMessage(chat.Assistant, text) }

func did(id, tool, args, output string) []chat.Message {
	return []chat.Message{chat.CallMessage("", chat.Call(id, tool, args)), chat.ResultMessage(id, output)}
}

func lines(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s line %d holds value %d\n", name, i, i*7919%1000)
	}
	return b.String()
}

// coding returns turns from to to-1 of a coding session: a request, two
// exchanges, an answer; about 500 tokens each.
func coding(from, to int) []chat.Message {
	var msgs []chat.Message
	for i := from; i < to; i++ {
		msgs = append(msgs, user(fmt.Sprintf("Request %d: rename handler%d in api/h%d.go", i, i, i)))
		msgs = append(msgs, did(fmt.Sprint("r", i), "read_file", fmt.Sprintf(`{"path":"api/h%d.go"}`, i), lines(fmt.Sprint("file", i), 16))...)
		msgs = append(msgs, did(fmt.Sprint("t", i), "bash", fmt.Sprintf(`{"command":"go test ./api%d"}`, i), lines(fmt.Sprint("run", i), 16))...)
		msgs = append(msgs, said(fmt.Sprintf("Renamed handler%d.", i)))
	}
	return msgs
}

const turnLen = 6 // messages of one turn of coding

// fit calls Fit and checks what always holds: the view obeys the rules and
// fits, and the history is what it was.
func fit(t testing.TB, w *winnow.Winnow, req chat.Request, s winnow.State) winnow.Result {
	t.Helper()
	chain := req.History.Chain(req.History.Len())
	r, err := w.Fit(context.Background(), req, s)
	if err != nil {
		t.Fatal(err)
	}
	checkResult(t, req, r)
	if again := chat.NewHistory(req.History.Messages()...); again.Chain(again.Len()) != chain {
		t.Fatal("the history was changed")
	}
	return r
}

func checkResult(t testing.TB, req chat.Request, r winnow.Result) {
	t.Helper()
	checker := chat.NewChecker(req.Rules)
	for i := range r.View.Len() {
		if ps := checker.Next(r.View.At(i)); len(ps) > 0 {
			t.Fatalf("view message %d: %s", i, ps[0].Message)
		}
	}
	if !r.After.Fits && !r.Waited {
		t.Fatalf("the view does not fit: %d tokens of %d", r.After.Count.Upper(), r.After.Limits.Available)
	}
}

func cannotFit(t testing.TB, w *winnow.Winnow, req chat.Request, s winnow.State) *winnow.CannotFitError {
	t.Helper()
	r, err := w.Fit(context.Background(), req, s)
	cannot, ok := err.(*winnow.CannotFitError)
	if !ok {
		t.Fatalf("want a CannotFitError, got %v and %v", r.Plan, err)
	}
	return cannot
}

// text is everything a sequence says.
func text(s chat.Sequence) string {
	var b strings.Builder
	for i := range s.Len() {
		m := s.At(i)
		for k := range m.Parts {
			fmt.Fprintf(&b, "%s\n%s\n", m.Parts[k].Text, m.Parts[k].Args)
		}
	}
	return b.String()
}

func contains(t testing.TB, what, in string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(in, w) {
			t.Errorf("%s lacks %q:\n%s", what, w, short(in))
		}
	}
}

func lacks(t testing.TB, what, in string, not ...string) {
	t.Helper()
	for _, w := range not {
		if strings.Contains(in, w) {
			t.Errorf("%s still has %q:\n%s", what, w, short(in))
		}
	}
}

func short(s string) string {
	if len(s) > 1500 {
		return s[:1000] + "\n...\n" + s[len(s)-400:]
	}
	return s
}

// startsWith reports whether view b starts with all messages of view a.
func startsWith(b, a plan.View) bool {
	if b.Len() < a.Len() {
		return false
	}
	for i := range a.Len() {
		if a.At(i).Digest() != b.At(i).Digest() {
			return false
		}
	}
	return true
}
