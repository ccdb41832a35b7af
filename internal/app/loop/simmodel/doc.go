// Package simmodel is a model for trying winnow's agent without a key and
// without a network: the provider simulator inside the process, with a script
// that calls the agent's own tools on the files of the working folder. It only
// lists and reads by itself; it writes and runs something harmless
// where the person's words ask for it, so that the questions can be seen too.
//
// It understands nothing of what it reads, and says so. What it is good for is
// to fill a window with real content, so that compaction can be watched.
package simmodel
