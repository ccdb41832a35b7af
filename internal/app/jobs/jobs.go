// Package jobs has work done that no request waits for, by any process of a
// fleet: summaries that are written ahead of time, and forgetting what is too old
// or too much. Jobs are in PostgreSQL, beside the plans, and run by River.
//
// [Open] returns the jobs of a database. A gateway adds to them
// ([Jobs.Enqueue]); a process that is to run jobs calls [Jobs.Start]: a gateway
// itself, or winnow work.
//
// A job runs at least once, three times at most, and does no harm when it runs
// twice. Of several for the same conversation and plan one waits. What is
// periodic is started by one process of the fleet.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport"
	"go.opentelemetry.io/otel/trace"
)

// queue is winnow's own: other programs may use River in the same database.
const queue = "winnow"

const (
	// jobTime is how long a job may take, rescueAfter when it counts as lost
	// with its process: later than that, or it would run twice.
	jobTime     = 5 * time.Minute
	rescueAfter = 15 * time.Minute

	// maxAttempts bounds how often a summary is tried. Then the built-in one is
	// used, as for a conversation that was faster.
	maxAttempts = 3
)

// Options say what is run.
type Options struct {
	// Prepare writes a summary, see [transport.Transport.Prepare]; nil leaves
	// those jobs to others.
	Prepare func(ctx context.Context, j transport.Job) error

	// Prune forgets what is out of bounds, every so often; nil leaves it to
	// others.
	Prune func(ctx context.Context) (planstore.Pruned, error)
	Every time.Duration // default 10 minutes

	// Workers is how many jobs run at the same time (default 4).
	Workers int

	// Poll asks for jobs instead of being told of them: where a pooler that
	// hands out connections by the transaction stands before the database.
	Poll bool

	// Tracer makes a span for each job that runs here; nil makes none.
	Tracer trace.TracerProvider

	// Log is told of jobs that failed; nil is silent.
	Log *slog.Logger
}

// Jobs are the jobs of a database.
type Jobs struct {
	db     *pg.DB
	o      Options
	client *river.Client[pgx.Tx]
}

var _ transport.Jobs = (*Jobs)(nil)

// prepareArgs is a summary to be written. Jobs for the same conversation and
// plan are the same, whatever its length is by now.
type prepareArgs struct {
	Tenant string        `json:"tenant" river:"unique"`
	First  string        `json:"first" river:"unique"`
	Base   string        `json:"base" river:"unique"`
	Job    transport.Job `json:"job"`
}

// Kind implements [river.JobArgs].
func (prepareArgs) Kind() string { return "winnow_prepare" }

// pruneArgs is a prune.
type pruneArgs struct{}

// Kind implements [river.JobArgs].
func (pruneArgs) Kind() string { return "winnow_prune" }

// unfinished are the states in which a job keeps others like it out. River's
// default adds those that are done, after which nothing would be prepared again.
var unfinished = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
}

// Open opens the jobs of a database and makes their tables. The address is that
// of the plans.
func Open(ctx context.Context, address string, o Options) (*Jobs, error) {
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.Every <= 0 {
		o.Every = 10 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	db, err := pg.Open(ctx, pg.Config{URL: address, Application: "winnow jobs", Conns: int32(min(o.Workers+2, 16))})
	if err != nil {
		return nil, fmt.Errorf("the jobs in %s cannot be opened: %w", pg.Name(address), err)
	}
	j := &Jobs{db: db, o: o}
	if _, _, err := Migrate(ctx, db); err != nil {
		db.Close()
		return nil, err
	}
	// All kinds are known to all processes, or River would give up those that
	// come to one which does not know them.
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(j.prepare))
	river.AddWorker(workers, &pruneWorker{jobs: j})
	c := &river.Config{
		Schema: "winnow", Workers: workers, Logger: slog.New(slog.DiscardHandler), // that the database is gone is said once, by the store
		Queues: map[string]river.QueueConfig{queue: {MaxWorkers: o.Workers}}, JobTimeout: jobTime, RescueStuckJobsAfter: rescueAfter, PollOnly: o.Poll,
		ErrorHandler: j, CompletedJobRetentionPeriod: time.Hour, CancelledJobRetentionPeriod: time.Hour, DiscardedJobRetentionPeriod: 24 * time.Hour,
		PeriodicJobs: []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(o.Every), func() (river.JobArgs, *river.InsertOpts) {
			return pruneArgs{}, &river.InsertOpts{Queue: queue, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByState: unfinished, ByQueue: true}}
		}, &river.PeriodicJobOpts{ID: "winnow_prune", RunOnStart: true})},
	}
	if o.Tracer != nil {
		c.Middleware = []rivertype.Middleware{&traced{tracer: o.Tracer.Tracer(instrumentation)}}
	}
	if j.client, err = river.NewClient(riverpgxv5.New(db.Pool()), c); err != nil {
		db.Close()
		return nil, fmt.Errorf("the jobs in %s cannot be opened: %w", pg.Name(address), err)
	}
	return j, nil
}

