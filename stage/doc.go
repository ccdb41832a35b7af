// Package stage finds the edits that make a conversation fit.
//
// A [Stage] proposes edits; [Pipeline.Run] puts stages in a row and gives the
// guarantee: in a bounded number of steps it returns a plan whose view obeys
// the rules, fits the available input and leaves every pin as it is, or a
// [*CannotFitError] that names what cannot shrink. No stage needs a model.
//
// The stages, cheapest first: limit (oversized items), supersede (older copies of a
// file or output that was read or printed again), prune (old tool output becomes a
// skeleton), split-turn (the first part of a long turn), fold
// (older history becomes evidence and a summary), truncate (whole turns go, oldest
// first). Before them [Repair] mends calls and results that lost their partners,
// which some histories arrive with.
//
// [LimitOutput], [ReadBudget] and [Attachments] are for the builders of agents:
// they keep a tool's output or a file from growing into the conversation in
// the first place.
package stage
