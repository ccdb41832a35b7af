package session_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
)

// An agent's loop: a turn begins, the model is asked, its answer is kept, the
// turn ends. Compaction happens on the way when it is due.
func Example() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "sessions")
	defer os.RemoveAll(dir)
	store, _ := jsonl.Open(dir, nil)

	s, err := session.Create(ctx, store, session.Header{ID: "demo"}, &session.Options{
		Settings: winnow.Settings{Model: "claude-sonnet-4-5"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s.Begin()
	s.Append(ctx, chat.TextMessage(chat.User, "What is in main.go?"))
	call, _ := s.Next(ctx)
	fmt.Println("to send:", len(call.Messages), "message")
	s.Answered(ctx, chat.TextMessage(chat.Assistant, "A main function."), chat.Usage{Input: 15, Output: 6})
	s.End(ctx)
	s.Close()

	again, _ := session.Open(ctx, store, "demo", nil)
	defer again.Close()
	c, _ := again.Context()
	fmt.Println("after a restart:", c.View.Len(), "messages")
	// Output:
	// to send: 1 message
	// after a restart: 2 messages
}

// A compaction is an entry, and can be taken back.
func ExampleSession_Rewind() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "sessions")
	defer os.RemoveAll(dir)
	store, _ := jsonl.Open(dir, nil)
	s, _ := session.Create(ctx, store, session.Header{ID: "demo"}, &session.Options{Settings: sessiontest.Settings()})
	defer s.Close()
	for i := range 12 {
		s.Append(ctx, sessiontest.Turn(i, 2500)...)
	}
	before, _ := s.Context()
	compacted, err := s.Compact(ctx, "what was fixed")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("smaller:", compacted.After.Count.Tokens < compacted.Before.Count.Tokens)
	s.Rewind(ctx, compacted.Entry.ID)
	after, _ := s.Context()
	fmt.Println("all there again:", after.View.Len() == before.View.Len())
	// Output:
	// smaller: true
	// all there again: true
}

// Moving to an earlier message of the user gives its text back; the branch that
// is left stays, and a summary of it goes along.
func ExampleSession_Navigate() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "sessions")
	defer os.RemoveAll(dir)
	store, _ := jsonl.Open(dir, nil)
	s, _ := session.Create(ctx, store, session.Header{ID: "demo"}, nil)
	defer s.Close()
	s.Append(ctx, chat.TextMessage(chat.User, "Hello."), chat.TextMessage(chat.Assistant, "Hello!"))
	ids, _ := s.Append(ctx, chat.TextMessage(chat.User, "Use a map."), chat.TextMessage(chat.Assistant, "Done, with a map."))
	moved, err := s.Navigate(ctx, ids[0], session.NavigateOptions{Summarise: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(moved.Text)
	fmt.Println(strings.Contains(moved.Summary.Branch.Summary, "with a map"))
	// Output:
	// Use a map.
	// true
}
