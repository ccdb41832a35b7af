package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/winnow-llm/winnow/transport"
)

// elsewhereAfter is when a job is offered again that this process cannot do.
const elsewhereAfter = 5 * time.Second

type prepareWorker struct {
	river.WorkerDefaults[prepareArgs]
	jobs *Jobs
}

// Work implements [river.Worker].
func (w *prepareWorker) Work(ctx context.Context, job *river.Job[prepareArgs]) error {
	if w.jobs.o.Prepare == nil {
		return river.JobSnooze(elsewhereAfter)
	}
	err := w.jobs.o.Prepare(ctx, job.Args.Job)
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
