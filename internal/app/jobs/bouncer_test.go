package jobs_test

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/jobs"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
)

// TestBehindPgBouncer has a summary written by another process where a pooler
// that hands out connections by the transaction stands before the database: jobs
// are asked for, because nobody can be told of them there.
func TestBehindPgBouncer(t *testing.T) {
	server := pgtest.Shared(t)
	address := server.Bouncer(t)(server.Database(t))
	gateway, worker := newNode(t, address, false, jobs.Options{Poll: true}), newNode(t, address, true, jobs.Options{Poll: true})
	gateway.send(t, 18)
	gateway.send(t, 31)
	eventually(t, "a summary", func() bool { return worker.t.Stats().Prepared == 1 && states(t, gateway)["running"] == 0 })
	if sent := gateway.send(t, 37); !strings.Contains(sent, words) {
		t.Errorf("the summary is not used: %+v", gateway.t.Stats())
	}
	eventually(t, "a prune", func() bool { return worker.pruned.Load() == 1 })
}
