package gateway_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
	"github.com/winnow-llm/winnow/wire"
	"go.opentelemetry.io/otel/trace"
)

// fleet is gateways that share a database.
type fleet struct {
	t        *testing.T
	urls     []string
	gateways []*gateway.Gateway
	stores   []planstore.Owner
	provider *providersim.Server
	got      *simtest.Bodies
	log      *locked
}

// mate is how a gateway of a fleet differs from the others: its clock, what its
// rewrites aim at, its name, who is told of its spans, and how long it waits for a
// database that does not answer.
type mate struct {
	skew    time.Duration
	target  float64
	name    string
	now     func() time.Time // default time.Now
	tracer  trace.TracerProvider
	timeout time.Duration // default as long as a busy machine may take
	way     string        // to the database, where it is another than that of the fleet
}

// newFleet starts gateways.
func newFleet(t *testing.T, database string, mates ...mate) *fleet {
	t.Helper()
	return newFleetBefore(t, providersim.Options{Seed: 3, Window: window}, database, mates...)
}

// newFleetBefore starts gateways before a provider of that kind.
func newFleetBefore(t *testing.T, provider providersim.Options, database string, mates ...mate) *fleet {
	t.Helper()
	f := &fleet{t: t, log: &locked{}}
	var upstream string
	f.provider, upstream, f.got = simtest.Start(t, provider)
	for _, m := range mates {
		now := func() time.Time { return time.Now().Add(m.skew) }
		if m.now != nil {
			now = m.now
		}
		log := slog.New(slog.NewTextHandler(f.log, nil))
		store, err := postgres.Open(t.Context(), cmp.Or(m.way, database), &postgres.Options{Conns: 4, Timeout: cmp.Or(m.timeout, time.Minute), Local: now, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		g, url := start(t, gateway.Options{
			Upstreams: everywhere(upstream), Log: log, Tracer: m.tracer,
			Transport: transport.Options{Store: store, Now: now, Name: m.name, Settings: winnow.Settings{Window: window, Target: m.target}},
		})
		t.Cleanup(func() { _ = store.Close() })
		f.urls, f.gateways, f.stores = append(f.urls, url), append(f.gateways, g), append(f.stores, store)
	}
	return f
}

// talk is a conversation whose requests go to one gateway after the other.
type talk struct {
	c       *agentclient.Client
	turn, n int
	open    bool
	plan    string
	before  string
	plans   int
	ids     []string // of the plans under which it was answered
}

func (f *fleet) talk(d wire.Dialect, stream, plain bool) *talk {
	return &talk{c: &agentclient.Client{Dialect: d, Stream: stream, Plain: plain, Result: agentclient.Output, Header: http.Header{"Authorization": {"Bearer one"}}}}
}

// step sends a conversation's next request to a gateway. Unless there is another
// plan, the request sent extends the one before, byte for byte.
func (f *fleet) step(k *talk, to int) *agentclient.Answer {
	f.t.Helper()
	if !k.open {
		k.turn++
		k.c.Say(agentclient.Question(k.turn))
		k.open = true
	}
	k.n++
	k.c.URL = f.urls[to]
	a, err := k.c.Step(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	if a.Status != http.StatusOK {
		return a
	}
	k.open = a.Calls > 0
	now := simtest.Span(f.t, f.got.Last())
	if plan := a.Header.Get(transport.HeaderPlan); plan != k.plan {
		k.plan = plan
		k.plans++
		k.ids = append(k.ids, plan)
	} else if !strings.HasPrefix(now, k.before) {
		f.t.Fatalf("request %d is sent otherwise by gateway %d than the one before, from %d of %d on, under the same plan", k.n, to, differ(k.before, now), len(k.before))
	}
	k.before = now
	return a
}

func (f *fleet) must(k *talk, to int) {
	f.t.Helper()
	if a := f.step(k, to); a.Status != http.StatusOK {
		f.t.Fatalf("%d %s", a.Status, a.Raw)
	}
}

// until goes on with a conversation at a gateway until it has a plan, and then
// until the condition holds.
func (f *fleet) until(k *talk, to int, ok func() bool) {
	f.t.Helper()
	for range 200 {
		f.must(k, to)
		if k.plan != "" && ok() {
			return
		}
	}
	f.t.Fatal("that never came")
}

// written waits until the others can read what a gateway heard: an agent takes
// longer for its next request than a gateway to write that down.
func (f *fleet) written(to int) {
	f.t.Helper()
	eventually(f.t, "marks", func() bool {
		_, text := get(f.t, f.urls[to]+"/metrics")
		return strings.Contains(text, "winnow_store_marks_waiting 0\n")
	})
}

// counts is what a test did and what came of it; scripts/fleet adds up what tests
// print of it.
type counts struct{ requests, kills, restarts, partitions, conflicts, provisional, comeAgain, lost, mixed, refused int }

func (c counts) print(t *testing.T) {
	t.Helper()
	t.Logf("counts: requests %d, kills of gateways %d, restarts of PostgreSQL %d, partitions %d, conflicts %d, provisional plans %d, asked to come again %d, lost %d, mixed %d, refused %d",
		c.requests, c.kills, c.restarts, c.partitions, c.conflicts, c.provisional, c.comeAgain, c.lost, c.mixed, c.refused)
}

// add adds what gateways counted.
func (f *fleet) add(c *counts) {
	for _, g := range f.gateways {
		s := g.Stats()
		c.requests += int(s.Requests)
		c.conflicts += int(s.Conflicts)
		c.provisional += int(s.Provisional)
		c.comeAgain += int(s.Unavailable)
	}
	c.refused += f.provider.Report().Refused
}

// quiet expects that nothing was refused and nothing failed.
func (f *fleet) quiet() {
	f.t.Helper()
	if n := f.provider.Report().Refused; n > 0 {
		f.t.Errorf("refused: %v", f.provider.Report().RefusedBy)
	}
	for i, g := range f.gateways {
		if s := g.Stats(); s.Failed+s.Invalid+s.Unreadable+s.StoreFails > 0 {
			f.t.Errorf("gateway %d: %+v", i, s)
		}
	}
}

// TestFleet sends conversations in all dialects through three gateways in turn,
// whose clocks differ by hours: all is answered, nothing refused, and between
// rewrites the provider sees bytes that only grow. Plans are as many as with one
// gateway: none of the others takes the time since it last saw a conversation
// for a pause.
func TestFleet(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	for _, d := range wire.Dialects() {
		for _, stream := range []bool{d == wire.Anthropic || d == wire.Responses} {
			t.Run(fmt.Sprintf("%s/%v", d, stream), func(t *testing.T) {
				t.Parallel() // they mostly wait for marks
				plans := make([]int, 2)
				var c counts
				for i, mates := range [][]mate{{{}}, {{}, {skew: 3 * time.Hour}, {skew: -5 * time.Hour}}} {
					f := newFleet(t, server.Database(t), mates...)
					k := f.talk(d, stream, false)
					for n := range 40 {
						f.must(k, n%len(f.urls))
						if len(mates) > 1 {
							f.written(n % len(f.urls))
						}
					}
					f.quiet()
					plans[i] = k.plans
					f.add(&c)
				}
				if plans[0] < 2 || plans[1] != plans[0] {
					t.Errorf("plans with one gateway and with three: %v", plans)
				}
				c.print(t)
			})
		}
	}
}

// TestFleetSameMoment has two gateways plan the same messages at the same moment,
// over and over: both send the same bytes. WINNOW_RACES says how often.
func TestFleetSameMoment(t *testing.T) {
	t.Parallel()
	races := 40
	if v, err := strconv.Atoi(os.Getenv("WINNOW_RACES")); err == nil {
		races = v
	}
	f := newFleet(t, pgtest.Shared(t).Database(t), mate{}, mate{target: 0.4}) // so their plans differ
	k := f.talk(wire.OpenAI, false, true)
	f.until(k, 0, func() bool { return true })
	body := string(k.c.Body())
	mixed := 0
	for n := range races {
		// Another conversation each time: its first message is its own.
		mine := strings.Replace(body, agentclient.Question(1), fmt.Sprint("Number ", n, ". ", agentclient.Question(1)), 1)
		if mine == body {
			t.Fatal("the first question is not there")
		}
		f.got.Take()
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for _, url := range f.urls {
			wg.Go(func() {
				<-begin
				if resp, text := ask(t, http.MethodPost, url+k.c.Path(), mine, "Authorization", "Bearer one"); resp.StatusCode != http.StatusOK {
					t.Error(resp.Status, text)
				}
			})
		}
		close(begin)
		wg.Wait()
		sent := f.got.Take()
		if len(sent) != 2 || string(sent[0].Body) != string(sent[1].Body) {
			mixed++
		}
		if len(sent[0].Body) >= len(mine) {
			t.Fatal("no plan was needed")
		}
	}
	conflicts := f.gateways[0].Stats().Conflicts + f.gateways[1].Stats().Conflicts
	if mixed > 0 || conflicts == 0 {
		t.Errorf("%d conflicts", conflicts)
		t.Errorf("%d of %d were sent with different bytes", mixed, races)
	}
	f.quiet()
	c := counts{mixed: mixed}
	f.add(&c)
	c.print(t)
}

// locked is a text that several write to.
type locked struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}
