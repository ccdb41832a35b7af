package jsonl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/session"
)

// copySuffix is what the name of a copy in version 3 ends in.
const copySuffix = ".v3"

func copyPath(path string) string {
	return strings.TrimSuffix(path, extension) + copySuffix + extension
}

// migrate turns records of version 1 or 2 into version 3. Records of version 1
// get ids, each the parent of the next. The ids depend on the records alone, so
// they are the same every time.
func (l *Log) migrate(recs []record) []record {
	if l.header.Version == 1 && len(l.old) > 0 && len(recs) > 0 {
		l.note("the file of version 1 has grown since it was opened: open it again to see all of it")
		return nil
	}
	ids := make([]string, len(recs))
	byIndex := []string{""} // what compactions of version 1 count: all records, the header first
	taken := make(map[string]bool, len(recs))
	if l.header.Version == 1 {
		for i := range recs {
			ids[i] = recordID(l.header.ID, recs[i].line, recs[i].raw, taken)
			byIndex = append(byIndex, ids[i])
		}
	}
	for i := range recs {
		raw := recs[i].raw
		if l.header.Version == 1 {
			parent := ""
			if i > 0 {
				parent = ids[i-1]
			}
			raw = withPlace(raw, ids[i], parent, byIndex)
		}
		recs[i].raw = withoutHookRole(raw)
		l.old = append(l.old, recs[i].raw)
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

// withPlace puts id and parent into a record, and the id of the entry that a
// compaction keeps first. Every other byte stays.
func withPlace(raw []byte, id, parent string, byIndex []string) []byte {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	var b bytes.Buffer
	b.Grow(len(raw) + 64)
	fmt.Fprintf(&b, `{"type":%s,"id":"%s","parentId":%s`, orQuotes(decode.Member(raw, "type")), id, up)
	for k, v := range decode.Members(raw) {
		switch k {
		case "type", "id", "parentId":
			continue
		case "firstKeptEntryIndex":
			kept := id // what is not there: nothing is kept
			if n, err := decode.Int(v); err == nil && n > 0 && n < len(byIndex) {
				kept = byIndex[n]
			}
			fmt.Fprintf(&b, `,"firstKeptEntryId":"%s"`, kept)
			continue
		}
		b.WriteString("," + quoted(k) + ":")
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func orQuotes(v jsontext.Value) string {
	if len(v) == 0 {
		return `""`
	}
	return string(v)
}

func quoted(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return string(b)
}

// withoutHookRole renames the one role that version 3 renamed.
func withoutHookRole(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("hookMessage")) {
		return raw
	}
	role := decode.Path(raw, "message", "role")
	if decode.Str(raw, "message", "role") != "hookMessage" {
		return raw
	}
	at := indexOf(raw, role)
	if at < 0 {
		return raw
	}
	out := append([]byte(nil), raw[:at]...)
	out = append(out, `"custom"`...)
	return append(out, raw[at+len(role):]...)
}

// indexOf returns where a value that was cut out of raw stands in it, or -1.
func indexOf(raw, part []byte) int {
	for at := 0; len(part) > 0; at++ {
		i := bytes.Index(raw[at:], part)
		if i < 0 {
			break
		}
		if at += i; &raw[at] == &part[0] {
			return at
		}
	}
	return -1
}

// moveToCopy makes a copy of version 3 beside a file of an older version, or
// finds the one that another process has just made, and goes on in it. The
// caller holds the mutex.
func (l *Log) moveToCopy(ctx context.Context) error {
	path := copyPath(l.path)
	unlock, err := lock(ctx, l.r, true, l.o.LockTimeout)
	if err != nil {
		return writeError("copy", l.path, err)
	}
	defer unlock()
	if h, err := peek(path); err == nil && h.ID != l.header.ID {
		return &session.Error{Op: "copy", Session: l.path, Problem: filepath.Base(path) + " beside it is another session", Hint: "move that file away", Err: session.ErrExists}
	} else if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return &session.Error{Op: "copy", Session: l.path, Problem: filepath.Base(path) + " beside it is no session: " + err.Error(), Hint: "move that file away", Err: session.ErrExists}
		}
		if err := writeWhole(path, session.HeaderRecord(l.header), l.old); err != nil {
			return writeError("copy", path, err)
		}
	}
	was, from := l.r, l.header.Version
	if err := l.reopen(path); err != nil {
		return err
	}
	was.Close()
	l.note("version %d of this session is continued in %s", from, filepath.Base(path))
	return nil
}
