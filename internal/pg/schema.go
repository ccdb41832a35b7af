package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Schema is the tables of one part of winnow. They stand in the schema winnow of
// the database.
type Schema struct {
	// Part names them: plans, sessions.
	Part string

	// Steps bring the tables from one version to the next. They are never
	// changed once released; new ones are added at the end. A step only adds, so
	// that programs of the version before go on working while a fleet is
	// replaced one by one.
	Steps []string
}

// NewerError says that the tables are of a later version than this program.
type NewerError struct {
	Part        string
	Have, Known int
	Database    string
}

// Error says it in one line.
func (e *NewerError) Error() string {
	return fmt.Sprintf("%s has version %d of the tables for %s, and this winnow knows versions up to %d; use a newer winnow", e.Database, e.Have, e.Part, e.Known)
}

// ErrOlder says that the tables are of an earlier version, or not there, and may
// not be changed.
var ErrOlder = errors.New("run winnow store migrate as the owner of the database")

// Version returns the version of the tables; 0 is none.
func (db *DB) Version(ctx context.Context, part string) (version int, err error) {
	err = db.Do(ctx, func(ctx context.Context) error {
		version, err = versionOf(ctx, db.pool, part)
		return err
	})
	return version, err
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// hasVersions reports whether there are tables of any part. It asks the catalog
// as a table: by name the database may answer from what it remembers.
func hasVersions(ctx context.Context, q querier) (there bool, err error) {
	err = q.QueryRow(ctx, `select exists (select 1 from pg_catalog.pg_tables where schemaname = 'winnow' and tablename = 'versions')`).Scan(&there)
	return there, err
}

func versionOf(ctx context.Context, q querier, part string) (int, error) {
	there, err := hasVersions(ctx, q)
	if err != nil || !there {
		return 0, err
	}
	var version int
	err = q.QueryRow(ctx, `select version from winnow.versions where part = $1`, part).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return version, err
}

// Prepare brings tables to the version that this program knows, where they are
// older. Processes that do so at the same time wait for each other. The error is
// a [*NewerError] for later ones, and wraps [ErrOlder] where the user of the
// database may not change it.
func (db *DB) Prepare(ctx context.Context, s Schema) (from, to int, err error) {
	if from, err = db.Version(ctx, s.Part); err != nil {
		return 0, 0, err
	}
	to = len(s.Steps)
	if from > to {
		return from, to, &NewerError{Part: s.Part, Have: from, Known: to, Database: db.Name()}
	}
	if from == to {
		return from, to, nil
	}
	err = db.Within(ctx, 10*time.Minute, func(ctx context.Context) error {
		return db.Tx(ctx, func(tx pgx.Tx) error { return s.migrateWithin(ctx, tx, db.Name()) })
	})
	if Reason(err) == "the database does not allow it" {
		err = fmt.Errorf("%s has version %d of the tables for %s, this winnow needs version %d, and its user may not change them: %w", db.Name(), from, s.Part, to, ErrOlder)
	}
	return from, to, err
}

// Locked runs f while no other process changes tables, with winnow's schema in
// place. What f does outside of the transaction stays where that fails.
func (db *DB) Locked(ctx context.Context, part string, f func(ctx context.Context, tx pgx.Tx) error) error {
	err := db.Within(ctx, 10*time.Minute, func(ctx context.Context) error {
		if err := db.Tx(ctx, func(tx pgx.Tx) error { return makeVersions(ctx, tx) }); err != nil {
			return err
		}
		return db.Tx(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, lockKey("migrate "+part)); err != nil {
				return err
			}
			return f(ctx, tx)
		})
	})
	if Reason(err) == "the database does not allow it" {
		err = fmt.Errorf("%s lacks tables for %s, and its user may not make them: %w", db.Name(), part, ErrOlder)
	}
	return err
}

// makeVersions makes the table of versions, where there is none, and keeps
// others from changing tables until the transaction ends.
func makeVersions(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, lockKey("migrate")); err != nil {
		return err
	}
	there, err := hasVersions(ctx, tx)
	if err != nil || there {
		return err
	}
	_, err = tx.Exec(ctx, `create schema if not exists winnow;
		create table winnow.versions (part text primary key, version integer not null, at timestamptz not null default now())`)
	return err
}

func (s Schema) migrateWithin(ctx context.Context, tx pgx.Tx, name string) error {
	if err := makeVersions(ctx, tx); err != nil {
		return err
	}
	version, err := versionOf(ctx, tx, s.Part) // another process may have been faster
	if err != nil {
		return err
	}
	if version > len(s.Steps) {
		return &NewerError{Part: s.Part, Have: version, Known: len(s.Steps), Database: name}
	}
	for ; version < len(s.Steps); version++ {
		if _, err := tx.Exec(ctx, s.Steps[version]); err != nil {
			return fmt.Errorf("version %d of the tables for %s: %w", version+1, s.Part, err)
		}
	}
	_, err = tx.Exec(ctx, `insert into winnow.versions (part, version) values ($1, $2)
		on conflict (part) do update set version = excluded.version, at = now()`, s.Part, version)
	return err
}
