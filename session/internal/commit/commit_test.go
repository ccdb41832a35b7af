package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestGroups(t *testing.T) {
	var written []string
	calls := 0
	all := make(chan struct{})
	g := &Group{Write: func(_ context.Context, recs [][]byte) error {
		calls++
		<-all // a slow disk: the first write lasts until all records are there
		for _, r := range recs {
			written = append(written, string(r))
		}
		return nil
	}}
	const n = 50
	var mu sync.Mutex
	var order []string
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			mu.Lock()
			rec := fmt.Sprint(i)
			order = append(order, rec)
			wait := g.Add([][]byte{[]byte(rec)})
			if len(order) == n {
				close(all)
			}
			mu.Unlock()
			if err := wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if fmt.Sprint(written) != fmt.Sprint(order) {
		t.Errorf("written %v, want %v", written, order)
	}
	if calls > 2 {
		t.Errorf("%d writes for %d records: those that waited were not written together", calls, n)
	}
}

func TestFailure(t *testing.T) {
	bad := errors.New("bad")
	fail := true
	g := &Group{Write: func(context.Context, [][]byte) error {
		if fail {
			return bad
		}
		return nil
	}}
	a, b := g.Add([][]byte{{1}}), g.Add([][]byte{{2}})
	if err := a(t.Context()); !errors.Is(err, bad) {
		t.Errorf("first: %v", err)
	}
	fail = false
	if err := b(t.Context()); !errors.Is(err, bad) {
		t.Errorf("what follows on a failed write: %v", err)
	}
	if err := g.Add([][]byte{{3}})(t.Context()); !errors.Is(err, bad) {
		t.Errorf("before Reset: %v", err)
	}
	g.Reset()
	if err := g.Add([][]byte{{4}})(t.Context()); err != nil {
		t.Errorf("after Reset: %v", err)
	}
}

func TestWithdraw(t *testing.T) {
	hold := make(chan struct{})
	started := make(chan struct{}, 1)
	wrote := 0
	g := &Group{Write: func(_ context.Context, recs [][]byte) error {
		started <- struct{}{}
		<-hold
		wrote += len(recs)
		return nil
	}}
	first := g.Add([][]byte{{1}})
	done := make(chan error, 1)
	go func() { done <- first(t.Context()) }()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	second, third := g.Add([][]byte{{2}}), g.Add([][]byte{{3}})
	cancel()
	if err := second(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up: %v", err)
	}
	close(hold)
	if err := <-done; err != nil {
		t.Errorf("who was writing: %v", err)
	}
	if err := third(t.Context()); !errors.Is(err, ErrWithdrawn) {
		t.Errorf("who came after: %v", err)
	}
	if wrote != 1 {
		t.Errorf("%d records were written", wrote)
	}
}
