// Package tools are the tools that winnow's own agent offers to a model: files
// and a shell, in one folder.
//
// [New] makes a [Box] for a folder, [Box.Defs] describes its tools to a model,
// [Box.Look] says what a call would do before it does it, and [Box.Run] does
// it. Looking is apart from running so that a person can be asked in between:
// everything that writes, runs or leaves the folder has a [Need].
//
// What is promised: a call ends within its time-out and when its context does,
// with all processes that it started; no output is larger than the limit; a
// mistake of the model (a wrong name, bad arguments, a file that is not there)
// is an answer to the model, never a failure of the program.
package tools
