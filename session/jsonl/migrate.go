package jsonl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/winnow-llm/winnow/internal/pifile"
	"github.com/winnow-llm/winnow/session"
)

// copySuffix is what the name of a copy in version 3 ends in.
const copySuffix = ".v3"

func copyPath(path string) string {
	return strings.TrimSuffix(path, extension) + copySuffix + extension
}

// migrateRecords turns records of version 1 or 2 into version 3. Records of version 1
// get ids, each the parent of the next. The ids depend on the records alone, so
// they are the same every time.
func (l *log) migrateRecords(recs []session.Record) []session.Record {
	if l.header.Version == 1 && len(l.old) > 0 && len(recs) > 0 {
		l.note("the file of version 1 has grown since it was opened: open it again to see all of it")
		return nil
	}
	ids := make([]string, len(recs))
	byIndex := []string{""} // what compactions of version 1 count: all records, the header first
	taken := make(map[string]bool, len(recs))
	if l.header.Version == 1 {
		for i := range recs {
			ids[i] = recordID(l.header.ID, recs[i].Line, recs[i].Raw, taken)
			byIndex = append(byIndex, ids[i])
		}
	}
	for i := range recs {
		raw := recs[i].Raw
		if l.header.Version == 1 {
			parent := ""
			if i > 0 {
				parent = ids[i-1]
			}
			raw = pifile.WithPlace(raw, ids[i], parent, byIndex)
		}
		recs[i].Raw, recs[i].At = pifile.WithoutHookRole(raw), 0 // which the file does not have
		l.old = append(l.old, recs[i].Raw)
	}
	return recs
}

func recordID(session string, line int, raw []byte, taken map[string]bool) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %s", session, line, n, raw))
		if id := hex.EncodeToString(sum[:4]); !taken[id] {
			taken[id] = true
			return id
		}
	}
}

// moveToCopy makes a copy of version 3 beside a file of an older version, or
// finds the copy that another process has just made, and goes on in it. The caller
// holds the mutex.
func (l *log) moveToCopy(ctx context.Context) error {
	path := copyPath(l.path)
	unlock, err := lockFile(ctx, l.r, true, l.o.LockTimeout)
	if err != nil {
		return writeError("copy", l.path, err)
	}
	defer unlock()
	if h, err := readHeader(path); err == nil && h.ID != l.header.ID {
		return &session.Error{Op: "copy", Session: l.path, Problem: filepath.Base(path) + " beside it is another session", Hint: "move that file away", Err: session.ErrExists}
	} else if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return &session.Error{Op: "copy", Session: l.path, Problem: filepath.Base(path) + " beside it is something other than a session: " + err.Error(), Hint: "move that file away", Err: session.ErrExists}
		}
		if err := writeWhole(path, session.HeaderRecord(l.header), session.Records(l.old...)); err != nil {
			return writeError("copy", path, err)
		}
	}
	return l.goOnIn(path)
}
