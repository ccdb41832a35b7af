//go:build unix

package cputime_test

import (
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/cputime"
)

// Work counts, and waiting does not.
func TestOf(t *testing.T) {
	x := 0
	work := cputime.Of(func() {
		for start := cputime.Used(); cputime.Used()-start < 50*time.Millisecond; x++ { //nolint:revive // busy on purpose
		}
	})
	if work < 45*time.Millisecond { // the clocks of two readings differ a little
		t.Errorf("50 ms of work are %v", work)
	}
	if waited := cputime.Best(3, func() { time.Sleep(50 * time.Millisecond) }); waited > 40*time.Millisecond {
		t.Errorf("50 ms of waiting are %v", waited)
	}
}
