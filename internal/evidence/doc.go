// Package evidence tells what tool calls do: which kind of tool a name stands for, and
// what a call does to which file.
//
// Start with [Kinds.Access]. Everything here is a pure function of its arguments.
// Nothing panics on malformed arguments or output; what cannot be understood is left
// out.
package evidence
