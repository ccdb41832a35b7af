package loop_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/loop"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/llm"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/stage"
)

// deadline is how long anything is waited for: long, for busy machines.
const deadline = 2 * time.Minute

// screen is a UI that remembers.
type screen struct {
	confirm func(context.Context, tools.Action) (loop.Reply, error)

	mu      sync.Mutex
	events  []loop.Event
	changed chan struct{}
	trees   int
	meters  []budget.Status
}

func newScreen() *screen { return &screen{changed: make(chan struct{})} }

func (u *screen) Event(e loop.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.events = append(u.events, e)
	close(u.changed)
	u.changed = make(chan struct{})
}

func (u *screen) Confirm(ctx context.Context, q tools.Action) (loop.Reply, error) {
	u.Event(loop.Event{Kind: "confirm", Title: q.Title})
	if u.confirm == nil {
		return loop.Yes, nil
	}
	return u.confirm(ctx, q)
}

func (u *screen) Tree(context.Context, *session.Session) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.trees++
	return nil
}

func (u *screen) Meter(_ session.Context, st budget.Status, _ int) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.meters = append(u.meters, st)
	return nil
}

// all returns what happened so far.
func (u *screen) all() []loop.Event {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]loop.Event(nil), u.events...)
}

// text is what happened in words, for messages.
func (u *screen) text() string {
	var b strings.Builder
	for _, e := range u.all() {
		if e.Kind != loop.Words {
			fmt.Fprintf(&b, "%s %s %.120q\n", e.Kind, e.Title, e.Text)
		}
	}
	return b.String()
}

// wait waits for an event.
func (u *screen) wait(t testing.TB, what string, ok func(loop.Event) bool) loop.Event {
	t.Helper()
	end := time.After(deadline)
	for {
		u.mu.Lock()
		changed := u.changed
		for _, e := range u.events {
			if ok(e) {
				u.mu.Unlock()
				return e
			}
		}
		u.mu.Unlock()
		select {
		case <-changed:
		case <-end:
			t.Fatalf("waited for %s in vain:\n%s", what, u.text())
		}
	}
}

func (u *screen) waitFor(t testing.TB, k loop.Kind) loop.Event {
	t.Helper()
	return u.wait(t, string(k), func(e loop.Event) bool { return e.Kind == k })
}

func (u *screen) count(k loop.Kind) int {
	n := 0
	for _, e := range u.all() {
		if e.Kind == k {
			n++
		}
	}
	return n
}

// has reports whether some event of a kind has this in its text.
func (u *screen) has(k loop.Kind, text string) bool {
	for _, e := range u.all() {
		if e.Kind == k && strings.Contains(e.Text, text) {
			return true
		}
	}
	return false
}

// bench is everything that a conversation is made of.
type bench struct {
	t       testing.TB
	ui      *screen
	sim     *providersim.Server
	url     string
	store   session.Store
	options session.Options
	box     *tools.Box
	dir     string
	auto    bool
	set     loop.Options

	mu     sync.Mutex
	models []string // that were asked for
}

