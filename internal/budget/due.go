package budget

import (
	"fmt"
	"sort"

	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/token"
)

// Due returns the count of tokens from which on the request is to be compacted,
// as [Status.Count] counts it, and in words how that number comes about.
//
// What a rewrite is due from is compared with the count itself, what fits with
// the upper end of its band: an estimate that may be too large for the window is
// due before it is surely so. Limits in bytes and images can make a compaction
// due before; they have no number of tokens.
func (s *Status) Due() (tokens int, why string) {
	at, by := s.Trigger.decideRule(s.Limits)
	sure := sort.Search(s.Limits.Available+1, func(n int) bool {
		return token.Count{Tokens: n, Method: s.Count.Method, Band: s.Count.Band}.Upper() > s.Limits.Available
	})
	if sure <= at {
		return sure, fmt.Sprintf("all that is available, less a margin of %.0f %% for the estimate", 100*s.Count.Band)
	}
	return at + 1, s.explainRule(by)
}

// explainRule explains a rule of the trigger to a person.
func (s *Status) explainRule(by rule) string {
	switch by {
	case byThreshold:
		if s.Trigger.Whole {
			return fmt.Sprintf("%.2f of what is available", s.Trigger.Threshold)
		}
		return fmt.Sprintf("%.2f of the room", s.Trigger.Threshold)
	case byOwn:
		return fmt.Sprintf("%.2f of the %s tokens at which the agent compacts or stops by itself", OwnShare, text.Number(s.Trigger.Own))
	case byCold:
		return fmt.Sprintf("%.2f of the room: the provider's cache no longer has the prompt, so a rewrite costs nothing extra", ColdThreshold)
	case byReserve:
		if kept := s.Trigger.keptReserve(s.Limits); kept < s.Trigger.Reserve {
			return fmt.Sprintf("the window less a reserve of %s; the %s that are set are too much for it", text.Number(kept), text.Number(s.Trigger.Reserve))
		}
		return "the window less the reserve"
	case byTokens:
		return "set by threshold_tokens"
	case byCommit:
		return s.commitWords()
	case byLeast:
		return "what the last rewrite left, plus enough growth to make another one worthwhile"
	}
	return "all that is available"
}

// commitWords explains a commit point.
func (s *Status) commitWords() string {
	if s.Trigger.Commit != s.Commit.At { // see the schedule of package winnow
		return "the provider's cache no longer has the prompt, so a rewrite costs nothing extra"
	}
	switch s.Commit.Limit {
	case "floor":
		return "the commit point at the model's prices, raised to commit_floor"
	case "price tier":
		return "the commit point: above it the model's prices rise"
	}
	return "the commit point, from which on a rewrite costs less than it saves"
}
