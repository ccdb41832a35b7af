package gateway_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// stats is what all gateways of a fleet counted.
func (f *fleet) stats() transport.Stats {
	var all transport.Stats
	for _, g := range f.gateways {
		s := g.Stats()
		all.Plans += s.Plans
		all.CannotFit += s.CannotFit
		all.Recovered += s.Recovered
		all.Failed += s.Failed
		all.Invalid += s.Invalid
		all.Unreadable += s.Unreadable
		all.StoreFails += s.StoreFails
	}
	return all
}

// TestFleetRealSessions replays real sessions, where they are at hand, through
// three gateways in turn: every request is answered, none refused, and without a
// new plan what is sent only grows. With WINNOW_REPLAY=all it takes each session
// in every dialect, otherwise four of them, each in another one.
func TestFleetRealSessions(t *testing.T) {
	t.Parallel()
	dir := corpus.Dir(t)
	longrun.Only(t, "replays real sessions")
	files, err := corpus.Sessions(filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	server := pgtest.Shared(t)
	everything := os.Getenv("WINNOW_REPLAY") == "all"
	var c counts
	n := 0
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.Size() < 300_000 || info.Size() > 1_500_000 || n >= 4 && !everything {
			continue
		}
		sessions, err := transcript.ReadFile(file, nil)
		if err != nil {
			continue
		}
		i := slices.IndexFunc(sessions, func(s transcript.Session) bool { return s.History.Len() >= 40 })
		if i < 0 {
			continue
		}
		for at, d := range wire.Dialects() {
			if !everything && at != n%len(wire.Dialects()) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", d, filepath.Base(file)), func(t *testing.T) {
				f := newFleetBefore(t, providersim.Options{Seed: 3, Window: window, Count: exactly}, server.Database(t), mate{name: "a"}, mate{name: "b"}, mate{name: "c"})
				p := &replay{d: d, model: models[d], request: plain(sessions[i].Request()), most: 40}
				t.Log(p.through(t, f.urls, func() transport.Stats {
					for to := range f.urls { // what one heard is known to the others
						f.written(to)
					}
					return f.stats()
				}, f.provider, f.got))
				f.add(&c)
			})
		}
		n++
	}
	if n == 0 {
		t.Error("no session was replayed")
	}
	c.refused = 0 // through allows those alone whose floor does not fit
	c.print(t)
}
