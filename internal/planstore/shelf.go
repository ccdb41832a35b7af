package planstore

import (
	"container/list"
	"iter"
	"slices"
)

// shelf keeps things under keys, and knows which were used last.
type shelf[T interface{ where() Key }] struct {
	order list.List               // of T, used last in front
	under map[Key][]*list.Element // newest last
}

// put adds a thing, as the one used last.
func (s *shelf[T]) put(x T) {
	if s.under == nil {
		s.under = make(map[Key][]*list.Element)
	}
	s.under[x.where()] = append(s.under[x.where()], s.order.PushFront(x))
}

// remove takes a thing away.
func (s *shelf[T]) remove(e *list.Element) T {
	x := s.order.Remove(e).(T)
	left := slices.DeleteFunc(slices.Clone(s.under[x.where()]), func(o *list.Element) bool { return o == e })
	if s.under[x.where()] = left; len(left) == 0 {
		delete(s.under, x.where())
	}
	return x
}

// find returns where the thing under a key is that f wants; nil for none.
func (s *shelf[T]) find(k Key, f func(T) bool) *list.Element {
	for _, e := range s.under[k] {
		if f(e.Value.(T)) {
			return e
		}
	}
	return nil
}

// all returns all things, those used last first.
func (s *shelf[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for e := s.order.Front(); e != nil && yield(e.Value.(T)); e = e.Next() {
		}
	}
}
