package replay

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// StandIn takes the place of an LLM that summarises. It keeps each kind of
// entity at the rate that was measured on recorded summaries (3.6k tokens
// written from 91k), rare words and binding sentences at the rates measured
// beside them. Which of them is kept depends on the thing itself alone, so that
// two policies that summarise the same things keep the same ones.
//
// An update carries over all that the summary before held, as the update
// prompts of the peers ask: nothing is lost over chains, which is kinder than
// life. The text that holds what is kept is no prose and has no honest size;
// policies declare [StandInTokens] for it.
type StandIn struct {
	lines []string // of the summary so far, oldest first
	known map[string]bool
	upTo  int
}

// StandInTokens is the size of the summaries that the rates were measured on.
const StandInTokens = 3600

// keepRates are in thousandths, by kind. Errors and addresses were not
// measured; they are taken for identifiers and ids.
var keepRates = [...]uint64{
	evidence.PathEntity: 460, evidence.IdentEntity: 440, evidence.IDEntity: 140, evidence.NumberEntity: 220,
	evidence.FlagEntity: 210, evidence.ErrorEntity: 440, evidence.URLEntity: 140,
}

const (
	keepWord       = 450
	keepConstraint = 240
)

// Update summarises messages from..to-1 on top of what was summarised before
// and returns the whole summary. Messages it has seen already are passed over.
func (s *StandIn) Update(h chat.History, from, to int) string {
	if s.known == nil {
		s.known = map[string]bool{}
	}
	for i := max(from, s.upTo); i < to; i++ {
		m := h.At(i)
		eachText(m, func(v voice, text string) {
			if v == userVoice && !m.Synthetic {
				for _, c := range binding(text) {
					if !s.known[c] && kept(c, keepConstraint) {
						s.known[c] = true
						s.lines = append(s.lines, "- "+c)
					}
				}
			}
			s.lines = append(s.lines, s.keep(v, text)...)
		})
	}
	s.upTo = max(s.upTo, to)
	return fmt.Sprintf("[Summary of the conversation before message %d]\n%s", s.upTo+1, strings.Join(s.lines, "\n"))
}

// keep returns lines with what is kept of a text: what stood on one line stays
// on one line. Plain words are kept where people and the agent wrote them.
func (s *StandIn) keep(v voice, text string) []string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		var found []string
		take := func(x string, rate uint64) {
			if !s.known[x] {
				s.known[x] = true
				if kept(x, rate) {
					found = append(found, x)
				}
			}
		}
		evidence.Entities(l, func(kind evidence.EntityKind, x string) { take(x, keepRates[kind]) })
		if v != resultVoice {
			eachWord(l, func(w string) { take(w, keepWord) })
		}
		if len(found) > 0 {
			out = append(out, strings.Join(found, " "))
		}
	}
	return out
}

// kept draws by a hash of the thing.
func kept(x string, rate uint64) bool {
	h := fnv.New64a()
	h.Write([]byte(x))
	sum := h.Sum64()
	sum ^= sum >> 33
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	return sum%1000 < rate
}
