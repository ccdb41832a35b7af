// Package pibase is the baseline "pi": what the agent pi, version 1.5.0, makes
// of a session file. It estimates, cuts and serialises as pi does, to the
// token and to the byte, so that winnow can be compared with it and can write
// files that pi reads the same way.
//
// [Read] takes a session file as pi takes it, without the lines that are not JSON.
// [Path] and [Project] give what the model would see, [Prepare] what a compaction
// would cut, [Serialize] the text that would be summarised.
//
// Nothing here is how winnow itself compacts: where pi is wrong this package is
// wrong in the same way. One thing is left out on purpose: a circle of parents,
// on which pi runs out of memory, ends the path.
package pibase
