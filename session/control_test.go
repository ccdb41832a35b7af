package session_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/session"
)

// TestControl: a session is shown and steered as a gateway's conversation is, and
// what is done is in the store.
func TestControl(t *testing.T) {
	ctx := t.Context()
	store := session.NewMemory()
	o := &session.Options{Settings: winnow.Settings{Window: 16_000}}
	s, err := session.Create(ctx, store, session.Header{Dir: "/work"}, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		answer := chat.TextMessage(chat.Assistant, fmt.Sprintf("Step %d is done; the key is xyzzy-%d.", i, i))
		answer.Usage = &chat.Usage{Input: 200 + 100*i, CacheRead: 100 * i, Output: 9}
		if _, err := s.Append(ctx, chat.TextMessage(chat.User, strings.Repeat(fmt.Sprintf("Look at part %d of the store. ", i), 20)), answer); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := session.Control(store, o)
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	list, err := c.Conversations(ctx, control.List{Words: "xyzzy-3."})
	if err != nil || len(list) != 1 || list[0].Folder != "/work" {
		t.Fatalf("%+v, %v", list, err)
	}
	if d, err := c.Conversation(ctx, list[0].ID); err != nil || d.Totals.Requests != 30 || d.Last == nil {
		t.Fatalf("%+v, %v", d, err)
	}
	if list, err = c.Conversations(ctx, control.List{}); err != nil || len(list) != 1 || list[0].Totals.Requests != 30 {
		t.Fatalf("after somebody looked at it: %+v, %v", list, err)
	}
	id := list[0].ID
	if none, err := c.Conversations(ctx, control.List{Words: "nowhere"}); len(none) != 0 || err != nil {
		t.Errorf("%v, %v", none, err)
	}
	if _, err := c.Compact(ctx, id, control.Compact{Base: control.Base{Plan: "p-other"}}); !errors.As(err, new(*control.ConflictError)) {
		t.Errorf("compact on another plan: %v", err)
	}
	if _, err := c.Pin(ctx, id, control.Mark{Message: 2, Part: -1}); err != nil {
		t.Fatal(err)
	}
	done, err := c.Compact(ctx, id[:13], control.Compact{Focus: "the keys"})
	if err != nil || done.After >= done.Before || done.Plan == "" || done.Conversation.Pins != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	d, err := c.Conversation(ctx, id)
	if err != nil || d.Plan != done.Plan || len(d.Plans) != 1 || d.Plans[0].Focus != "the keys" || !d.Plans[0].InForce || d.Plans[0].Saved != done.Before-done.After {
		t.Fatalf("%+v, %v", d, err)
	}
	for _, r := range d.Requests {
		if r.Kinds.Sum() != r.Tokens || r.Usage == nil {
			t.Fatalf("%+v", r)
		}
	}
	msgs, err := c.Messages(ctx, id, control.Wanted{})
	if err != nil || msgs.Total != 60 || msgs.Messages[2].Shown != "kept" || !msgs.Messages[2].Pinned || msgs.Messages[4].Shown == "kept" {
		t.Fatalf("%+v, %v", msgs.Messages[:6], err)
	}
	patch, err := c.Patch(ctx, d.Plan)
	if err != nil || patch.Saved <= 0 || len(patch.Hunks) < 2 {
		t.Fatalf("%+v, %v", patch, err)
	}
	found, err := c.Find(ctx, id, recall.Query{Words: "xyzzy-3"})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	if p, err := c.Locate(ctx, found.Hits[0].Handle); err != nil || p.Conversation != id {
		t.Errorf("%+v, %v", p, err)
	}

	// Of several who act on one plan at once one succeeds.
	var all sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		all.Go(func() { _, errs[i] = c.Undo(ctx, id, control.Undo{Base: control.Base{Plan: d.Plan}}) })
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.As(err, new(*control.ConflictError)) {
			t.Error(err)
		}
	}
	if d, err = c.Conversation(ctx, id); won != 1 || err != nil || len(d.Plans) != 2 || !d.Plans[0].Undone || d.Plans[1].By != "undo" {
		t.Errorf("%d succeeded; %+v, %v", won, d.Plans, err)
	}
	if ids, err := c.Delete(ctx, id); err != nil || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := c.Conversation(ctx, id); !errors.Is(err, control.ErrUnknown) {
		t.Errorf("after it was deleted: %v", err)
	}
}

// TestForksAreListed: a session tells which others branched off from it.
func TestForksAreListed(t *testing.T) {
	ctx := t.Context()
	store := session.NewMemory()
	o := &session.Options{Settings: winnow.Settings{Window: 16_000}}
	s, err := session.Create(ctx, store, session.Header{}, o)
	must(t, err)
	say(t, s, user("Look at the store."))
	fork, err := s.Fork(ctx, store, "", o)
	must(t, err)
	must(t, fork.Close())
	must(t, s.Close())
	c := session.Control(store, o)
	defer func() { must(t, c.Close()) }()
	if d, err := c.Conversation(ctx, s.ID()); err != nil || len(d.Forks) != 1 || d.Forks[0].ID != fork.ID() {
		t.Errorf("%+v, %v", d, err)
	}
}
