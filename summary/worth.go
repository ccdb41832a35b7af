package summary

import "math"

// # What a name is worth
//
// A fold has room for a small part of what it replaces. What should it say? What
// the agent will need next. That cannot be known, but it can be guessed
// from what was touched: the file that was edited a minute ago will be edited
// again, and the word that stood once in a log of last hour will not come back.
// Worth is that guess: the expected use of a name or word in the next steps, on a
// scale whose zero alone has a meaning. The record (record.go) adds up the worth
// of the names in a line, and the index (index.go) ranks names by it.
//
// Four things count, in this order: how long ago the name was touched, whether
// the agent wrote it itself, in how many messages it stood, and whether it is a
// name at all or a plain word. Take this session, which ends here:
//
//	user    The server drops idle connections. Please find out why.
//	call    read_file server/pool.go
//	result  … const maxIdle = 2 … func (p *Pool) trimIdle() …
//	agent   The root cause is maxIdle: it is far too small.
//	call    edit_file server/pool.go, maxIdle = 2, maxIdle = 64
//	result  The file was changed.
//	call    shell go test ./server
//	result  --- FAIL: TestTrim … 64 connections are open, want 2 …
//
//	             recency  messages     written     plain word      worth
//	maxIdle         .99   1+ln 2=1.69  by agent 2                   3.36
//	TestTrim       1.00   1            by tool                      1.00
//	connections    1.00   1+ln 2=1.69  by tool     .25, common .11  0.05
//
// Recency is 1/sqrt(1 + bytes since then / 8,000): everything here is recent. Of
// a name that stood 24,000 bytes ago half would be left, and 800,000 bytes ago a
// tenth: old things fade, but a name that came up often is not lost.
//
// A name that the messages after the fold mention is worth nothing, nor is one
// that the text says already: neither would be lost. This is why a second line
// about maxIdle is not chosen.
//
// What worth deliberately is not: a model. One with thirty fitted figures did not
// do better on sessions that it was not fitted on, so the four below are round.
// It knows nothing of what words mean, of the task or of the programming
// language, and it does not judge the text of files: how these stand is shown by
// the state (state.go).

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
