package replay

import "testing"

func TestMatches(t *testing.T) {
	tally := func(hit, of int) Tally { return Tally{Hit: hit, Of: of} }
	match := func(clientE, oursE, ofE, clientP, oursP, ofP int) Match {
		return Match{
			Client: Recall{E: tally(clientE, ofE), P: tally(clientP, ofP)},
			Ours:   Recall{E: tally(oursE, ofE), P: tally(oursP, ofP)},
		}
	}
	var sum matches
	for _, tt := range []struct {
		name   string
		m      Match
		better int
		full   bool
	}{
		{"better on both", match(1, 2, 3, 0, 1, 2), 1, false},
		{"better on one", match(1, 2, 3, 1, 1, 2), 1, false},
		{"one for the other", match(1, 2, 3, 2, 1, 2), -1, false},
		{"equal", match(1, 1, 3, 1, 1, 2), 0, false},
		{"nothing to win", match(3, 3, 3, 2, 2, 2), 0, true},
		{"nothing to win, and lost", match(3, 2, 3, 2, 2, 2), -1, true},
		{"nothing asked for", match(0, 0, 0, 0, 0, 0), 0, true},
	} {
		if got := tt.m.Better(); got != tt.better || tt.m.Full() != tt.full {
			t.Errorf("%s: %d, full %v", tt.name, got, tt.m.Full())
		}
		sum.add(&tt.m)
	}
	if got := sum.String(); got != "2 of 6 (equal: 2; nothing to win: 2)" || sum.met() {
		t.Errorf("%s, met %v", got, sum.met())
	}
}

// A name that lost what made it one is found, but not when names must match.
func TestScoreExact(t *testing.T) {
	d := Demand{Entities: []Entity{{Value: "align"}, {Value: "parseDate"}}}
	text := "set align before parseDate"
	loose, _ := d.Score(text)
	exact, _ := d.score(text, true)
	if loose.E.Hit != 2 || exact.E.Hit != 1 {
		t.Errorf("%d and %d of 2", loose.E.Hit, exact.E.Hit)
	}
}
