package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/input"
)

// OpenCode keeps a session in pieces:
//
//	storage/session/PROJECT/SESSION.json    what the session is
//	storage/message/SESSION/MESSAGE.json    one message, without its parts
//	storage/part/MESSAGE/PART.json          one part of it
//
// Names sort in the order in which things were made. Put together they are what
// opencode export writes, which package transcript reads.

// isStorage reports whether a folder is OpenCode's.
func isStorage(dir string) bool {
	for _, name := range []string{"session", "message", "part"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// storageFiles returns the sessions in a folder of OpenCode's.
func storageFiles(ctx context.Context, storage string) ([]File, error) {
	sessions := Agent{session: endsWithOneOf(".json")}
	all, err := sessions.filesBelow(ctx, filepath.Join(storage, "session"), new([]string))
	for i := range all {
		f := &all[i]
		// The session's own file is not written with each message: their folder is.
		if info, err := os.Stat(filepath.Join(storage, "message", sessionID(f.Path))); err == nil && info.ModTime().After(f.Changed) {
			f.Changed = info.ModTime()
		}
		f.storage = storage
	}
	return all, err
}

func sessionID(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") }

// exported is a session as opencode export writes it.
type exported struct {
	Info     json.RawMessage   `json:"info"`
	Messages []exportedMessage `json:"messages"`
}

type exportedMessage struct {
	Info  json.RawMessage   `json:"info"`
	Parts []json.RawMessage `json:"parts"`
}

// encode returns the session as one document.
func (x *exported) encode() ([]byte, error) {
	if len(x.Messages) == 0 {
		return nil, errors.New("OpenCode keeps no message of this session")
	}
	return json.Marshal(x)
}

// readStorage puts a session together.
func readStorage(storage, path string, maxBytes int64) ([]byte, error) {
	r := pieces{left: maxBytes}
	all := exported{Info: r.readPiece(path)}
	for _, m := range r.pieceNames(filepath.Join(storage, "message", sessionID(path))) {
		message := exportedMessage{Info: r.readPiece(m), Parts: []json.RawMessage{}}
		for _, p := range r.pieceNames(filepath.Join(storage, "part", sessionID(m))) {
			message.Parts = append(message.Parts, r.readPiece(p))
		}
		all.Messages = append(all.Messages, message)
	}
	if r.err != nil {
		return nil, r.err
	}
	return all.encode()
}

// pieces reads small files up to a number of bytes, and remembers the first
// error.
type pieces struct {
	left int64
	err  error
}

// pieceNames returns the pieces in a folder, in order; none where there is none.
func (r *pieces) pieceNames(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) && r.err == nil {
			r.err = err
		}
		return nil
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".json") {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// readPiece returns one file, which must be a JSON value so that it cannot break the
// whole.
func (r *pieces) readPiece(path string) []byte {
	if r.err != nil {
		return nil
	}
	data, err := input.File(path, r.left)
	r.left -= int64(len(data))
	if err == nil && !jsontext.Value(data).IsValid() {
		err = errors.New("it is damaged: not one JSON value")
	}
	if err != nil {
		r.err = fmt.Errorf("its piece %s: %w", filepath.Base(path), err)
	}
	return data
}
