// Package workset rebuilds the files of a conversation as they stand, from what
// the history shows: reads place lines, edits and patches replace them, writes
// set a file whole, deletes and moves end it.
//
// Nothing is guessed. Every line of a [File] was shown in the history, or is the
// result of an edit of the history applied to such lines; what may have changed
// since is marked, and what is not known is absent.
package workset
