// Command store keeps a conversation in a database. It is on the disk after every
// answer, so a crash loses nothing, and the next run goes on with it.
//
//	go run ./examples/store sessions.db
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/sqlite"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: store DATABASE")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, path string) error {
	store, err := sqlite.Open(path, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	o := &session.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5"}}
	s, err := session.Open(ctx, store, "build", o)
	if errors.Is(err, session.ErrNotFound) {
		s, err = session.Create(ctx, store, session.Header{ID: "build"}, o)
	}
	if err != nil {
		return err
	}
	defer s.Close()

	s.Begin() // a turn starts
	if _, err := s.Append(ctx, chat.TextMessage(chat.User, "Which build is the slowest?")); err != nil {
		return err
	}
	call, err := s.Next(ctx) // compacts where that is due
	if err != nil {
		return err
	}
	fmt.Println("the model would see", len(call.Messages), "messages")
	if _, err := s.Answered(ctx, chat.TextMessage(chat.Assistant, "The third."), chat.Usage{}); err != nil {
		return err
	}
	_, err = s.End(ctx)
	return err
}
