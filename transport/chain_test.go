package transport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/storetest"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// TestBrief checks that what goes into the log ends with a whole word.
func TestBrief(t *testing.T) {
	long := strings.Repeat("überlang, ", 60)
	got := briefError(errors.New(long + "\nand a second line"))
	if words, ok := strings.CutSuffix(got, "überlang …"); !ok || len(got) > 250 || words != strings.Repeat("überlang, ", strings.Count(words, "überlang")) {
		t.Errorf("%q", got)
	}
	if got := briefError(errors.New("short: 12,345\nmore")); got != "short: 12,345" {
		t.Errorf("%q", got)
	}
	if got := briefError(errors.New(strings.Repeat("ü", 300))); !utf8.ValidString(got) || len(got) > 250 {
		t.Errorf("%q", got)
	}
}

// talk is a conversation as its words; the chain must find out from messages
// what is plain to see here.
type talk struct {
	tenant string
	words  []string
}

func (k talk) history() chat.History {
	h := chat.NewHistory()
	for i, w := range k.words {
		role := chat.User
		if i%2 == 1 {
			role = chat.Assistant
		}
		h = h.Append(chat.TextMessage(role, w))
	}
	return h
}

// sealed is a plan that was kept, with the words it was made for.
type sealed struct {
	talk
	id plan.ID
}

// world is conversations that begin alike, and the plans made for them.
type world struct {
	*rand.Rand
	t     testing.TB
	store planstore.Store
	talks []talk
	plans []sealed
}

func (w *world) word() string { return []string{"yes", "no", "go on", "again"}[w.IntN(4)] }

// seal makes a plan for a conversation and keeps it.
func (w *world) seal(k talk) {
	h := k.history()
	if h.Len() < 4 {
		return
	}
	p, err := plan.Compose(nil, h, chat.Rules{Name: "test"}, nil, plan.Edit{
		Kind: plan.Fold, From: 1, To: 3, Part: -1, Text: fmt.Sprintf("%s: %q", k.tenant, k.words), Stage: "fold",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := storetest.Put(w.t.Context(), w.store, keyOf(planstore.Tenant(k.tenant), wire.OpenAI, h), p); err != nil {
		w.t.Fatal(err)
	}
	w.plans = append(w.plans, sealed{talk{k.tenant, slices.Clone(k.words)}, p.ID()})
}

// check looks up a conversation's plan and compares with what a reader of the
// words would choose.
func (w *world) check(k talk) {
	want := -1
	for i, p := range w.plans {
		if p.tenant == k.tenant && len(p.words) <= len(k.words) && slices.Equal(p.words, k.words[:len(p.words)]) &&
			(want < 0 || len(p.words) >= len(w.plans[want].words)) {
			want = i
		}
	}
	h := k.history()
	got, err := findLongest(w.t.Context(), w.store, keyOf(planstore.Tenant(k.tenant), wire.OpenAI, h), h, nil, "")
	switch {
	case err != nil:
		w.t.Fatal(err)
	case want < 0 && got != nil:
		w.t.Fatalf("%v got a plan that is not its own: %s", k, got.Edits[0].Text)
	case want >= 0 && (got == nil || got.ID() != w.plans[want].id):
		w.t.Fatalf("%v: got %v, want the plan for %v", k, got, w.plans[want].talk)
	}
}

// step lets something happen.
func (w *world) step() {
	i := w.IntN(len(w.talks))
	k := w.talks[i]
	switch w.IntN(6) {
	case 0: // a fork, or a resume from the middle
		at := 1 + w.IntN(len(k.words))
		w.talks = append(w.talks, talk{k.tenant, slices.Clone(k.words[:at])})
	case 1: // an old message is edited
		words := slices.Clone(k.words)
		words[w.IntN(len(words))] += " (edited)"
		w.talks[i].words = words
	case 2: // another tenant sends the same
		w.talks = append(w.talks, talk{[]string{"a", "b"}[w.IntN(2)], slices.Clone(k.words)})
	case 3:
		w.seal(k)
	default:
		w.talks[i].words = append(slices.Clip(k.words), w.word(), w.word())
	}
	if len(w.talks) > 40 {
		w.talks = w.talks[len(w.talks)-20:]
	}
	w.check(w.talks[w.IntN(len(w.talks))])
}

// TestChain runs conversations that begin alike, edits, forks, resumes and
// tenants against each other: nobody ever gets another conversation's plan, and
// everybody gets its own longest one.
func TestChain(t *testing.T) {
	runs := 60
	if !longrun.Asked() {
		runs = 2
	}
	for seed := range runs {
		w := &world{Rand: rand.New(rand.NewPCG(uint64(seed)+randhist.FirstSeed, 5)), t: t, store: planstore.NewMemory(planstore.Bounds{})}
		for _, tenant := range []string{"a", "a", "b"} {
			w.talks = append(w.talks, talk{tenant, []string{"Fix the build."}})
		}
		for range 200 {
			w.step()
		}
	}
}

// TestDialectsApart keeps plans of one dialect from requests in another.
func TestDialectsApart(t *testing.T) {
	h := talk{"a", []string{"x", "y"}}.history()
	seen := map[planstore.Key]bool{}
	for _, d := range wire.Dialects() {
		seen[keyOf("a", d, h)] = true
	}
	if len(seen) != len(wire.Dialects()) {
		t.Errorf("%d keys for %d dialects", len(seen), len(wire.Dialects()))
	}
}

// TestSubAgents lets 16 agents that begin alike go their own ways at once.
func TestSubAgents(t *testing.T) {
	store := planstore.NewMemory(planstore.Bounds{})
	var wg sync.WaitGroup
	for agent := range 16 {
		wg.Go(func() {
			w := &world{Rand: rand.New(rand.NewPCG(uint64(agent), 9)), t: t, store: store}
			k := talk{"a", []string{"Fix the build.", "I split this up.", "You are one of 16."}}
			k.words = append(k.words, fmt.Sprintf("agent %d", agent))
			for range 30 {
				k.words = append(k.words, w.word(), w.word())
				w.seal(k)
				w.check(k)
			}
		})
	}
	wg.Wait()
}

// TestMemoryBounds keeps what is remembered within its limit.
func TestMemoryBounds(t *testing.T) {
	m := newMemory(1 << 20)
	for i := range 300 {
		raw := fmt.Appendf(nil, `{"model":"m","messages":[{"role":"user","content":"%d %0*d"}]}`, i, 20_000, i)
		b, err := wire.Parse(wire.OpenAI, raw)
		if err != nil {
			t.Fatal(err)
		}
		r := room{planstore.Tenant(fmt.Sprint(i % 3)), wire.OpenAI}
		m.add(&recent{said: said{body: b, whose: endpointModel{tenant: r.tenant}}}, nil)
		if x := m.findByBytes(r, raw); x == nil || x.body != b {
			t.Fatal("what was just added is not found")
		}
		if x := m.findByBytes(room{"other", wire.OpenAI}, raw); x != nil {
			t.Fatal("found in another tenant's room")
		}
		if m.size > m.limit || m.size < 0 {
			t.Fatalf("%d bytes", m.size)
		}
	}
	n := 0
	for _, all := range m.rooms {
		n += len(all)
	}
	if n != len(m.all) || n < 10 {
		t.Errorf("%d in rooms, %d in order", n, len(m.all))
	}
}
