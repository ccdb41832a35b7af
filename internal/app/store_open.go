package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// openPlans opens the gateway's store for its owner. It makes no file where
// there is none, and forgets nothing by itself.
func openPlans(ctx context.Context, path string) (planstore.Owner, error) {
	forever := planstore.Bounds{Age: 100 * 365 * 24 * time.Hour}
	if pg.Is(path) {
		return openPostgres(ctx, path, &postgres.Options{Bounds: forever, Application: "winnow store", PrunedElsewhere: true, Timeout: time.Minute})
	}
	if path == "" {
		var err error
		if path, err = plansPath(); err != nil {
			return nil, fmt.Errorf("there is no cache folder: %w; name the file with --store", err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("there is no store %s: %s; name its file with --store", path, causeText(err))
	}
	return sqlite.Open(path, forever)
}

// openPostgres opens plans in PostgreSQL. Names and reasons are in the error, no
// password.
func openPostgres(ctx context.Context, address string, o *postgres.Options) (planstore.Owner, error) {
	s, err := postgres.Open(ctx, address, o)
	if err != nil {
		return nil, errors.New(oneLine(plansPrefix(err)))
	}
	return s, nil
}

// storeLog returns the log in which a store tells that its database is gone.
func (a *app) storeLog() *slog.Logger {
	if a.quiet {
		return slog.New(slog.NewJSONHandler(io.Discard, nil))
	}
	return slog.New(slog.NewJSONHandler(a.stderr, nil))
}
