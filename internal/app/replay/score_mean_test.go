package replay

import "testing"

// A class of which a session demands nothing does not pull its mean down.
func TestMeanLeavesOutWhatIsNotDemanded(t *testing.T) {
	for name, c := range map[string]struct {
		r    Recall
		want float64
	}{
		"all four": {Recall{E: Tally{1, 2}, P: Tally{0, 2}, W: Tally{2, 2}, C: Tally{1, 2}}, 0.5},
		"two":      {Recall{E: Tally{1, 2}, C: Tally{2, 2}}, 0.75},
		"none":     {Recall{}, 0},
	} {
		if got := c.r.Mean(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
