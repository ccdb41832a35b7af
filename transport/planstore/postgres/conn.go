package postgres

import (
	"errors"

	"github.com/winnow-llm/winnow/internal/pg"
)

// database is a database with tables.
type database struct{ *pg.DB }

// Kind implements [sqlstore.DB].
func (database) Kind() string { return "postgres" }

// IsGone implements [sqlstore.DB].
func (database) IsGone(err error) bool { return errors.Is(err, pg.ErrGone) }

// Reason implements [sqlstore.DB].
func (database) Reason(err error) string { return pg.Reason(err) }

// Close implements [sqlstore.DB].
func (d database) Close() error {
	d.DB.Close()
	return nil
}
