package chat_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
)

func TestRules(t *testing.T) {
	pairing := chat.Rules{Name: "pairing only"}
	userFirst := chat.Rules{UserFirst: true}
	callAfter := chat.Rules{CallAfterInput: true}
	alternate := chat.Rules{Alternate: true}
	joined := chat.Rules{Alternate: true, ResultsJoined: true}
	for _, c := range []struct {
		name  string
		rules chat.Rules
		in    string
		want  string // rule@message or rule@message.part
	}{
		{"healthy", chat.AllDialects(), "u tc(A,B) t(A) t(B) a u", ""},
		{"results in any order", pairing, "u tc(A,B) t(B) t(A)", ""},
		{"results in one message", pairing, "u tc(A,B) r(B,A)+ a", ""},
		{"same id in two turns", pairing, "u tc t a u tc t a", ""},
		{"unanswered", pairing, "u tc(A,B) t(A) a", "unanswered_call@1"},
		{"unanswered before a call", pairing, "u tc(A) tc(B) t(B)", "unanswered_call@1"},
		{"unanswered at the end", pairing, "u tc(A,B)", "unanswered_call@1 unanswered_call@1"},
		{"system between", pairing, "u tc(A) s t(A)", "unanswered_call@1 orphan_result@3.0"},
		{"orphan first", pairing, "t(A) u", "orphan_result@0.0"},
		{"orphan after text", pairing, "u a t(A)", "orphan_result@2.0"},
		{"orphan among results", pairing, "u tc(A) r(X,A)", "orphan_result@2.0"},
		{"orphan ends the exchange", pairing, "u tc(A) t(X) t(A)", "orphan_result@2.0 unanswered_call@1 orphan_result@3.0"},
		{"twice", pairing, "u tc(A) t(A) t(A)", "duplicate_result@3.0"},
		{"twice, in one message", pairing, "u tc(A) r(A,A)", "duplicate_result@2.1"},
		{"one id twice", pairing, "u tc(A,A) t(A) t(A)", "call_id@1.1"},

		{"assistant first", userFirst, "a u", "user_first@0"},
		{"result first", userFirst, "t(A) u", "orphan_result@0.0 user_first@0"},
		{"system first", userFirst, "s u a", ""},
		{"assistant first is fine elsewhere", pairing, "a u", ""},

		{"call after assistant", callAfter, "u a tc t", "call_after_input@2"},
		{"call after assistant and system", callAfter, "u a s tc t", "call_after_input@3"},
		{"call after result", callAfter, "u tc t tc t", ""},
		{"call first", callAfter, "tc t", ""},

		{"two users", alternate, "u u", "alternate@1"},
		{"two users around a system message", alternate, "u s u", "alternate@2"},
		{"two assistants", alternate, "u a a", "alternate@2"},
		{"user after result", alternate, "u tc t u", "alternate@3"},
		{"results in a row", alternate, "u tc(A,B) t(A) t(B) a", ""},
		{"results in a row, where they belong together", joined, "u tc(A,B) r(A) r(B) a", "alternate@3"},
		{"two users elsewhere", chat.AllDialects(), "u u", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(c.rules.Check(conv(c.in))); got != c.want {
				t.Errorf("%q: %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func problems(ps []chat.Problem) string {
	var s []string
	for _, p := range ps {
		one := fmt.Sprintf("%s@%d", p.Rule, p.At)
		if p.Part >= 0 {
			one += fmt.Sprintf(".%d", p.Part)
		}
		s = append(s, one)
	}
	return strings.Join(s, " ")
}

func TestRulesOfContent(t *testing.T) {
	text := func(s string) chat.Part { return chat.Part{Kind: chat.Text, Text: s} }
	image := chat.Part{Kind: chat.Image, Data: "aGk="}
	all := chat.AllDialects()
	for _, c := range []struct {
		name  string
		rules chat.Rules
		msgs  chat.Messages
		want  string
	}{
		{"no parts", all, chat.Messages{{Role: chat.User}}, "empty_message@0"},
		{"one empty text", all, chat.Messages{{Role: chat.User, Parts: []chat.Part{text("")}}}, "empty_message@0"},
		{"empty text beside text", chat.Rules{NonEmptyText: true}, chat.Messages{{Role: chat.User, Parts: []chat.Part{text("a"), text("")}}}, "empty_text@0.1"},
		{"empty text beside text, for every dialect", all, chat.Messages{{Role: chat.User, Parts: []chat.Part{text("a"), text("")}}}, ""},
		{"only an image", all, chat.Messages{{Role: chat.User, Parts: []chat.Part{image}}}, ""},
		{"empty where that is allowed", chat.Rules{UserFirst: true}, chat.Messages{{Role: chat.User}}, ""},
		{"too many images", chat.Rules{MaxImages: 2}, chat.Messages{
			{Role: chat.User, Parts: []chat.Part{image, image}},
			{Role: chat.User, Parts: []chat.Part{image}},
		}, "images@1"},
		{"images in results count", chat.Rules{MaxImages: 1}, chat.Messages{
			{Role: chat.User, Parts: []chat.Part{image}},
			chat.CallMessage("", chat.Call("A", "see", "{}")),
			{Role: chat.Tool, Parts: []chat.Part{{Kind: chat.ToolResult, ID: "A", Content: []chat.Part{image}}}},
		}, "images@2"},
		{"call without id", all, chat.Messages{
			chat.TextMessage(chat.User, "go"), chat.CallMessage("", chat.Call("", "see", "{}")), chat.ResultMessage("", "seen"),
		}, "call_id@1.0"},
		{"a user calls", all, chat.Messages{{Role: chat.User, Parts: []chat.Part{chat.Call("A", "see", "{}")}}}, "role@0.0 unanswered_call@0"},
		{"an assistant answers", all, chat.Messages{
			chat.TextMessage(chat.User, "go"),
			chat.CallMessage("", chat.Call("A", "see", "{}")),
			{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.ToolResult, ID: "A"}}},
		}, "role@2 orphan_result@2.0 unanswered_call@1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := problems(c.rules.Check(c.msgs)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestZeroRulesAreStrict(t *testing.T) {
	if got := (chat.Rules{}).OrDefault(); got != chat.AllDialects() {
		t.Errorf("the zero rules stand for %+v", got)
	}
	if got := (chat.Rules{MaxImages: 5}).OrDefault(); got != (chat.Rules{MaxImages: 5}) {
		t.Errorf("rules that say something changed to %+v", got)
	}
	if got := problems(chat.Rules{}.Check(conv("a tc t"))); got != "user_first@0 call_after_input@1" {
		t.Error(got)
	}
}

func TestProblemsNameTheCall(t *testing.T) {
	for _, p := range chat.AllDialects().Check(conv("u tc(A,B) t(A) t(A) t(X) u")) {
		want := map[string]string{chat.RuleUnanswered: "B", chat.RuleDuplicate: "A", chat.RuleOrphan: "X"}[p.Rule]
		if p.Call != want || !strings.Contains(p.Message, fmt.Sprintf("%q", want)) {
			t.Errorf("%+v does not name call %q", p, want)
		}
	}
}

// A checker that is fed message by message, and one that is cloned on the way,
// find what Check finds.
func TestCheckerIsIncremental(t *testing.T) {
	dialects := []chat.Rules{
		chat.AllDialects(), {Alternate: true, UserFirst: true}, {Alternate: true, ResultsJoined: true, NonEmpty: true, MaxImages: 1}, {Name: "pairing only"},
	}
	for seed := range uint64(1000) {
		h := randhist.New(rand.New(rand.NewPCG(seed+randhist.FirstSeed, 2)), randhist.Options{MaxText: 500})
		rules := dialects[seed%uint64(len(dialects))]
		c := chat.NewChecker(rules)
		fork := int(seed) % h.Len()
		var got, forked []chat.Problem
		var d *chat.Checker
		for i, m := range h.All() {
			if i == fork {
				d = c.Clone()
				forked = append(forked, got...)
				e := c.Clone() // another future must not disturb either
				e.Next(&chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.ToolResult, ID: "call_1"}}})
			}
			got = append(got, c.Next(m)...)
			if d != nil {
				forked = append(forked, d.Next(m)...)
			}
			if want := rules.Check(h.Head(i + 1)); !reflect.DeepEqual(append(got[:len(got):len(got)], c.Pending()...), want) {
				t.Fatalf("seed %d: after message %d: %v, want %v", seed, i, got, want)
			}
		}
		if c.Len() != h.Len() || !reflect.DeepEqual(got, forked) {
			t.Fatalf("seed %d: the clone found %v, the checker %v", seed, forked, got)
		}
	}
}

func TestCheckingHealthyMessagesAllocatesNothing(t *testing.T) {
	msgs := conv("u tc(A,B) t(A) t(B) tc(C) t(C) a u a")
	c := chat.NewChecker(chat.AllDialects())
	if n := testing.AllocsPerRun(100, func() {
		for i := range msgs {
			if ps := c.Next(&msgs[i]); ps != nil {
				t.Fatal(ps)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// A checker that goes on from another leaves that one as it was, also where a message
// makes so many calls that their places are kept in a map.
func TestClonesGoOnApart(t *testing.T) {
	var calls []chat.Part
	for i := range 40 {
		calls = append(calls, chat.Call(fmt.Sprint("c", i), "read_file", "{}"))
	}
	c := chat.NewChecker(chat.Rules{Name: "any"})
	c.Next(&chat.Message{Role: chat.Assistant, Parts: calls})
	for range 2 {
		d, m := c.Clone(), chat.ResultMessage("c7", "ok")
		if ps := d.Next(&m); len(ps) > 0 {
			t.Errorf("%v", ps)
		}
	}
}
