// Package summary writes the text that stands in place of a folded stretch of
// a conversation.
//
// Start with [Builtin]: a [Summarizer] that needs no model and no network, gives the same text
// for the same messages every time, and costs milliseconds. [NewLLM] makes one that asks a
// language model for the prose and falls back to the built-in one when the model fails,
// stalls or answers with something that the gate refuses: an answer that is empty,
// cut off, inflated or forgetful, or that names what nobody mentioned.
//
// Every summariser promises the same of the text. It counts at most Input.Max
// tokens and is smaller than what it replaces. The user's requests in it are the
// user's own words, put there by code. Everything in it is marked as quoted,
// earlier material, and text inside it cannot end the quotation: headings, tags and
// role markers that occur in the messages are escaped. Facts that code can find are
// taken from the original messages and never from an earlier summary, so a chain of
// summaries does not drift.
//
// [Prepare] finds out what to summarise, and [Serialize] writes messages down
// as text that a model reads without continuing the conversation.
package summary
