// Package evidence tells, without a model, what tool calls do and what their results
// say.
//
// Start with [Kinds.Access], which says what a call does to which file.
// [ErrorLines] finds what went wrong in an output, [Limit] shortens one, and
// [Skeleton] says in a few tokens what it said.
//
// Everything here is a pure function of its arguments: the same input gives the
// same output, on any machine. Nothing is invented: every word that is not a fixed
// label stood in the input. Nothing panics on malformed arguments or output; what
// cannot be understood is left out.
package evidence
