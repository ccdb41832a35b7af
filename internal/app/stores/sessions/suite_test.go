package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
)

func testOptions() *session.Options { return &session.Options{Settings: sessiontest.Settings()} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newStore(t *testing.T, open opener) (session.Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := open(dir)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func newSession(t *testing.T, store session.Store, id string) *session.Session {
	t.Helper()
	s, err := session.Create(t.Context(), store, session.Header{ID: id, Dir: "/project"}, testOptions())
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// openAgain opens a session of a store that is opened once more, as another process does.
func openAgain(t *testing.T, open opener, dir, id string) *session.Session {
	t.Helper()
	store, err := open(dir)
	must(t, err)
	s, err := session.Open(t.Context(), store, id, testOptions())
	must(t, err)
	t.Cleanup(func() { s.Close(); store.Close() })
	return s
}

func userMessage(text string) chat.Message { return chat.TextMessage(chat.User, text) }

func answerMessage(text string) chat.Message { return chat.TextMessage(chat.Assistant, text) }

func testStore(t *testing.T, open opener) {
	ctx := t.Context()
	store, _ := newStore(t, open)
	if list, err := store.List(ctx, 0, 0); err != nil || len(list) != 0 {
		t.Fatalf("an empty store lists %v, %v", list, err)
	}
	if _, err := store.Open(ctx, "nothing"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("opening what is not there: %v", err)
	}
	if err := store.Delete(ctx, "nothing"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("deleting what is not there: %v", err)
	}
	for i := range 5 {
		s := newSession(t, store, fmt.Sprintf("s%d", i))
		_, err := s.Append(ctx, userMessage("hello"))
		must(t, err)
		must(t, s.SetName(ctx, fmt.Sprintf("name %d", i)))
		time.Sleep(15 * time.Millisecond) // times have milliseconds
	}
	if _, err := store.Create(ctx, session.Header{ID: "s1"}, session.Records()); !errors.Is(err, session.ErrExists) {
		t.Errorf("creating twice: %v", err)
	}
	list, err := store.List(ctx, 0, 0)
	must(t, err)
	if len(list) != 5 || list[0].ID != "s4" || list[4].ID != "s0" {
		t.Fatalf("listed: %+v", list)
	}
	if list[0].Name != "name 4" || list[0].Dir != "/project" || list[0].Bytes == 0 || list[0].Time.IsZero() {
		t.Errorf("info: %+v", list[0])
	}
	if page, err := store.List(ctx, 1, 2); err != nil || len(page) != 2 || page[0].ID != "s3" || page[1].ID != "s2" {
		t.Errorf("page: %+v, %v", page, err)
	}
	must(t, store.Delete(ctx, "s2"))
	if list, _ := store.List(ctx, 0, 0); len(list) != 4 {
		t.Errorf("after deleting: %+v", list)
	}
	if _, err := store.Open(ctx, "s2"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("opening what was deleted: %v", err)
	}
}

// testRecords checks that records come back byte for byte.
func testRecords(t *testing.T, open opener) {
	ctx := t.Context()
	store, dir := newStore(t, open)
	log, err := store.Create(ctx, session.Header{ID: "raw"}, session.Records())
	must(t, err)
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprintf(`{"type":"custom", "id":"%08d","parentId":null,"timestamp":"2026-01-02T03:04:05.678Z","x-unknown":{"a" : 1.00, "b":"é\u0000\/"},"n":%d}`, i, i))
	}
	for i := 0; i < len(want); i += 10 {
		var recs [][]byte
		for _, w := range want[i : i+10] {
			recs = append(recs, []byte(w))
		}
		must(t, log.Append(recs...)(ctx))
	}
	check := func(log session.Log) {
		t.Helper()
		got, err := log.Load(ctx)
		must(t, err)
		if len(got) != len(want) {
			t.Fatalf("%d records, want %d", len(got), len(want))
		}
		for i := range got {
			if string(got[i].Raw) != want[i] {
				t.Fatalf("record %d is %s, want %s", i, got[i].Raw, want[i])
			}
		}
	}
	check(log)
	must(t, log.Close())
	again, err := open(dir)
	must(t, err)
	defer again.Close()
	log, err = again.Open(ctx, "raw")
	must(t, err)
	defer log.Close()
	check(log)
	if more, err := log.Load(ctx); err != nil || len(more) != 0 {
		t.Errorf("a second Load gives %d records, %v", len(more), err)
	}
}

// testAppend checks that every kind of message comes back as it was.
func testAppend(t *testing.T, open opener) {
	ctx := t.Context()
	store, dir := newStore(t, open)
	s := newSession(t, store, "kinds")
	must(t, s.SetModel(ctx, "anthropic", "claude-sonnet-4-5"))
	synthetic := userMessage("a reminder")
	synthetic.Synthetic = true
	usage := chat.Usage{Input: 10, CacheRead: 20, CacheWrite: 3, Output: 7, Thinking: 2}
	thinking := chat.Message{Role: chat.Assistant, Model: "claude-sonnet-4-5", Usage: &usage, Parts: []chat.Part{
		{Kind: chat.Thinking, Text: "hm", Signature: "c2ln"},
		{Kind: chat.Text, Text: "Let me see."},
		chat.Call("a", "read", `{"path": "x.go", "n": 1.50}`), chat.Call("b", "bash", "{\n  \"command\": \"ls\"\n}"),
	}}
	msgs := []chat.Message{
		userMessage("hello"), synthetic, userMessage("two\nlines \u2028 and \x00 and 😀"),
		thinking,
		{Role: chat.User, Parts: []chat.Part{
			{Kind: chat.ToolResult, ID: "a", Text: "content", Content: []chat.Part{{Kind: chat.Image, Media: "image/png", Data: "iVBORw0KGgo="}}},
			{Kind: chat.ToolResult, ID: "b", Text: "failed", Failed: true},
			{Kind: chat.Text, Text: "and go on"},
		}},
		answerMessage("done"),
		{Role: chat.User, Parts: []chat.Part{{Kind: chat.Document, Name: "a.pdf", Media: "application/pdf", Data: "JVBERi0="}, {Kind: chat.Image, Data: "https://example.com/a.png"}}},
		{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Opaque, Name: "server_tool_use", ID: "srv", Data: `{"type":"server_tool_use"}`}, {Kind: chat.Text, Text: "x"}}},
		chat.CallMessage("", chat.Call("c", "write", `{}`)), chat.ResultMessage("c", ""),
		{Role: chat.System, Parts: []chat.Part{{Kind: chat.Text, Text: "a change of rules"}}},
		userMessage("last"),
	}
	ids, err := s.Append(ctx, msgs...)
	must(t, err)
	if len(ids) != len(msgs) {
		t.Fatalf("%d ids for %d messages", len(ids), len(msgs))
	}
	check := func(s *session.Session) {
		t.Helper()
		c, err := s.Context()
		must(t, err)
		h := c.Request.History
		if h.Len() != len(msgs) {
			t.Fatalf("%d messages, want %d", h.Len(), len(msgs))
		}
		for i := range msgs {
			m := h.At(i)
			if m.ID != ids[i] {
				t.Errorf("message %d has id %q, want %q", i, m.ID, ids[i])
			}
			want := asAppended(msgs[i])
			if m.Role != want.Role || m.Synthetic != want.Synthetic || fmt.Sprintf("%+v", m.Parts) != fmt.Sprintf("%+v", want.Parts) {
				t.Errorf("message %d is\n%+v, want\n%+v", i, m, want)
			}
		}
		if m := h.At(3); m.Model != "claude-sonnet-4-5" || m.Usage == nil || *m.Usage != usage {
			t.Errorf("model %q, usage %+v", m.Model, m.Usage)
		}
		if c.Model != "claude-sonnet-4-5" || c.Provider != "anthropic" || c.Leaf != ids[len(ids)-1] {
			t.Errorf("context %q %q %q", c.Provider, c.Model, c.Leaf)
		}
	}
	check(s)
	before := sessiontest.View(t, s)
	again := openAgain(t, open, dir, "kinds")
	check(again)
	if after := sessiontest.View(t, again); after != before {
		t.Errorf("the view changed on reopening:\n%s\n%s", before, after)
	}
}

