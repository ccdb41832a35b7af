package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// do runs statements, all of which may be repeated, and says what failed.
func (s *Store) do(ctx context.Context, what string, f func(context.Context) error) error {
	ctx, end := pg.Span(ctx, what)
	err := s.db.Again(ctx, f)
	end(err)
	return failed(what, err)
}

// slowly is do for statements that may take long.
func (s *Store) slowly(ctx context.Context, what string, f func(context.Context) error) error {
	ctx, end := pg.Span(ctx, what)
	err := s.db.Within(ctx, pruneWithin, f)
	end(err)
	return failed(what, err)
}

// failure is an error of the database, with what was being done.
type failure struct {
	what string
	err  error
}

func failed(what string, err error) error {
	var conflict *planstore.ConflictError
	var moved *control.ConflictError
	if err == nil || errors.Is(err, planstore.ErrNotFound) || errors.As(err, &conflict) || errors.As(err, &moved) {
		return err
	}
	return &failure{what, err}
}

// Error says what failed, and why.
func (f *failure) Error() string { return fmt.Sprintf("planstore: cannot %s: %v", f.what, f.err) }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.err }

// Is makes a database that is gone a store that is gone.
func (f *failure) Is(target error) bool {
	return target == planstore.ErrGone && errors.Is(f.err, pg.ErrGone)
}

// Reason says why in a few words, for [planstore.Reason].
func (f *failure) Reason() string { return pg.Reason(f.err) }
