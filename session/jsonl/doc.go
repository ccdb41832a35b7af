// Package jsonl keeps sessions in files, one JSON object on each line: the
// format of pi's session files, which pi and winnow can both continue.
//
// [Open] makes a store of a folder; [OpenFile] opens a single file. Versions 1
// to 3 are read and version 3 is written. A file of an older version is never
// changed: what is added to it goes into a copy of version 3 beside it, and the
// copy is what is opened from then on.
//
// Files are only ever added to. An append is one write, followed by an fsync
// before it is acknowledged; appends that come while one is under way share the
// next. A line that a crash tore is passed over, and a record glued to it is
// found. A file that is not a session is refused and not touched.
//
// Several processes may add to one file. Each write is made under a lock of
// the file, so lines never mix: who comes second waits for that one write, at
// most [Options.LockTimeout], and then gets an error that wraps
// [session.ErrBusy]. Readers wait only while a line is being written. Each
// process goes on from the entry it knows; entries that two processes add after
// the same one are branches of the tree.
package jsonl
