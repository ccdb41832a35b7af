// Package sqlite keeps sessions in a database: the store for many sessions,
// with full-text search. It is SQLite in pure Go, so it needs nothing installed.
//
// [Open] opens the database, or makes it. Records are kept byte for byte as a
// session file would hold them, so a session can be copied to a file and back.
//
// Every append is a transaction that is on the disk when it is acknowledged
// (write-ahead log, synchronous=FULL). Appends that come while one is under way
// share the next. A crash leaves whole transactions only.
//
// Several processes may use one database. One writes at a time: who comes
// second waits for that one transaction, at most [Options.LockTimeout], and
// then gets an error that wraps [session.ErrBusy]. Readers never wait.
//
// Words are indexed when someone searches, not when a message is added.
package sqlite
