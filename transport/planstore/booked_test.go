package planstore_test

import (
	"testing"

	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/storetest"
)

// A store without a book gets one in memory, which keeps the same promises as
// long as the process runs.
func TestBooked(t *testing.T) {
	type bare struct{ planstore.Store }
	type all struct {
		planstore.Store
		planstore.Book
		planstore.Remover
	}
	storetest.RunBook(t, func(_ *testing.T, b planstore.Bounds) planstore.Store {
		m := planstore.NewMemory(b)
		book := planstore.Booked(bare{m})
		return all{m, book, book.(planstore.Remover)}
	}, nil, nil)
}
