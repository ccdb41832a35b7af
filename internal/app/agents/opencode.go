package agents

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // OpenCode's database
)

// OpenCode keeps its sessions in a database, opencode.db, in the tables session,
// message and part. Their column data holds an object, of which the ids are columns
// of their own. Put together they are what opencode export writes, which package
// transcript reads.

// exported is a session as opencode export writes it.
type exported struct {
	Info     map[string]string `json:"info"`
	Messages []exportedMessage `json:"messages"`
}

type exportedMessage struct {
	Info  json.RawMessage   `json:"info"`
	Parts []json.RawMessage `json:"parts"`
}

// isDatabase reports whether a file is OpenCode's database.
func isDatabase(path string) bool { return filepath.Base(path) == "opencode.db" }

// eachRow calls scan with each row that a query finds in a database.
func eachRow(ctx context.Context, path string, scan func(*sql.Rows) error, query string, args ...any) error {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // nothing was written
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // nothing was written
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// databaseFiles returns the sessions of a database. One that cannot be read counts as
// one session, since reading that says what is wrong.
func databaseFiles(ctx context.Context, path string) (out []File) {
	err := eachRow(ctx, path, func(rows *sql.Rows) error {
		var id string
		var updated int64
		err := rows.Scan(&id, &updated)
		out = append(out, File{Path: path + "#" + id, Changed: time.UnixMilli(updated), database: path})
		return err
	}, "SELECT id, time_updated FROM session ORDER BY id")
	if info, there := os.Stat(path); err != nil && there == nil {
		return []File{{Path: path, Changed: info.ModTime()}}
	}
	return out
}

// readDatabase puts a session together as opencode export does.
func readDatabase(path, id string, maxBytes int64) ([]byte, error) {
	all := exported{Info: map[string]string{"id": id}}
	last, left := "", maxBytes
	err := eachRow(context.Background(), path, func(rows *sql.Rows) error {
		var message, data string
		var part, partData sql.NullString
		if err := rows.Scan(&message, &data, &part, &partData); err != nil {
			return err
		}
		if message != last {
			if !json.Valid([]byte(data)) {
				return fmt.Errorf("its message %.40s is damaged: not one JSON value", message)
			}
			all.Messages = append(all.Messages, exportedMessage{Info: json.RawMessage(data), Parts: []json.RawMessage{}})
			last, left = message, left-int64(len(data))
		}
		if partData.Valid {
			if !json.Valid([]byte(partData.String)) {
				return fmt.Errorf("its message %.40s is damaged: not one JSON value", message)
			}
			to := &all.Messages[len(all.Messages)-1]
			to.Parts = append(to.Parts, json.RawMessage(partData.String))
			left -= int64(len(partData.String))
		}
		if left < 0 {
			return fmt.Errorf("it has more than %d bytes", maxBytes)
		}
		return nil
	}, `SELECT m.id, CASE WHEN json_valid(m.data) THEN json_set(m.data, '$.id', m.id) ELSE m.data END, p.id, p.data FROM message m
		LEFT JOIN part p ON p.message_id = m.id WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id`, id)
	if err != nil {
		return nil, err
	}
	if len(all.Messages) == 0 {
		return nil, errors.New("OpenCode keeps no message of this session")
	}
	return json.Marshal(all)
}
