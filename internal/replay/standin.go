package replay

import "fmt"

// StandIn returns what takes the place of an LLM's summary of the messages before
// one: a text that says nothing, for which policies declare [StandInTokens]. What a
// summary says in its own words is not measured here; whether it has the text of the
// next edits is, and recorded ones never had.
func StandIn(before int) string {
	return fmt.Sprintf("[Summary of the conversation before message %d]", before+1)
}

// StandInTokens is the size of recorded summaries: 3.6k tokens written from 91k.
const StandInTokens = 3600
