// Package chat is winnow's model of a conversation with a language model.
//
// A [Request] is what one call is made of: a system prompt, tool definitions, a
// [History], the output that is wanted and the [Rules] of the dialect it is
// sent in. A history is a sequence of messages, oldest first. It is immutable:
// [History.Append] gives a longer history and leaves the old one as it was, so
// a history can be shared between goroutines and kept for ever.
//
// Every prefix of a history has a hash ([History.Chain]). Two histories with
// the same hash at n hold the same first n messages, however they were built; that
// is how a plan finds the conversation it was made for.
//
// [Outline] finds the turns and the exchanges: an assistant message with tool
// calls together with all results of those calls. Nothing in winnow separates
// an exchange.
//
// The package knows no provider, no tokens and no compaction. It does no I/O.
package chat
