package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/session"
)

// lived returns a store with a session that went on until it was compacted, and
// its view.
func lived(t *testing.T) (control.Source, *session.Session, *session.Options) {
	t.Helper()
	store := session.NewMemory()
	o := &session.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5", Window: 20_000, OutputReserve: 1000}}
	s, err := session.Create(t.Context(), store, session.Header{}, o)
	if err != nil {
		t.Fatal(err)
	}
	v := session.Control(store, o)
	t.Cleanup(func() {
		if err := errors.Join(v.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "Rename total to sum everywhere.")); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		call, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("call_%d", i)
		answer := chat.CallMessage("Reading on.", chat.Call(id, "read_file", fmt.Sprintf(`{"path":"part%d.go"}`, i)))
		answer.Model = "claude-sonnet-4-5"
		usage := chat.Usage{Input: 100, CacheRead: call.Status.Count.Tokens - 100, Output: 20}
		if _, err := s.Answered(t.Context(), answer, usage); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("1\tline of part%d with marker%d\n", i, i), 60))); err != nil {
			t.Fatal(err)
		}
	}
	return v, s, o
}

// TestShowsWhatWasRecorded: requests, compactions and numbers are those of the
// session.
func TestShowsWhatWasRecorded(t *testing.T) {
	v, s, _ := lived(t)
	d, err := v.Conversation(t.Context(), s.ID()[:8])
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Requests) != 40 || d.Messages != st.Messages || st.Compactions == 0 || d.Source != "session" || d.Title == "" {
		t.Fatalf("%d requests, %d messages of %d, %d compactions", len(d.Requests), d.Messages, st.Messages, st.Compactions)
	}
	made := 0
	for i, r := range d.Requests {
		if r.N != i+1 || r.Kinds.Sum() != r.Tokens || r.Tokens > r.Available || r.Usage == nil || r.CacheShare == nil || r.Dollars == nil {
			t.Fatalf("request %+v", r)
		}
		if r.New {
			made++
			if r.Tokens >= d.Requests[i-1].Tokens || r.Saved <= 0 {
				t.Errorf("request %d came with a new plan and has %d tokens after %d", r.N, r.Tokens, d.Requests[i-1].Tokens)
			}
		}
	}
	if made != st.Compactions || len(d.Plans) != st.Compactions {
		t.Errorf("%d requests with new plans and %d plans, the session has %d compactions", made, len(d.Plans), st.Compactions)
	}
	last := d.Plans[len(d.Plans)-1]
	if !last.InForce || last.ID != d.Plan || last.Saved <= 0 || last.Why == "" {
		t.Errorf("the last plan is %+v", last)
	}
	p, err := v.Patch(t.Context(), last.ID)
	if err != nil || p.Saved <= 0 {
		t.Fatalf("%+v %v", p, err)
	}
	found, err := v.Find(t.Context(), s.ID(), recall.Query{Words: "marker1"})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("%+v %v", found, err)
	}
	if page, err := v.Recall(t.Context(), found.Hits[0].Handle, recall.Range{Find: "marker1"}); err != nil || len(page.Lines) == 0 {
		t.Errorf("%+v %v", page, err)
	}
}

