package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transcript"
)

// compacted is a generated session that its client compacted.
func compacted(seed uint64, every int) *Session {
	s := replaygen.Session(seed, replaygen.Options{})
	for at := every; at < s.History.Len(); at++ {
		if s.History.At(at).Role == chat.Assistant && len(s.Compactions) < 3 {
			s.Compactions = append(s.Compactions, transcript.Compaction{At: at, Summary: "We changed some files.", Trigger: "auto"})
			at += every
		}
	}
	s.Model = "claude-opus-5-5"
	return &Session{Session: s, File: s.ID, Source: s.ID}
}

func measure(t *testing.T, s *Session, window int, prices model.Model) Past {
	t.Helper()
	p, _, err := MeasurePast(t.Context(), s, model.Window{Tokens: window}, prices)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What the client is charged for, by hand: three files were read, the context
// was compacted, one was read again and edited, another edited from the summary.
func TestPast(t *testing.T) {
	file := func(name string) string {
		var b strings.Builder
		for i := range 40 {
			b.WriteString("\tfunc " + name + strings.Repeat("x", i) + "() error { return nil }\n")
		}
		return b.String()
	}
	read := func(id, path, text string) []chat.Message {
		return []chat.Message{chat.CallMessage("", chat.Call(id, "Read", `{"file_path":"/p/`+path+`"}`)), chat.ResultMessage(id, text)}
	}
	edit := func(id, path, old string) []chat.Message {
		return []chat.Message{
			chat.CallMessage("", chat.Call(id, "Edit", `{"file_path":"/p/`+path+`","old_string":"`+old+`","new_string":"gone()"}`)), chat.ResultMessage(id, "done"),
		}
	}
	a, b := file("alpha"), file("beta")
	msgs := slices.Concat(
		[]chat.Message{chat.TextMessage(chat.User, "Fix it.")},
		read("1", "a.go", a), read("2", "b.go", b), read("3", "c.go", file("gamma")),
		// Here the client compacts.
		read("4", "a.go", a), read("5", "new.go", file("delta")),
		edit("6", "a.go", "func alphaxx() error"), edit("7", "b.go", "func betaxx() error"),
	)
	s := &Session{Session: transcript.Session{History: chat.NewHistory(msgs...)}}
	s.Compactions = []transcript.Compaction{{At: 7, Summary: "Three files were read.", Trigger: "auto"}, {At: 9, Trigger: "micro"}}
	prices := model.Default().Lookup("claude-opus-5-5")
	p := measure(t, s, 100_000, prices)
	if p.Compactions != 1 || p.Automatic != 1 || p.Unread != 0 || p.Waited != llmBlocks {
		t.Errorf("%+v", p)
	}
	// a.go was read again, all of it; new.go had never been seen. winnow had no
	// reason to compact, so everything was still there.
	if p.Rereads != 1 || p.Still != (Tally{40, 40}) {
		t.Errorf("%d re-reads, still there: %v", p.Rereads, p.Still)
	}
	if p.Ready != (Tally{0, 2}) || p.OursReady != (Tally{2, 2}) {
		t.Errorf("ready: %v, with winnow %v", p.Ready, p.OursReady)
	}
	// The summary: the context from the cache, what came since, and its own size.
	k := token.New(prices.Family, nil)
	sent := k.Conversation()
	for i := range 5 {
		sent += k.At(s.History, i) // the prompt of the request before
	}
	since := k.At(s.History, 5) + k.At(s.History, 6)
	summary := chat.TextMessage(chat.User, "Three files were read.")
	if want := prices.Prices.Cost(chat.Usage{CacheRead: sent, Input: since, Output: k.Message(&summary)}); p.Summaries != want {
		t.Errorf("the summary cost %v, want %v", p.Summaries, want)
	}
	// The re-read: one more request after the summary, and the file.
	prompt := k.Conversation() + k.Message(&summary)
	added := k.Message(s.History.At(8))
	if want := rereadCost(&prices, prompt, added); p.Again != want || p.RereadTokens != added {
		t.Errorf("the re-read of %d tokens cost %v, want %v for %d", p.RereadTokens, p.Again, want, added)
	}
	if p.Removed <= 0 || p.Rewrites != 0 || p.OurRereads != 0 {
		t.Errorf("%+v", p)
	}
}

// A summary that the file does not show is counted, and not judged; messages
// that the client kept are still there.
func TestPastUnreadAndKept(t *testing.T) {
	s := compacted(1, 90)
	for i := range s.Compactions {
		s.Compactions[i].Summary = ""
	}
	prices := model.Default().Lookup("gpt-6-sol")
	p := measure(t, s, 64000, prices)
	if p.Unread != 3 || p.Ready.Of != 0 || p.Summaries <= 0 {
		t.Errorf("%+v", p)
	}
	all := compacted(1, 90)
	for i := range all.Compactions {
		all.Compactions[i].Kept = all.Compactions[i].At
	}
	kept := measure(t, all, 64000, prices)
	if kept.Rereads != 0 || kept.Ready.Hit != kept.Ready.Of || kept.Removed != 0 {
		t.Errorf("a client that keeps everything: %+v", kept)
	}
	if never := measure(t, compacted(1, 1<<20), 64000, prices); never.Compactions != 0 || never.Summaries != 0 || never.Dollars <= 0 || never.Rewrites == 0 {
		t.Errorf("a client that never compacts: %+v", never)
	}
}

// Prompts are counted as the provider counts them: what no file shows is fixed, and a
// beginning of the session is exact, to the token.
func TestPastCountsAsTheProvider(t *testing.T) {
	s := compacted(2, 90)
	const hidden = 30_000
	k := token.New(token.Claude5, nil)
	counted := 0
	var msgs []chat.Message
	for i, m := range s.History.All() {
		n := *m
		if m.Role == chat.Assistant && i < s.Compactions[0].At {
			n.Usage = &chat.Usage{Input: hidden + counted + counted/5, Output: k.At(s.History, i)}
		}
		counted += k.At(s.History, i)
		msgs = append(msgs, n)
	}
	s.History = chat.NewHistory(msgs...)
	prices := model.Default().Lookup(s.Model)
	p := measure(t, s, 200_000, prices)
	prompt, err := PromptOf(&s.Session, s.Model)
	if err != nil {
		t.Fatal(err)
	}
	if p.Window != 200_000 || p.Fixed != prompt.Fixed || p.Fixed < hidden*9/10 || p.Fixed > hidden*11/10 || prompt.Scale < 1.1 || prompt.Scale > 1.3 {
		t.Errorf("a window of %d, %+v; want 200,000 with %d hidden and a scale of 1.2", p.Window, prompt, hidden)
	}
	x := newHeardIndex(s, prompt)
	if n := x.fixed + x.cum[s.History.Len()]; n != prompt.Next {
		t.Errorf("a replay counts %d tokens for all of it, %d is the next prompt", n, prompt.Next)
	}
}
