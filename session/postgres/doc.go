// Package postgres keeps sessions in PostgreSQL: the store for people on several
// machines, with full-text search.
//
// [Open] opens the database and makes its tables. Records are kept byte for byte
// as a session file would hold them, so a session can be copied to a file and
// back.
//
// Every append is one batch, all or none, which the database has made to last when it
// is acknowledged. Appends that come while one is under way share the next. Those
// of several processes to one session come one after the other.
//
// Words are indexed when someone searches, not when a message is added.
package postgres
