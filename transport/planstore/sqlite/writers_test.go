package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// between is a store between whose calls somebody else may act: the hook runs
// before each call that reads or changes what is in force.
type between struct {
	planstore.Store
	hook func()
}

func (b *between) Leaves(ctx context.Context, k planstore.Key) ([]planstore.Conversation, []planstore.Pin, error) {
	b.hook()
	return b.Store.Leaves(ctx, k)
}

func (b *between) Heads(ctx context.Context, k planstore.Key) ([]planstore.Head, error) {
	b.hook()
	return b.Store.Heads(ctx, k)
}

func (b *between) Settle(ctx context.Context, c planstore.Conversation, h chat.History, base plan.ID, p *plan.Plan, info control.PlanInfo) (*plan.Plan, error) {
	b.hook()
	return b.Store.Settle(ctx, c, h, base, p, info)
}

func (b *between) Act(ctx context.Context, c planstore.Conversation, base plan.ID, p *plan.Plan, info control.PlanInfo, pin *planstore.Pin) error {
	b.hook()
	return b.Store.Act(ctx, c, base, p, info, pin)
}

// writers are two transports on one store, an agent whose requests go to either of
// them, and a person who steers it through either.
type writers struct {
	t     *testing.T
	r     *rand.Rand
	store planstore.Store
	both  [2]*transport.Transport
	depth int

	key     planstore.Key
	history []string // messages as JSON

	forced  map[plan.ID]bool // plans that were in force since the request began
	counts  map[string]int
	sending bool
}

