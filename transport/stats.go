package transport

import "maps"

// Stats count what a transport did since it was made.
type Stats struct {
	Requests  int64 `json:"requests"`      // that hold a conversation
	Counting  int64 `json:"counting"`      // of these, those that only ask for a count
	Passed    int64 `json:"passed"`        // that hold none
	Managed   int64 `json:"managed"`       // whose context the provider manages
	Applied   int64 `json:"applied"`       // sent under a plan
	Plans     int64 `json:"plans"`         // made
	Conflicts int64 `json:"conflicts"`     // for which another writer's plan was used, which was first
	Waited    int64 `json:"waited"`        // rewrites that are due and wait for the end of a turn
	CannotFit int64 `json:"cannot_fit"`    // whose floor is larger than the window
	Overflows int64 `json:"overflows"`     // that the provider refused as too long
	Lowered   int64 `json:"lowered"`       // overflows answered by asking for less output
	Ahead     int64 `json:"lowered_ahead"` // sent with less output than was wanted, since the window has no room for it
	Recovered int64 `json:"recovered"`     // overflows after which the call succeeded
	Stripped  int64 `json:"stripped"`      // sent again without thinking
	NewestCut int64 `json:"newest_cut"`    // whose newest tool results did not fit whole
	Cut       int64 `json:"cut_silently"`  // of which a local server counted fewer tokens than were sent
	LeftOut   int64 `json:"left_out"`      // rewrites that lack a part, because making it failed or took too much work
	Would     int64 `json:"would"`         // that would have been compacted, when only observing
	Redeemed  int64 `json:"redeemed"`      // calls of offered tools that were answered, see [Options.OfferTools]

	// Failures of our own, after which the request went out as it came or
	// under the plan that was in force.
	Unreadable int64 `json:"unreadable"` // bodies that could not be read
	Failed     int64 `json:"failed"`     // planning or encoding failed
	Invalid    int64 `json:"invalid"`    // our body would have been refused
	StoreFails int64 `json:"store_fails"`

	// While the store was gone: plans that this transport alone knew, those of
	// them that it stored later, and requests answered with 503 because thinking
	// was bound to what only the store knew.
	Provisional int64 `json:"provisional"`
	SettledLate int64 `json:"settled_late"`
	Unavailable int64 `json:"unavailable"`

	// Summaries that were prepared in the background: those that were ready,
	// those that a plan used, those that came to nothing, and those that were
	// given up because their conversation had moved on.
	Prepared       int64 `json:"prepared"`
	PreparedUsed   int64 `json:"prepared_used"`
	PrepareFailed  int64 `json:"prepare_failed"`
	PrepareDropped int64 `json:"prepare_dropped"`

	// What the summariser's model was asked, and the tokens that took.
	SummaryCalls  int64 `json:"summary_calls"`
	SummaryInput  int64 `json:"summary_input"`
	SummaryOutput int64 `json:"summary_output"`
	SummaryCapped int64 `json:"summary_capped"` // requests for which none was prepared because of [Options.SummaryCap]

	// Tokens as providers reported them.
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Output     int64 `json:"output"`

	// PassedBy counts the requests that were sent as they came, by reason.
	PassedBy map[Reason]int64 `json:"passed_by,omitempty"`

	// Saved is the tokens that plans kept from being sent, by our count.
	Saved int64 `json:"saved"`
}

// tally counts something.
func (t *Transport) tally(f func(*Stats)) {
	t.counting.Lock()
	defer t.counting.Unlock()
	f(&t.stats)
}

// Stats returns the counters so far.
func (t *Transport) Stats() Stats {
	t.counting.Lock()
	defer t.counting.Unlock()
	s := t.stats
	s.PassedBy = maps.Clone(s.PassedBy)
	return s
}
