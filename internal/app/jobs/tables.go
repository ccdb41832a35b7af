package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore"
)

// Part names the tables of jobs among winnow's.
const Part = "jobs"

// Migrate brings River's tables to the version that this program knows. The
// error is a [*pg.NewerError] for later ones.
func Migrate(ctx context.Context, db *pg.DB) (was, now int, err error) {
	m, err := rivermigrate.New(riverpgxv5.New(db.Pool()), &rivermigrate.Config{Schema: "winnow"})
	if err != nil {
		return 0, 0, err
	}
	all := m.AllVersions()
	now = all[len(all)-1].Version
	if was, err = db.Version(ctx, Part); err != nil || was == now {
		return was, now, err
	}
	if was > now {
		return was, now, &pg.NewerError{Part: Part, Have: was, Known: now, Database: db.Name()}
	}
	// The steps are River's; that they were done is noted as for the others, and
	// the lock is the same.
	err = db.Locked(ctx, Part, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return fmt.Errorf("the tables for jobs: %w", err)
		}
		_, err := tx.Exec(ctx, `insert into winnow.versions (part, version) values ($1, $2) on conflict (part) do update set version = excluded.version, at = now()`, Part, now)
		return err
	})
	return was, now, err
}

// States returns how many jobs there are, by state.
func (j *Jobs) States(ctx context.Context) (map[string]int64, error) {
	out := map[string]int64{}
	err := j.db.Again(ctx, func(ctx context.Context) error {
		rows, err := j.db.Pool().Query(ctx, `select state::text, count(*) from winnow.river_job where queue = $1 group by state`, queue)
		if err != nil {
			return err
		}
		var state string
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&state, &n}, func() error { out[state] = n; return nil })
		return err
	})
	return out, err
}

// Metrics implements [planstore.Metered].
func (j *Jobs) Metrics() []planstore.Metric {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	states, err := j.States(ctx)
	if err != nil {
		return nil // the store's metrics say that it is gone
	}
	out := make([]planstore.Metric, 0, 8)
	for _, s := range []string{"available", "scheduled", "running", "retryable", "completed", "cancelled", "discarded"} {
		out = append(out, planstore.Metric{Name: "winnow_jobs_" + s, Help: "Jobs in the database that are " + s + "; finished ones are kept for a while.", Kind: "gauge", Value: float64(states[s])})
	}
	return out
}