// TestActsOnTheSession: what is done is an entry of the session, and another
// writer's action in between is not lost.
func TestActsOnTheSession(t *testing.T) {
	v, s, _ := lived(t)
	d, err := v.Conversation(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	base := control.Base{Plan: d.Plan}
	if _, err := v.Pin(t.Context(), s.ID(), control.Mark{Base: base, Message: 4, Part: -1}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Pin(t.Context(), s.ID(), control.Mark{Base: base, Message: 4, Part: -1}); !errors.Is(err, control.ErrNothing) {
		t.Errorf("pinned twice: %v", err)
	}
	if err := s.Follow(t.Context()); err != nil || len(s.Pins()) != 1 {
		t.Fatalf("the session has the pins %v, %v", s.Pins(), err)
	}
	done, err := v.Undo(t.Context(), s.ID(), control.Undo{Base: base})
	if err != nil || done.After <= done.Before || done.Plan == d.Plan {
		t.Fatalf("%+v %v", done, err)
	}
	var conflict *control.ConflictError
	if _, err := v.Compact(t.Context(), s.ID(), control.Compact{Base: base}); !errors.As(err, &conflict) || conflict.InForce != done.Plan {
		t.Errorf("compact on what was taken back: %v", err)
	}
	again, err := v.Compact(t.Context(), s.ID(), control.Compact{Base: control.Base{Plan: done.Plan}, Focus: "marker7"})
	if err != nil || again.After >= again.Before {
		t.Fatalf("%+v %v", again, err)
	}
	d, err = v.Conversation(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	n := len(d.Plans)
	if d.Plans[n-1].By != "compact" || d.Plans[n-1].Focus != "marker7" || d.Plans[n-2].By != "undo" || !d.Plans[n-3].Undone || d.Next.Do == "now" {
		t.Errorf("%+v\n%+v", d.Plans[n-3:], d.Next)
	}

	// Somebody else goes on with the session: a waiting caller hears of it.
	if err := s.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Answered(t.Context(), chat.TextMessage(chat.Assistant, "Done."), chat.Usage{Input: 5000, Output: 3}); err != nil {
		t.Fatal(err)
	}
	c, err := v.Since(t.Context(), s.ID(), d.Revision)
	if err != nil || len(c.Requests) != 1 || c.Revision <= d.Revision {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := v.Conversation(t.Context(), "nobody"); !errors.Is(err, control.ErrUnknown) {
		t.Errorf("%v", err)
	}
}

// TestRowsCountAsTheSession: each row says of its request what the session said before
// it was sent, though the provider counts a hidden part that no message shows.
func TestRowsCountAsTheSession(t *testing.T) {
	store := session.NewMemory()
	o := &session.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5", Window: 60_000, OutputReserve: 1000}}
	s, err := session.Create(t.Context(), store, session.Header{}, o)
	must(t, err)
	defer s.Close()
	const hidden = 12_000
	var want []int
	for i := range 60 {
		say(t, s, user(strings.Repeat(fmt.Sprintf("question %d about the matter ", i), 150)))
		c, err := s.Next(t.Context())
		must(t, err)
		want = append(want, c.Status.Count.Tokens)
		text := strings.Repeat(fmt.Sprintf("fact %d ", i), 40)
		n := 0
		for k := range c.View.Len() {
			n += len(c.View.At(k).Text())
		}
		_, err = s.Answered(t.Context(), answer(text), chat.Usage{Input: hidden + n/4, Output: len(text) / 4})
		must(t, err)
	}
	v := session.Control(store, o)
	defer v.Close()
	d, err := v.Conversation(t.Context(), s.ID())
	must(t, err)
	if len(d.Requests) != len(want) || len(d.Plans) == 0 {
		t.Fatalf("%d requests and %d plans", len(d.Requests), len(d.Plans))
	}
	for i, r := range d.Requests {
		if r.Tokens != want[i] {
			t.Errorf("request %d has %d tokens, the session said %d", r.N, r.Tokens, want[i])
		}
	}
	again, err := session.Open(t.Context(), store, s.ID(), o)
	must(t, err)
	defer again.Close()
	_, before, err := s.NeedsCompaction()
	must(t, err)
	_, after, err := again.NeedsCompaction()
	must(t, err)
	if before.Tokens != after.Tokens || before.Limits != after.Limits || after.Limits.Fixed < hidden/2 {
		t.Errorf("%+v %+v, opened again %+v %+v", before.Tokens, before.Limits, after.Tokens, after.Limits)
	}
}

// Places lists the same tree as Tree does, with the same branches, without the
// words.
func TestPlaces(t *testing.T) {
	s := create(t, nil)
	ids := turns(t, s, 0, 3, 200)
	_, err := s.Navigate(context.Background(), ids[3], session.NavigateOptions{})
	must(t, err)
	turns(t, s, 3, 2, 200)
	places, items := s.Places(), s.Tree(0, s.Len())
	if len(places) != len(items) {
		t.Fatalf("%d places, %d items", len(places), len(items))
	}
	forks := 0
	for k, p := range places {
		it := items[k]
		parent := ""
		if p.Parent >= 0 {
			parent = places[p.Parent].ID
		}
		if p.ID != it.ID || p.Type != it.Type || p.Children != it.Children || p.OnPath != it.OnPath || p.Leaf != it.Leaf || parent != it.Parent {
			t.Errorf("place %d is %+v after %q, the item is %+v", k, p, parent, it)
		}
		if p.Children > 1 {
			forks++
		}
	}
	if forks != 1 {
		t.Errorf("%d forks, want 1", forks)
	}
}
