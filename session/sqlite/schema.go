package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/internal/sqldb"
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
	`ALTER TABLE sessions ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
	CREATE INDEX sessions_to_index ON sessions (key) WHERE indexed < entries;
	DELETE FROM words;
	DROP TABLE indexed;`,
}

// prepareTables makes or migrates the tables.
func (s *store) prepareTables() error {
	if _, err := s.write.Exec("PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	return s.write.Run(context.Background(), true, func(ctx context.Context, tx sqldb.Conn) error {
		version := 0
		if err := tx.Query(ctx, "SELECT user_version FROM pragma_user_version", nil, func(r sqldb.Row) error { return r.Scan(&version) }); err != nil || version >= len(migrations) {
			return err
		}
		return sqldb.Script(ctx, tx, strings.Join(migrations[version:], "\n")+
			fmt.Sprintf("\nPRAGMA user_version = %d; PRAGMA application_id = %d", len(migrations), application))
	})
}
