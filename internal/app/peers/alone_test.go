package peers_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/app/peers"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
)

// TestAlone: beside winnow stands the agent that wrote the session, which compacts at
// its own point, waits for its summary and pays for it; winnow does not cut much
// before it, and nobody waits.
func TestAlone(t *testing.T) {
	d := generated(2, replaygen.Options{Requests: 60, Growth: 2400})
	d.Sessions[0].Format, d.Sessions[1].Format = "claude-code", "openhands-v0"
	place := replay.AlonePlace{Window: 200_000, Fixed: 60_000}
	b, err := replay.Alone(t.Context(), d, peers.Alone(), []replay.AlonePlace{{}, place}, &replay.Crew{})
	if err != nil {
		t.Fatal(err)
	}
	logTable(t, b.Table)
	if b.Row(replay.AlonePlace{}, replay.All, "alone").Sessions > 0 {
		t.Error("a session is replayed that is far from the point of its agent")
	}
	alone, ours := b.Row(place, "claude", "alone"), b.Row(place, "claude", "winnow")
	if alone.Sessions != 1 || b.Row(place, replay.All, "alone").Sessions != 1 {
		t.Error("an agent without a point of its own is compared")
	}
	if alone.Rewrites != 1 || alone.Long.BlockedMS == 0 || *alone.First != 1 {
		t.Errorf("alone: %+v", alone)
	}
	if ours.Rewrites == 0 || ours.Long.BlockedMS > 0 || *ours.First < replay.AloneFirst || ours.Refused > 0 {
		t.Errorf("winnow: %+v", ours)
	}
	if len(b.Bars()) == 0 {
		t.Error("nothing is asked for")
	}
}
