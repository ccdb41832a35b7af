package session_test

import (
	"context"
	"testing"

	"github.com/winnow-llm/winnow/session"
)

// Places lists the same tree as Tree does, with the same branches, without the
// words.
func TestPlaces(t *testing.T) {
	s := create(t, nil)
	ids := turns(t, s, 0, 3, 200)
	_, err := s.Navigate(context.Background(), ids[3], session.NavigateOptions{})
	must(t, err)
	turns(t, s, 3, 2, 200)
	places, items := s.Places(), s.Tree(0, s.Len())
	if len(places) != len(items) {
		t.Fatalf("%d places, %d items", len(places), len(items))
	}
	forks := 0
	for k, p := range places {
		it := items[k]
		parent := ""
		if p.Parent >= 0 {
			parent = places[p.Parent].ID
		}
		if p.ID != it.ID || p.Type != it.Type || p.Children != it.Children || p.OnPath != it.OnPath || p.Leaf != it.Leaf || parent != it.Parent {
			t.Errorf("place %d is %+v after %q, the item is %+v", k, p, parent, it)
		}
		if p.Children > 1 {
			forks++
		}
	}
	if forks != 1 {
		t.Errorf("%d forks, want 1", forks)
	}
}
