package gateway_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// TestPinsOverForks: pins hold for forks as the table in docs/control.md says,
// also after a restart.
func TestPinsOverForks(t *testing.T) {
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	path := filepath.Join(t.TempDir(), "plans.db")
	serve := func() (string, func()) {
		t.Helper()
		store, err := sqlite.Open(path, transport.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		g, url := start(t, gateway.Options{Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window}, Store: store, KeepOriginals: true}})
		return url, func() {
			g.Close()
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	url, end := serve()
	b := board{url, []string{"Authorization", alice}}
	conversations := func() []control.Conversation {
		t.Helper()
		var list struct{ Conversations []control.Conversation }
		if status := b.get(t, "/winnow/conversations", &list); status != http.StatusOK {
			t.Fatal(status)
		}
		return list.Conversations
	}
	c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Header: http.Header{"Authorization": {alice}}, Result: agentclient.Output}
	c.Drive(t, 3, nil)
	parent := b.only(t).ID
	agents := []*agentclient.Client{c}
	act := func(id, what string, message int) {
		t.Helper()
		var d control.Detail
		b.get(t, "/winnow/conversations/"+id, &d)
		if status, text := b.act(t, id, what, fmt.Sprintf(`{"plan":%q,"message":%d,"part":-1}`, d.Plan, message), nil); status != http.StatusOK {
			t.Fatalf("%s %d: %d %s", what, message, status, text)
		}
	}
	// pins are what holds in a conversation; those of another one are negative.
	pins := func(id string) (out []int) {
		t.Helper()
		var d control.Detail
		b.get(t, "/winnow/conversations/"+id, &d)
		for _, p := range d.Pinned {
			if p.From != "" {
				p.Message = -p.Message
			}
			out = append(out, p.Message)
		}
		return out
	}
	forks := make([]string, 2)
	fork := func(i int) {
		t.Helper()
		known := conversations()
		f := c.Fork(4)
		agents = append(agents, f)
		f.Say(fmt.Sprintf("Fork %d goes its own way.", i))
		if _, err := f.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a fork", func() bool {
			for _, x := range conversations() {
				if !slices.ContainsFunc(known, func(y control.Conversation) bool { return x.ID == y.ID }) {
					forks[i] = x.ID
					return x.Parent == parent && x.Shared == 4
				}
			}
			return false
		})
	}
	expect := func(when string, want ...[]int) {
		t.Helper()
		for i, id := range []string{parent, forks[0], forks[1]} {
			if got := pins(id); i < len(want) && !slices.Equal(got, want[i]) {
				t.Errorf("%s: conversation %d has the pins %v, want %v", when, i, got, want[i])
			}
		}
	}
	fork(0)
	act(parent, "pin", 1)
	act(parent, "pin", 5)
	expect("a fork that was there already has pins on what both have", []int{1, 5}, []int{-1})
	fork(1)
	expect("so has one that branches off later", []int{1, 5}, []int{-1}, []int{-1})
	act(forks[0], "unpin", 1)
	expect("a fork takes it off for itself", []int{1, 5}, nil, []int{-1})
	act(forks[0], "pin", 2)
	expect("what a fork pins holds there alone", []int{1, 5}, []int{2}, []int{-1})
	act(parent, "pin", 3)
	act(parent, "unpin", 1)
	expect("an unpin holds for forks likewise", []int{3, 5}, []int{2, -3}, []int{-3})
	end()
	url, end = serve()
	defer end()
	b.url = url
	for _, x := range agents { // the store lacks a conversation that was not compacted: its next request brings it
		x.URL = url
		if _, err := x.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	expect("after a restart", []int{3, 5}, []int{2, -3}, []int{-3})
}
