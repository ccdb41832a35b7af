package agents

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	_ "modernc.org/sqlite" // OpenCode's database
)

// Later versions of OpenCode keep the same pieces in a database, opencode.db:
// the tables session, message and part, whose column data holds what the files
// held, without the ids, which are columns of their own.

// isDatabase reports whether a file is OpenCode's database.
func isDatabase(path string) bool { return filepath.Base(path) == "opencode.db" }

func openDatabase(path string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_pragma=busy_timeout(5000)"}
	return sql.Open("sqlite", u.String())
}

// walkDatabase visits the sessions of a database; one that cannot be read has
// none.
func walkDatabase(ctx context.Context, path string, visit func(File) error) error {
	sessions, err := databaseSessions(ctx, path)
	if err != nil {
		if info, e := os.Stat(path); e == nil && ctx.Err() == nil {
			return visit(File{Path: path, Changed: info.ModTime()}) // reading it says what is wrong
		}
		return ctx.Err()
	}
	for _, f := range sessions {
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

func databaseSessions(ctx context.Context, path string) ([]File, error) {
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // nothing was written
	rows, err := db.QueryContext(ctx, "SELECT id, time_updated FROM session ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // nothing was written
	var out []File
	for rows.Next() {
		var id string
		var updated int64
		if err := rows.Scan(&id, &updated); err != nil {
			return nil, err
		}
		out = append(out, File{Path: path + "#" + id, Changed: time.UnixMilli(updated), storage: path})
	}
	return out, rows.Err()
}

// readDatabase puts a session together as opencode export does.
func readDatabase(path, id string, maxBytes int64) ([]byte, error) {
	db, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // nothing was written
	rows, err := db.QueryContext(context.Background(), `SELECT m.id, m.data, p.id, p.data FROM message m
		LEFT JOIN part p ON p.message_id = m.id WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // nothing was written
	var b bytes.Buffer
	b.WriteString(`{"info":{"id":` + quoteJSON(id) + `},"messages":[`)
	last := ""
	for rows.Next() {
		var message, part, partData sql.NullString
		var data string
		if err := rows.Scan(&message, &data, &part, &partData); err != nil {
			return nil, err
		}
		for _, v := range []string{data, partData.String} {
			if v != "" && !jsontext.Value(v).IsValid() {
				return nil, fmt.Errorf("its message %.40s is damaged: not one JSON value", message.String)
			}
		}
		switch {
		case message.String != last && last != "":
			b.WriteString("]},")
			fallthrough
		case last == "":
			b.WriteString(`{"info":` + withMember(data, "id", message.String) + `,"parts":[`)
			last = message.String
		case partData.Valid:
			b.WriteByte(',')
		}
		if partData.Valid {
			b.WriteString(partData.String)
		}
		if int64(b.Len()) > maxBytes {
			return nil, fmt.Errorf("it has more than %d bytes", maxBytes)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if last == "" {
		return nil, errors.New("OpenCode keeps no message of this session")
	}
	b.WriteString("]}]}")
	return b.Bytes(), nil
}

// withMember adds a member to an object.
func withMember(object, name, value string) string {
	inner := strings.TrimPrefix(strings.TrimSpace(object), "{")
	member := "{" + quoteJSON(name) + ":" + quoteJSON(value)
	if strings.TrimSpace(inner) == "}" {
		return member + inner
	}
	return member + "," + inner
}

func quoteJSON(s string) string {
	b, _ := jsontext.AppendQuote(nil, s) // invalid characters are replaced
	return string(b)
}
