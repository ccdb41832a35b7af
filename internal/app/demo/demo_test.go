package demo_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// TestSession checks that the session is what the demo needs: the same every
// time, long, and with the things in it that make compaction hard.
func TestSession(t *testing.T) {
	req := demo.Request()
	again, err := wire.Render(wire.OpenAI, demo.Model, demo.Request(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, demo.Session()) {
		t.Error("the session differs from one time to the next")
	}
	if n := token.New(token.Claude, nil).Request(&req); n < 150_000 || n > 250_000 {
		t.Errorf("%d tokens", n)
	}
	o := chat.NewOutline(req.History)
	parallel, open, images := 0, 0, 0
	for _, x := range o.Exchanges {
		if x.Calls > 1 {
			parallel++
		}
		open += len(x.Open)
	}
	for _, m := range req.History.All() {
		images += m.Size().Images
	}
	if len(o.Turns) < 8 || parallel < 10 || open != 1 || images != 1 {
		t.Errorf("%d turns, %d messages with parallel calls, %d unanswered calls, %d images", len(o.Turns), parallel, open, images)
	}
	if last := req.History.At(req.History.Len() - 1); last.Role != chat.User {
		t.Error("the session does not end with a question")
	}
	first := req.History.At(0)
	if !strings.Contains(first.Text(), demo.Constraint) || !strings.Contains(first.Text(), demo.EarlyPath) {
		t.Error("the first message lacks what must survive")
	}
	if n := bytes.Count(demo.Session(), []byte(demo.EarlySetting)); n != 1 {
		t.Errorf("%s stands %d times in the session", demo.EarlySetting, n)
	}
	if n := bytes.Count(demo.Session(), []byte(demo.ChangedLine)); n == 0 {
		t.Errorf("%s stands nowhere in the session", demo.ChangedLine)
	}
	for _, p := range wire.Validate(wire.OpenAI, demo.Session()) {
		if p.Rule != wire.RuleUnanswered {
			t.Errorf("beside the unanswered call: %s", p)
		}
	}
}
