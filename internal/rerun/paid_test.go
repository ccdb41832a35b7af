package rerun_test

import (
	"os"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/rerun"
	"github.com/winnow-llm/winnow/transcript"
)

// sums adds up both sides of a rerun in a window in which nothing is cut.
func sums(t *testing.T, req chat.Request, model string) (agent, ours float64, paid, read, ourRead int) {
	t.Helper()
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: model, Window: 4_000_000, Economy: winnow.EconomyOff}})
	if err != nil {
		t.Fatal(err)
	}
	if !w.Model().Prices.Known() {
		return 0, 0, 0, 0, 0
	}
	r, err := rerun.New(t.Context(), rerun.Input{Request: req, Engine: w})
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Beside(t.Context(), r.ID())
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Agent.Dollars {
		if b.Agent.Dollars[i] == nil {
			continue
		}
		agent, ours = agent+*b.Agent.Dollars[i], ours+*b.Winnow.Dollars[i]
		paid, read, ourRead = paid+*b.Agent.Prompt[i], read+*b.Agent.Read[i], ourRead+*b.Winnow.Read[i]
	}
	return agent, ours, paid, read, ourRead
}

// TestUnseenIsCached: what the provider counts and no file shows is read from its
// cache like the rest, and costs as little.
func TestUnseenIsCached(t *testing.T) {
	msgs := []chat.Message{chat.TextMessage(chat.User, "Count on.")}
	for i := range 20 {
		answer := chat.TextMessage(chat.Assistant, "One more.")
		answer.Usage = &chat.Usage{Input: 10, CacheRead: 40_000 + 20*i, CacheWrite: 20, Output: 10}
		msgs = append(msgs, answer, chat.TextMessage(chat.User, "Go on."))
	}
	agent, ours, _, read, ourRead := sums(t, chat.Request{History: chat.NewHistory(msgs...)}, "claude-sonnet-4-5")
	if ours > 2*agent || 100*ourRead < 90*read {
		t.Errorf("$%.3f of which %d tokens are cached; the agent paid $%.3f with %d", ours, ourRead, agent, read)
	}
}

// TestPaid: in real sessions in which nothing is cut, the rerun costs what the
// provider's own usage says.
func TestPaid(t *testing.T) {
	files, err := corpus.Sessions(corpus.Dir(t, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	var all, mine float64
	n := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sessions, err := transcript.Read(data, &transcript.Options{Name: f})
		if err != nil || len(sessions) != 1 || len(sessions[0].Compactions) > 0 || sessions[0].History.Len() < 60 {
			continue
		}
		agent, ours, paid, read, ourRead := sums(t, sessions[0].Request(), sessions[0].Model)
		if agent < 0.5 || read == 0 {
			continue
		}
		t.Logf("$%.2f, paid $%.2f; cached %.3f, reported %.3f; %s", ours, agent, float64(ourRead)/float64(paid), float64(read)/float64(paid), f)
		if float64(ourRead) < 0.95*float64(read) {
			t.Errorf("%s: the cache has %d tokens, the provider reported %d", f, ourRead, read)
		}
		all, mine = all+agent, mine+ours
		if n++; n == 10 {
			break
		}
	}
	if n < 10 || mine < 0.9*all || mine > 1.1*all {
		t.Errorf("%d sessions: $%.2f, the agents paid $%.2f", n, mine, all)
	}
}
