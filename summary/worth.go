package summary

import "math"

// Worth is the expected use of a name or word in the agent's next steps. It goes
// by recency of touch: what was written or seen lately is used again, what the
// agent wrote itself more than what tools printed, and what stands in many
// messages more than what stands in one. That is all: the figures below are round, and
// a model with thirty fitted ones did not do better on sessions that it was not
// fitted on.
const (
	ageBytes   = 8000 // the worth of what is so old is down to .7, of what is three times as old to .5
	byAgent    = 2    // what the agent wrote is worth so many times as much
	plainWord  = 0.25 // a plain word by itself says little
	counterNum = 0.1  // and a number that counts lines next to nothing
)

// weigh gives every entity its worth.
func (s *scan) weigh() {
	for i := range s.entities {
		e := &s.entities[i]
		if e.tail {
			continue
		}
		w := s.recency(e.lastPos) * (1 + math.Log(float64(e.messages)))
		if e.sources&agentBits != 0 {
			w *= byAgent
		}
		if e.kind == wordEntity {
			w *= plainWord
			if tier, ok := s.common.tier(e.text, nameHash(e.text)); ok {
				w *= rarity[tier]
			}
		}
		if e.counter() {
			w *= counterNum
		}
		// Rounding keeps the choice the same on machines that compute differently.
		e.weight = math.Round(w*(1<<20)) / (1 << 20)
	}
}

// recency is 1 for what stands at the end of the history, and less the longer
// ago a place of the region was.
func (s *scan) recency(pos int32) float64 {
	return 1 / math.Sqrt(1+float64(s.pos+s.tail-int(pos))/ageBytes)
}
