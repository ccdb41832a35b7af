// Package pg is what winnow's PostgreSQL stores have in common: how a database
// is reached, how its tables come into being, and what happens while it is gone.
//
// [Open] connects. [DB.Do] runs statements: within a time, and not at all while
// the database is known to be gone, so that requests fail at once instead of
// waiting one after the other. [DB.Prepare] brings tables to the version that
// this program knows, and refuses tables of a later one.
//
// Passwords come from the address, from PGPASSWORD, from a password file in
// PostgreSQL's own format (PGPASSFILE), or from a file that holds nothing else
// (password_file=PATH in the address), which is read again for each connection.
// They are in no error and no log.
package pg