// RoundTrip is the provider: it compares the forwarded request with the plans that
// were in force while it was on its way.
func (w *writers) RoundTrip(req *http.Request) (*http.Response, error) {
	out, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	w.watch()
	body, err := wire.Parse(wire.OpenAI, []byte(w.body()))
	if err != nil {
		return nil, err
	}
	h := body.Request().History
	ok := false
	for id := range w.forced {
		var p *plan.Plan
		if id != "" {
			k, err := w.store.ByID(req.Context(), tester, id)
			if err != nil {
				continue
			}
			if p, err = storetest.At(req.Context(), w.store, k.Key, k.Plan.Prefix); err != nil || p.ID() != id {
				continue // it was replaced
			}
		}
		v, err := plan.Apply(h, p)
		if err != nil {
			continue
		}
		want, err := body.Encode(v)
		if err == nil && bytes.Equal(want, out) {
			ok = true
		}
	}
	if !ok {
		w.t.Errorf("what was forwarded is that of none of the plans that were in force: %v", w.forced)
	}
	answer := fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":"done %d"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":3}}`, len(w.history), len(out)/4)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: req}, nil
}

func (w *writers) body() string {
	return `{"model":"gpt-4.1","messages":[` + strings.Join(w.history, ",") + `]}`
}

// watch notes which plan is in force now.
func (w *writers) watch() {
	if w.key == (planstore.Key{}) {
		w.forced[""] = true
		return
	}
	leaves, _, err := w.store.Leaves(w.t.Context(), w.key)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(leaves) == 0 {
		w.forced[""] = true
	}
	for _, l := range leaves {
		w.forced[l.Plan] = true
	}
}

// request sends the next request through one of the writers.
func (w *writers) request(i int) {
	long := strings.Repeat(fmt.Sprintf("line %d of the output of step %d; ", w.r.IntN(1000), len(w.history)), 10+w.r.IntN(60))
	if len(w.history) > 0 {
		w.history = append(w.history, fmt.Sprintf(`{"role":"assistant","content":"done %d"}`, len(w.history)))
	}
	w.history = append(w.history, fmt.Sprintf(`{"role":"user","content":%q}`, long))
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://provider.test/v1/chat/completions", strings.NewReader(w.body()))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer x")
	w.sending, w.forced = true, make(map[plan.ID]bool)
	w.watch()
	resp, err := w.both[i].RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	w.sending = false
	w.counts["request"]++
	w.depth++
	if _, err := w.both[i].Control(tester).Conversations(w.t.Context(), control.List{}); err != nil { // it is recorded now
		w.t.Fatal(err)
	}
	w.depth--
	all, err := w.store.Conversations(w.t.Context(), tester, "", 2)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(all) > 1 {
		w.t.Fatalf("there are %d conversations", len(all))
	}
	if len(all) == 1 {
		w.key = all[0].Key
	}
}

// act does something to the conversation through one of the writers, based on
// what that one shows, and checks that it is in force then.
func (w *writers) act(i int) {
	s := w.both[i].Control(tester)
	ctx := w.t.Context()
	list, err := s.Conversations(ctx, control.List{})
	if err != nil || len(list) == 0 {
		return
	}
	c := list[0]
	base := control.Base{Plan: c.Plan}
	var done *control.Done
	what := []string{"undo", "compact", "pin", "unpin"}[w.r.IntN(4)]
	switch mark := (control.Mark{Base: base, Message: w.r.IntN(max(1, c.Messages)), Part: -1}); what {
	case "undo":
		done, err = s.Undo(ctx, c.ID, control.Undo{Base: base})
	case "compact":
		done, err = s.Compact(ctx, c.ID, control.Compact{Base: base, Focus: []string{"", "the tests"}[w.r.IntN(2)]})
	case "pin":
		done, err = s.Pin(ctx, c.ID, mark)
	case "unpin":
		done, err = s.Unpin(ctx, c.ID, mark)
	}
	var conflict *control.ConflictError
	switch {
	case errors.As(err, &conflict):
		w.counts["conflict"]++
		if conflict.InForce == base.Plan {
			w.t.Errorf("%s: a conflict with what it is based on", what)
		}
	case errors.Is(err, control.ErrNothing), errors.Is(err, control.ErrGone), errors.Is(err, control.ErrInvalid):
		w.counts["nothing"]++
	case err != nil:
		w.t.Errorf("%s: %v", what, err)
	default:
		w.counts[what]++
		settled, err := w.store.Settled(ctx, tester, c.ID)
		if err != nil || done.Plan != base.Plan && !slices.ContainsFunc(settled, func(p control.PlanInfo) bool { return p.ID == done.Plan }) {
			w.t.Errorf("%s: plan %s never came into force; %v", what, done.Plan, err)
		}
		if w.sending {
			w.watch()
			w.forced[done.Plan] = true
		}
	}
}

// unbroken checks that each plan that came into force grew from the one before:
// then none of them, and no action, was lost to another.
func (w *writers) unbroken() {
	all, err := w.store.Conversations(w.t.Context(), tester, "", 2)
	if err != nil || len(all) != 1 {
		w.t.Fatalf("%v, %v", all, err)
	}
	settled, err := w.store.Settled(w.t.Context(), tester, all[0].ID)
	if err != nil {
		w.t.Fatal(err)
	}
	var was plan.ID
	for i, p := range settled {
		if p.Parent != was {
			w.t.Errorf("plan %d, %s by %s, grew from %q, and %q was in force", i, p.ID, p.By, p.Parent, was)
		}
		was = p.ID
	}
	if was != all[0].Plan {
		w.t.Errorf("in force is %s, and %s came last", all[0].Plan, was)
	}
}

func newWriters(t *testing.T, seed uint64, store planstore.Store, beside planstore.Store) *writers {
	w := &writers{t: t, r: rand.New(rand.NewPCG(seed+randhist.FirstSeed, 7)), store: store, counts: make(map[string]int), forced: make(map[plan.ID]bool)}
	for i, s := range []planstore.Store{store, beside} {
		hook := func() {
			if w.depth > 0 || w.r.IntN(6) > 0 {
				return
			}
			w.depth++
			w.act(w.r.IntN(2))
			w.depth--
		}
		tr, err := transport.New(&transport.Options{
			Settings: winnow.Settings{Window: 8000, Threshold: 0.8}, Store: &between{s, hook}, Base: w, Tenant: testerOf,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tr.Close)
		w.both[i] = tr
	}
	return w
}

// TestTwoWriters: an agent's requests go to two gateways on one store while
// somebody takes plans back, pins, unpins and compacts through either, between
// any two of their steps. Whatever the order, what is forwarded is the request
// under a plan that was in force meanwhile, and no action is lost.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	steps, files := 10_000, 400
	if !longrun.Asked() {
		steps, files = 600, 60
	}
	run := func(t *testing.T, steps int, open func(t *testing.T) (a, b planstore.Store)) {
		total := make(map[string]int)
		for seed := uint64(1); total["step"] < steps; seed++ {
			a, b := open(t)
			w := newWriters(t, seed, a, b)
			for range 40 {
				if w.r.IntN(3) > 0 {
					w.request(w.r.IntN(2))
				} else {
					w.act(w.r.IntN(2))
				}
				total["step"]++
			}
			for k, n := range w.counts {
				total[k] += n
			}
			w.unbroken()
			if t.Failed() {
				t.Fatalf("seed %d: %v", seed, w.counts)
			}
		}
		for _, k := range []string{"request", "undo", "compact", "pin", "unpin", "conflict"} {
			if total[k] == 0 && (k != "conflict" && k != "unpin" || steps > 400) { // few steps may have none
				t.Errorf("there was no %s: %v", k, total)
			}
		}
		t.Log(total)
	}
	t.Run("memory", func(t *testing.T) {
		run(t, steps, func(*testing.T) (a, b planstore.Store) {
			m := planstore.NewMemory(planstore.Bounds{})
			return m, m
		})
	})
	t.Run("file", func(t *testing.T) {
		run(t, files, func(t *testing.T) (a, b planstore.Store) {
			path := filepath.Join(t.TempDir(), "plans.db")
			var both [2]planstore.Store
			for i := range both {
				s, err := sqlite.Open(path, planstore.Bounds{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				both[i] = s
			}
			return both[0], both[1]
		})
	})
}

// TestActAtOnce: of many who act on one plan at once, through two gateways, one
// succeeds; the others are told which plan is in force.
func TestActAtOnce(t *testing.T) {
	t.Parallel()
	m := planstore.NewMemory(planstore.Bounds{})
	w := newWriters(t, 3, m, m)
	w.depth = 1 // nothing in between
	for len(w.history) < 60 {
		w.request(0)
		w.both[0].Close()
	}
	s := w.both[0].Control(tester)
	list, err := s.Conversations(t.Context(), control.List{})
	if err != nil || len(list) != 1 || list[0].Plan == "" {
		t.Fatalf("%+v, %v", list, err)
	}
	c := list[0]
	var all sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		all.Go(func() {
			if i%2 == 0 {
				_, errs[i] = s.Undo(t.Context(), c.ID, control.Undo{Base: control.Base{Plan: c.Plan}})
			} else {
				_, errs[i] = s.Compact(t.Context(), c.ID, control.Compact{Base: control.Base{Plan: c.Plan}, Focus: fmt.Sprint("part ", i)})
			}
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		var conflict *control.ConflictError
		switch {
		case err == nil:
			won++
		case errors.As(err, &conflict):
			if conflict.Base != c.Plan || conflict.InForce == c.Plan {
				t.Error(err)
			}
		default:
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d succeeded", won, len(errs))
	}
}