// asAppended returns a message with what Append fills in.
func asAppended(m chat.Message) chat.Message {
	m.Parts = append([]chat.Part(nil), m.Parts...)
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == chat.ToolResult && p.Name == "":
			p.Name = map[string]string{"a": "read", "b": "bash", "c": "write"}[p.ID]
		case p.Kind == chat.ToolCall && strings.Contains(p.Args, "\n"):
			p.Args = `{"command":"ls"}`
		}
	}
	return m
}

// testOrder checks that what many goroutines append is one chain.
func testOrder(t *testing.T, open opener) {
	ctx := t.Context()
	store, dir := newStore(t, open)
	s := newSession(t, store, "order")
	const workers, each = 8, 25
	var wg sync.WaitGroup
	errs := make(chan error, workers*each)
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				if _, err := s.Append(ctx, userMessage(fmt.Sprintf("w%d %d", w, i))); err != nil {
					errs <- err
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Fatal(err)
	}
	again := openAgain(t, open, dir, "order")
	if sessiontest.View(t, again) != sessiontest.View(t, s) {
		t.Error("what is in memory and what is on the disk differ")
	}
	next := make(map[string]int)
	c, err := again.Context()
	must(t, err)
	if c.View.Len() != workers*each {
		t.Fatalf("%d messages, want %d", c.View.Len(), workers*each)
	}
	for i := range c.View.Len() {
		var w string
		var n int
		if _, err := fmt.Sscanf(c.View.At(i).Text(), "%s %d", &w, &n); err != nil {
			t.Fatalf("message %q: %v", c.View.At(i).Text(), err)
		}
		if n != next[w] {
			t.Fatalf("message %d of %s stands where %d belongs", n, w, next[w])
		}
		next[w]++
	}
}

