package winnow_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// What a provider was seen to have lowers what is known and replaces a guess.
func TestLearnedLimits(t *testing.T) {
	for _, c := range []struct {
		name           string
		set            winnow.Settings
		known          winnow.Learned
		context, input int
	}{
		{"nothing", winnow.Settings{Model: "gpt-5"}, winnow.Learned{}, 400_000, 272_000},
		{"a lower input", winnow.Settings{Model: "gpt-5"}, winnow.Learned{Input: 100_000}, 400_000, 100_000},
		{"a known limit is never raised", winnow.Settings{Model: "gpt-5"}, winnow.Learned{Context: 9_000_000, Input: 500_000}, 400_000, 272_000},
		{"a guess is replaced", winnow.Settings{Model: "some-model-of-ours"}, winnow.Learned{Context: 2_000_000}, 2_000_000, 2_000_000},
		{"an input above a guessed window", winnow.Settings{Model: "some-model-of-ours"}, winnow.Learned{Input: 300_000}, 300_000, 300_000},
		{"what somebody set is no guess", winnow.Settings{Model: "some-model-of-ours", Window: 50_000}, winnow.Learned{Context: 2_000_000}, 50_000, 50_000},
		{"a window below the other limits", winnow.Settings{Model: "gpt-5"}, winnow.Learned{Context: 4096}, 4096, 4096},
	} {
		st, err := newWinnow(t, c.set).Check(chat.Request{History: chat.NewHistory(user("hi"))}, winnow.State{Learned: c.known})
		if err != nil {
			t.Fatal(err)
		}
		if l := st.Limits; l.Context != c.context || l.Input != c.input || l.Available < 1 {
			t.Errorf("%s: %s", c.name, l)
		}
	}
	st, err := newWinnow(t, winnow.Settings{MaxBytes: 5000}).Check(chat.Request{}, winnow.State{Learned: winnow.Learned{Bytes: 3000}})
	if err != nil || st.Limits.Bytes != 3000 {
		t.Errorf("bytes: %+v, %v", st.Limits, err)
	}
}

// One engine serves calls that differ in what they ask for.
func TestCallsOfOneEngine(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, OutputReserve: 500})
	req := chat.Request{History: chat.NewHistory(coding(0, 160)...)}
	if high, usual := fit(t, w, req, winnow.State{Ask: winnow.Ask{Target: 0.75}}), fit(t, w, req, winnow.State{}); high.After.Count.Tokens <= usual.After.Count.Tokens {
		t.Errorf("aimed at 0.75 it has %d tokens, otherwise %d", high.After.Count.Tokens, usual.After.Count.Tokens)
	}
	r, err := w.Fit(t.Context(), req, winnow.State{Ask: winnow.Ask{RepairOnly: true}})
	if err != nil || r.Changed || !r.Before.ShouldCompact || r.View.Len() != req.History.Len() {
		t.Errorf("repair only: changed %v, %d messages, %v", r.Changed, r.View.Len(), err)
	}
}

// A name that the registry does not know is said to be, wherever limits are
// reported, unless somebody said what the window is.
func TestDoubtAboutTheModel(t *testing.T) {
	req := chat.Request{History: chat.NewHistory(chat.TextMessage(chat.User, "hello"))}
	for name, c := range map[string]struct {
		set   winnow.Settings
		doubt bool
	}{
		"misspelt":                  {winnow.Settings{Model: "gtp-4o"}, true},
		"misspelt, of a provider":   {winnow.Settings{Model: "claude-sonet-gtp-4o"}, true},
		"misspelt, but with limits": {winnow.Settings{Model: "gtp-4o", Window: 64_000}, false},
		"known":                     {winnow.Settings{Model: "gpt-4o"}, false},
		"a version to come":         {winnow.Settings{Model: "claude-opus-99"}, false},
		"none":                      {winnow.Settings{}, false},
	} {
		w, err := winnow.New(&winnow.Options{Settings: c.set})
		if err != nil {
			t.Fatal(err)
		}
		status, err := w.Check(req, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Fit(t.Context(), req, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		if (status.Doubt != "") != c.doubt || r.Before.Doubt != status.Doubt || c.doubt && !strings.Contains(status.Doubt, "gtp-4o") {
			t.Errorf("%s: %q, then %q", name, status.Doubt, r.Before.Doubt)
		}
	}
}
