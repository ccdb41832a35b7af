package loop_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/loop"
	"github.com/winnow-llm/winnow/internal/app/loop/simmodel"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/session/sqlite"
)

// childVariable makes the test binary a program that talks until it is killed.
const childVariable = "LOOP_TEST_STORE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// printer is a UI that prints events.
type printer struct{ *screen }

func (printer) Event(e loop.Event) {
	if e.Kind != loop.Words {
		_ = json.NewEncoder(os.Stdout).Encode(e)
	}
}

func (printer) Confirm(context.Context, tools.Action) (loop.Reply, error) { return loop.Yes, nil }

// host is a host of the simulated model.
type host struct {
	store   session.Store
	options session.Options
}

func (h *host) Model(context.Context, string) (loop.Model, string, string, error) {
	m, _, err := simmodel.New(0, 0, time.Millisecond)
	return m, "sim", "sim", err
}

func (h *host) Create(ctx context.Context) (*session.Session, error) {
	o := h.options
	return session.Create(ctx, h.store, session.Header{}, &o)
}

func (h *host) Resume(ctx context.Context, id string) (*session.Session, error) {
	o := h.options
	return session.Open(ctx, h.store, id, &o)
}

func (h *host) Sessions(ctx context.Context, n int) ([]session.Info, error) {
	return h.store.List(ctx, 0, n)
}
func (h *host) Auto() bool { return true }

func openHost(path string) (*host, *tools.Box, error) {
	var store session.Store
	var err error
	if strings.HasSuffix(path, ".db") {
		store, err = sqlite.Open(path, nil)
	} else {
		store, err = jsonl.Open(path, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	box, err := tools.New(tools.Options{Dir: "."})
	if err != nil {
		return nil, nil, err
	}
	return &host{store, session.Options{Settings: winnow.Settings{Window: simmodel.Window}, Tools: box.Defs()}}, box, nil
}

// resume opens the newest session of a host, or makes one.
func resume(ctx context.Context, h *host) (*session.Session, error) {
	list, err := h.Sessions(ctx, 1)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return h.Create(ctx)
	}
	return h.Resume(ctx, list[0].ID)
}

// child talks for ever.
func child(path string) error {
	ctx := context.Background()
	h, box, err := openHost(path)
	if err != nil {
		return err
	}
	s, err := resume(ctx, h)
	if err != nil {
		return err
	}
	d, err := loop.NewDriver(ctx, h, printer{newScreen()}, box, s, "sim", loop.Options{})
	if err != nil {
		return err
	}
	for i := range 200 {
		d.Submit(fmt.Sprintf("What about part %d? Run something if you must.", i))
		if err := d.Wait(ctx); err != nil {
			return err
		}
	}
	return d.Close()
}

// A process that is killed at any moment leaves a session that opens, is whole
// after Settle, holds every message that was acknowledged, and goes on.
func TestKill(t *testing.T) {
	kills := 6
	if !longrun.Asked() {
		kills = 2
	}
	for _, name := range []string{"sessions", "sessions.db"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			said := 0 // turns whose first event was seen
			for round := range kills {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), childVariable+"="+path)
				cmd.Stderr = os.Stderr
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				// The n-th event of some kind, another in every round.
				at := []loop.Kind{loop.Called, loop.Asked, loop.Answered, loop.Returned, loop.Compacted, loop.Filled}[round%6]
				n := 0
				dec := json.NewDecoder(bufio.NewReader(out))
				for n < 2 {
					var e loop.Event
					if err := dec.Decode(&e); err != nil {
						t.Fatalf("round %d: the process ended: %v", round, err)
					}
					if e.Kind == loop.Asked {
						said++
					}
					if e.Kind == at {
						n++
					}
				}
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				for { // events from before it died count too
					var e loop.Event
					if dec.Decode(&e) != nil {
						break
					}
					if e.Kind == loop.Asked {
						said++
					}
				}
				_ = cmd.Wait() // it was killed
				checkAfterKill(t, path, said)
			}
		})
	}
}

func checkAfterKill(t *testing.T, path string, said int) {
	t.Helper()
	h, box, err := openHost(path)
	if err != nil {
		t.Fatal(err)
	}
	defer h.store.Close()
	s, err := resume(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	ui := newScreen()
	d, err := loop.NewDriver(t.Context(), h, ui, box, s, "sim", loop.Options{Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	users := 0
	for _, m := range whole(t, s).All() {
		if m.StartsTurn() && strings.HasPrefix(m.Text(), "What about") {
			users++
		}
	}
	if users < said {
		t.Errorf("%d messages were acknowledged, %d are there", said, users)
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	d.Submit("Are you there?")
	if err := d.Wait(ctx); err != nil {
		t.Fatalf("it does not go on: %v\n%s", err, ui.text())
	}
	whole(t, s)
}