func testReopen(t *testing.T, open opener) {
	ctx := t.Context()
	store, dir := newStore(t, open)
	s := newSession(t, store, "marks")
	ids, err := s.Append(ctx, sessiontest.Turn(1, 200)...)
	must(t, err)
	must(t, s.Label(ctx, ids[0], "start"))
	must(t, s.Pin(ctx, ids[0]))
	must(t, s.SetName(ctx, "my session"))
	_, err = s.Custom(ctx, "mine", map[string]int{"n": 1})
	must(t, err)
	must(t, s.Close())
	if _, err := s.Append(ctx, userMessage("late")); !errors.Is(err, session.ErrClosed) {
		t.Errorf("appending to a closed session: %v", err)
	}
	again := openAgain(t, open, dir, "marks")
	c, err := again.Context()
	must(t, err)
	if again.Labels()[ids[0]] != "start" || len(again.Pins()) != 1 || again.Pins()[0] != ids[0] || again.Name() != "my session" || c.View.Len() == 0 {
		t.Errorf("labels %v, pins %v, name %q, %d messages", again.Labels(), again.Pins(), again.Name(), c.View.Len())
	}
	must(t, again.Label(ctx, ids[0], ""))
	must(t, again.Unpin(ctx, ids[0]))
	if len(again.Labels()) != 0 || len(again.Pins()) != 0 {
		t.Errorf("taken off: labels %v, pins %v", again.Labels(), again.Pins())
	}
	if p := again.Problems(); len(p) != 0 {
		t.Errorf("problems: %v", p)
	}
}

// testOther checks what one process sees of another's entries.
func testOther(t *testing.T, open opener) {
	ctx := t.Context()
	store, dir := newStore(t, open)
	a := newSession(t, store, "two")
	_, err := a.Append(ctx, userMessage("root"))
	must(t, err)
	b := openAgain(t, open, dir, "two")
	_, err = a.Append(ctx, answerMessage("from a"))
	must(t, err)
	idB, err := b.Append(ctx, answerMessage("from b"))
	must(t, err)
	if n, err := a.Sync(ctx); err != nil || n != 1 {
		t.Errorf("a sees %d new entries, %v", n, err)
	}
	if c, _ := a.Context(); c.View.Len() != 2 || c.View.At(1).Text() != "from a" {
		t.Errorf("a's conversation changed under it")
	}
	if got := len(a.Page(0, 100)); got != 3 {
		t.Errorf("the tree has %d entries, want 3", got)
	}
	must(t, a.Follow(ctx))
	if a.Leaf() != idB[0] {
		t.Errorf("a follows to %s, want %s", a.Leaf(), idB[0])
	}
	st, err := a.Stats()
	must(t, err)
	if st.Branches != 2 {
		t.Errorf("%d branches, want 2", st.Branches)
	}
}

// testCancel checks that giving up leaves the session sound.
func testCancel(t *testing.T, open opener) {
	store, _ := newStore(t, open)
	s := newSession(t, store, "cancel")
	_, err := s.Append(t.Context(), userMessage("one"))
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Append(ctx, userMessage("two"))
	c, _ := s.Context()
	if want := map[bool]int{true: 2, false: 1}[err == nil]; c.View.Len() != want {
		t.Errorf("after %v there are %d messages", err, c.View.Len())
	}
	_, err = s.Append(t.Context(), userMessage("three"))
	must(t, err)
	if p := s.Problems(); len(p) > 0 {
		t.Errorf("problems: %v", p)
	}
}