// Enqueue implements [transport.Jobs].
func (j *Jobs) Enqueue(ctx context.Context, job transport.Job) error {
	args := prepareArgs{Tenant: string(job.Key.Tenant), First: fmt.Sprintf("%x", job.Key.First), Base: string(job.Base), Job: job}
	ctx, end := pg.Span(ctx, "add a job")
	err := j.db.Again(ctx, func(ctx context.Context) error {
		_, err := j.client.Insert(ctx, args, &river.InsertOpts{Queue: queue, MaxAttempts: maxAttempts, Metadata: traceMetadata(ctx), UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinished}})
		return err
	})
	end(err)
	return err
}

// Cancel implements [transport.Jobs].
func (j *Jobs) Cancel(ctx context.Context, k planstore.Key, base plan.ID) error {
	return j.db.Again(ctx, func(ctx context.Context) error {
		_, err := j.db.Pool().Exec(ctx, `update winnow.river_job set state = 'cancelled', finalized_at = now()
			where kind = 'winnow_prepare' and state in ('available', 'retryable', 'scheduled', 'pending')
			and args->>'tenant' = $1 and args->>'first' = $2 and args->>'base' = $3`, string(k.Tenant), fmt.Sprintf("%x", k.First), string(base))
		return err
	})
}

// Start runs jobs until Close.
func (j *Jobs) Start(ctx context.Context) error {
	if err := j.client.Start(ctx); err != nil {
		return fmt.Errorf("jobs cannot be run: %w", err)
	}
	return nil
}

// Close lets the jobs that run end, or breaks them off when the context ends:
// they run again elsewhere.
func (j *Jobs) Close(ctx context.Context) error {
	err := j.client.Stop(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		late, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		err = j.client.StopAndCancel(late)
	}
	j.db.Close()
	return err
}

// HandleError implements [river.ErrorHandler].
func (j *Jobs) HandleError(_ context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	j.o.Log.Warn("a job failed", "kind", job.Kind, "attempt", job.Attempt, "of", job.MaxAttempts, "why", err.Error())
	return nil
}

// HandlePanic implements [river.ErrorHandler].
func (j *Jobs) HandlePanic(ctx context.Context, job *rivertype.JobRow, panicked any, _ string) *river.ErrorHandlerResult {
	return j.HandleError(ctx, job, fmt.Errorf("%v", panicked))
}

// elsewhereAfter is when a job is offered again that this process cannot do.
const elsewhereAfter = 5 * time.Second

// prepare writes a summary.
func (j *Jobs) prepare(ctx context.Context, job *river.Job[prepareArgs]) error {
	if j.o.Prepare == nil {
		return river.JobSnooze(elsewhereAfter)
	}
	err := j.o.Prepare(ctx, job.Args.Job)
	if errors.Is(err, transport.ErrMoved) {
		return river.JobCancel(err)
	}
	return err
}

type pruneWorker struct {
	river.WorkerDefaults[pruneArgs]
	jobs *Jobs
}

// Work implements [river.Worker].
func (w *pruneWorker) Work(ctx context.Context, _ *river.Job[pruneArgs]) error {
	if w.jobs.o.Prune == nil {
		return river.JobSnooze(elsewhereAfter)
	}
	p, err := w.jobs.o.Prune(ctx)
	if err == nil && p.Plans+p.Marks+p.Conversations > 0 {
		w.jobs.o.Log.Info("what is too old or too much was forgotten", "plans", p.Plans, "marks", p.Marks, "conversations", p.Conversations)
	}
	return err
}

// Timeout implements [river.Worker]: there may be much to forget.
func (w *pruneWorker) Timeout(*river.Job[pruneArgs]) time.Duration { return rescueAfter - time.Minute }

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
