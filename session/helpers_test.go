package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/summary"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func store(t testing.TB) session.Store {
	t.Helper()
	s, err := jsonl.Open(t.TempDir(), nil)
	must(t, err)
	return s
}

func create(t testing.TB, o *session.Options) *session.Session {
	t.Helper()
	if o == nil {
		o = &session.Options{}
	}
	stages := o.Settings.Stages
	o.Settings = sessiontest.Settings()
	o.Settings.Stages = stages
	s, err := session.Create(context.Background(), store(t), session.Header{Dir: "/project"}, o)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func say(t testing.TB, s *session.Session, msgs ...chat.Message) []string {
	t.Helper()
	ids, err := s.Append(context.Background(), msgs...)
	must(t, err)
	return ids
}

func user(text string) chat.Message   { return chat.TextMessage(chat.User, text) }
func answer(text string) chat.Message { return chat.TextMessage(chat.Assistant, text) }

// turns appends numbered turns of about size bytes each.
func turns(t testing.TB, s *session.Session, from, n, size int) []string {
	t.Helper()
	var all []string
	for i := from; i < from+n; i++ {
		all = append(all, say(t, s, sessiontest.Turn(i, size)...)...)
	}
	return all
}

// seen returns what the model sees as text that can be compared.
func seen(t testing.TB, s *session.Session) string { return sessiontest.View(t, s) }

// words returns the texts that the model sees.
func words(t testing.TB, s *session.Session) string {
	t.Helper()
	c, err := s.Context()
	must(t, err)
	var out []string
	for i := range c.View.Len() {
		out = append(out, c.View.At(i).Text())
	}
	return strings.Join(out, "|")
}

// folding are settings under which every compaction is a fold.
func folding() winnow.Settings {
	return winnow.Settings{Systems: winnow.Systems{Stages: []string{"fold"}}}
}

// slow is a summariser that waits until it is told to go on.
type slow struct {
	started, goOn chan struct{}
}

func newSlow() *slow { return &slow{make(chan struct{}, 10), make(chan struct{})} }

func (s *slow) Summarize(ctx context.Context, in summary.Input) (summary.Output, error) {
	s.started <- struct{}{}
	select {
	case <-s.goOn:
	case <-ctx.Done():
		return summary.Output{}, ctx.Err()
	}
	return summary.Builtin().Summarize(ctx, in)
}

func openFile(path string) (session.Log, error) { return jsonl.OpenFile(path, nil) }
