// Package evidence finds, without a model, what a conversation has shown: the
// files that were read and changed, the commands that ran and how they ended, and
// the errors that stood in tool output.
//
// Start with [Kinds.Access], which says what a tool call does to which file.
// [ErrorLines] finds what went wrong in an output, [Limit] shortens one, and
// [Skeleton] says in a few tokens what it said. [Extract] gathers the evidence of
// a whole stretch of messages, and [Evidence.Survives] tells how much of it stands
// in some text, a summary for example.
//
// Everything here is a pure function of the original messages: the same input
// gives the same output, on any machine. Nothing is invented: every word that
// is not a fixed label stood in the input. Nothing panics on malformed
// arguments or output; what cannot be understood is left out.
package evidence