// newBench starts a simulator on a local port and makes a store.
func newBench(t testing.TB, o providersim.Options) *bench {
	t.Helper()
	b := &bench{t: t, ui: newScreen(), sim: providersim.New(o), dir: t.TempDir(), auto: true}
	srv := httptest.NewServer(b.sim.Handler())
	t.Cleanup(func() {
		b.sim.Close()
		srv.Close()
	})
	b.url = srv.URL
	store, err := jsonl.Open(filepath.Join(t.TempDir(), "sessions"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	b.store = store
	b.write("a.txt", "alpha\n")
	b.write("b.txt", "beta\n")
	b.box, err = tools.New(tools.Options{Dir: b.dir, Limit: func() stage.OutputLimit { return stage.OutputLimit{Bytes: 20_000} }})
	if err != nil {
		t.Fatal(err)
	}
	b.options = session.Options{
		Settings: winnow.Settings{Model: "gpt-4.1", Window: 20_000}, Tools: b.box.Defs(),
		System: []chat.Part{{Kind: chat.Text, Text: "You are an agent."}},
	}
	return b
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// Model returns a client of the simulator that speaks the named dialect.
func (b *bench) Model(_ context.Context, name string) (loop.Model, string, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.models = append(b.models, name)
	base := b.url
	if strings.HasPrefix(name, "openai") {
		base += "/v1"
	}
	c, err := llm.New(name, &llm.Options{Key: "k-123456", BaseURL: base, Retries: -1, Timeout: deadline, Getenv: func(string) string { return "" }})
	if err != nil {
		return nil, "", "", err
	}
	return c, c.Provider(), c.Name(), nil
}

func (b *bench) Create(ctx context.Context) (*session.Session, error) {
	o := b.options
	return session.Create(ctx, b.store, session.Header{Dir: b.dir}, &o)
}

func (b *bench) Resume(ctx context.Context, id string) (*session.Session, error) {
	o := b.options
	return session.Open(ctx, b.store, id, &o)
}

func (b *bench) Auto() bool { return b.auto }

// driver starts a conversation.
func (b *bench) driver(model string) *loop.Driver {
	b.t.Helper()
	s, err := b.Create(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return b.drive(s, model)
}

func (b *bench) drive(s *session.Session, model string) *loop.Driver {
	b.t.Helper()
	d, err := loop.NewDriver(b.t.Context(), b, b.ui, b.box, s, model, b.set)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { d.Close() })
	return d
}

// say submits a line and waits until all is done.
func (b *bench) say(d *loop.Driver, line string) error {
	b.t.Helper()
	d.Submit(line)
	ctx, cancel := context.WithTimeout(b.t.Context(), deadline)
	defer cancel()
	err := d.Wait(ctx)
	if ctx.Err() != nil {
		b.t.Fatalf("%q is never done:\n%s", line, b.ui.text())
	}
	return err
}

// rest waits until all is done, whatever came of it.
func (b *bench) rest(d *loop.Driver) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), deadline)
	defer cancel()
	_ = d.Wait(ctx) // an interrupted turn has its error
	if ctx.Err() != nil {
		b.t.Fatalf("it is never done:\n%s", b.ui.text())
	}
}

// must is say without an error.
func (b *bench) must(d *loop.Driver, line string) {
	b.t.Helper()
	if err := b.say(d, line); err != nil {
		b.t.Fatalf("%q: %v\n%s", line, err, b.ui.text())
	}
}

// whole checks that a session's history is one that every provider accepts.
func whole(t testing.TB, s *session.Session) chat.History {
	t.Helper()
	c, err := s.Context()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range chat.AllDialects().Check(c.Request.History) {
		t.Errorf("the history breaks %s at %d: %s", p.Rule, p.At, p.Message)
	}
	for _, p := range s.Problems() {
		t.Errorf("the tree is broken at %s: %s", p.Entry, p.What)
	}
	return c.Request.History
}

// story writes a history as words, one message a line.
func story(h chat.History) string {
	var b strings.Builder
	for _, m := range h.All() {
		fmt.Fprintf(&b, "%s:", m.Role)
		for _, p := range m.Parts {
			switch p.Kind {
			case chat.ToolCall:
				b.WriteString(" call " + p.Name)
			case chat.ToolResult:
				fmt.Fprintf(&b, " result %.60q", p.Text)
			default:
				fmt.Fprintf(&b, " %.60q", p.Text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// steps is an agent that gives one answer after the other; the last one stays.
func steps(answers ...[]providersim.Block) func(*providersim.Ask) []providersim.Block {
	var mu sync.Mutex
	at := 0
	return func(*providersim.Ask) []providersim.Block {
		mu.Lock()
		defer mu.Unlock()
		a := answers[min(at, len(answers)-1)]
		at++
		return a
	}
}

func text(s string) []providersim.Block {
	return []providersim.Block{{Kind: providersim.Text, Text: s}}
}

func calls(list ...string) []providersim.Block {
	var out []providersim.Block
	for i := 0; i+1 < len(list); i += 2 {
		out = append(out, providersim.Block{Kind: providersim.Call, Name: list[i], Args: list[i+1]})
	}
	return out
}
