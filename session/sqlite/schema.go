package sqlite

import (
	"fmt"

	"github.com/winnow-llm/winnow/session"
)

// migrations bring a database from one version of its format to the next.
// They are never changed once released; new ones are added at the end.
var migrations = []string{
	`CREATE TABLE sessions (
		key INTEGER PRIMARY KEY,
		id TEXT NOT NULL UNIQUE,
		header BLOB NOT NULL,
		created INTEGER NOT NULL,
		modified INTEGER NOT NULL,
		bytes INTEGER NOT NULL,
		entries INTEGER NOT NULL,
		name TEXT NOT NULL
	);
	CREATE INDEX sessions_modified ON sessions (modified DESC, id DESC);
	CREATE TABLE entries (
		row INTEGER PRIMARY KEY AUTOINCREMENT,
		session INTEGER NOT NULL REFERENCES sessions (key),
		seq INTEGER NOT NULL,
		raw BLOB NOT NULL,
		UNIQUE (session, seq)
	);
	CREATE VIRTUAL TABLE words USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
	CREATE TABLE indexed (up_to INTEGER NOT NULL);
	INSERT INTO indexed VALUES (0);`,
	`ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT '';
	UPDATE sessions SET title = coalesce((SELECT substr(coalesce(record ->> '$.message.content[0].text', record ->> '$.message.content'), 1, 100)
		FROM (SELECT session, seq, CAST(raw AS TEXT) AS record FROM entries) WHERE session = key AND seq <= 12 AND record ->> '$.message.role' = 'user' ORDER BY seq LIMIT 1), '');`,
}

// prepareTables makes or migrates the tables.
func (s *store) prepareTables() error {
	if _, err := s.write.Exec("PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	for {
		tx, err := s.write.Begin()
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // nothing after a commit
		var version, id, tables int
		if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if err := tx.QueryRow("PRAGMA application_id").Scan(&id); err != nil {
			return err
		}
		if err := tx.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return err
		}
		switch {
		case id != application && tables > 0:
			return &session.Error{Op: "open the store", Session: s.path, Problem: "this is a database of another program", Hint: "nothing was changed; name another file", Err: session.ErrNotSession}
		case version > len(migrations):
			return &session.Error{Op: "open the store", Session: s.path, Problem: fmt.Sprintf("it has version %d of the format, and this program knows versions up to %d", version, len(migrations)), Hint: "use a newer winnow", Err: session.ErrNotSession}
		case version == len(migrations):
			return nil
		}
		if _, err := tx.Exec(migrations[version]); err != nil {
			return err
		}
		if _, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", version+1, application)); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
}
