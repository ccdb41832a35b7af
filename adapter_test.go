package winnow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// message is one of a framework: it holds something that package chat has no word for.
type message struct {
	chat.Message
	extra any
}

func toChat(m *message) chat.Message   { return m.Message }
func fromChat(m chat.Message) *message { return &message{Message: m} }

func newAdapter(t testing.TB) *winnow.Adapter[*message] {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 8000, OutputReserve: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	return winnow.NewAdapter(w, toChat, fromChat)
}

// adapterWork returns a conversation about a subject with that number of exchanges.
func adapterWork(subject string, exchanges int) []*message {
	all := []*message{{chat.TextMessage(chat.System, "Be careful."), "s"}, {chat.TextMessage(chat.User, "Find the slow query."), "u"}}
	for i := range exchanges {
		id := fmt.Sprintf("call_%d", i)
		all = append(all, &message{chat.CallMessage("", chat.Call(id, "read_file", fmt.Sprintf(`{"path":"%s-%02d.log"}`, subject, i))), i},
			&message{chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("%s-%02d: SELECT took %d ms\n", subject, i, 100+i), 40)), i})
	}
	return all
}

// The model gets views that fit and obey the rules, of messages that are the framework's
// own wherever they were left alone. A view only grows until the next rewrite, though
// other conversations that start with the same words come between.
func TestAdapterFits(t *testing.T) {
	a := newAdapter(t)
	last, grown, rewrites := map[string][]*message{}, 0, 0
	for n := range 60 {
		for _, subject := range []string{"db", "web"} {
			all := adapterWork(subject, n)
			view, answered, err := a.Fit(context.Background(), chat.Request{}, all)
			if err != nil {
				t.Fatal(err)
			}
			var sent chat.Messages
			for _, m := range view {
				if m.extra != nil && !slices.Contains(all, m) {
					t.Fatalf("%s %d: a message of another conversation", subject, n)
				}
				if m.extra == nil && slices.ContainsFunc(all, func(o *message) bool { return o.Digest() == m.Digest() }) {
					t.Fatalf("%s %d: a message was built again that was not changed", subject, n)
				}
				sent = append(sent, m.Message)
			}
			if view[0] != all[0] || len(all) > 2 && view[len(view)-1] != all[len(all)-1] {
				t.Fatalf("%s %d: the system prompt or the newest message is not the framework's", subject, n)
			}
			if problems := chat.AllDialects().Check(sent[1:]); len(problems) > 0 {
				t.Fatalf("%s %d: %v", subject, n, problems)
			}
			size := 0
			for i := range sent {
				size += sent[i].Size().Bytes
			}
			if size/3 > 7000 {
				t.Fatalf("%s %d: %d bytes are sent in a window of 8,000 tokens", subject, n, size)
			}
			if viewStarts(last[subject], view) {
				grown++
			} else {
				rewrites++
			}
			last[subject] = view
			answered(&message{Message: chat.TextMessage(chat.Assistant, "On.")}, chat.Usage{Input: size / 3, Output: 20})
		}
	}
	if rewrites == 0 || grown < 4*rewrites {
		t.Errorf("%d views grew, %d were rewritten", grown, rewrites)
	}
}

// viewStarts reports whether one view starts with what the other says.
func viewStarts(of, view []*message) bool {
	return len(of) <= len(view) && slices.EqualFunc(of, view[:len(of)], func(a, b *message) bool { return a.Digest() == b.Digest() })
}

// A branch that leaves a conversation behind its compaction goes on with that plan.
func TestAdapterBranch(t *testing.T) {
	a := newAdapter(t)
	all := adapterWork("db", 40)
	view, _, err := a.Fit(context.Background(), chat.Request{}, all)
	if err != nil {
		t.Fatal(err)
	}
	if len(view) >= len(all) {
		t.Fatal("nothing was compacted")
	}
	for _, text := range []string{"One way.", "Another."} {
		branch := append(slices.Clip(all), &message{chat.TextMessage(chat.Assistant, "Done."), "a"}, &message{chat.TextMessage(chat.User, text), "u"})
		next, _, err := a.Fit(context.Background(), chat.Request{}, branch)
		if err != nil {
			t.Fatal(err)
		}
		if !viewStarts(view, next) {
			t.Errorf("%s: the branch was compacted anew", text)
		}
	}
}

func TestAdapterCannotFit(t *testing.T) {
	_, _, err := newAdapter(t).Fit(context.Background(), chat.Request{}, []*message{{chat.TextMessage(chat.System, strings.Repeat("Rule. ", 9000)), nil}, {chat.TextMessage(chat.User, "Hi"), nil}})
	if _, ok := err.(*winnow.CannotFitError); !ok {
		t.Errorf("%v", err)
	}
}
