package sqlite

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"sync"

	"github.com/winnow-llm/winnow/internal/planstore/sqlstore"
)

// Marks wait a moment before they are written together. Until then they stand in a
// journal beside the file, which a process that was killed leaves behind for the next
// one to read. The journal need not survive the machine, holds no content, and is
// used by all processes that share the file.

// journalSize is where another journal is begun; the last one is kept. What it holds
// is in the file long before.
const journalSize = 256 << 10

// journal is a file of marks, one on a line.
type journal struct {
	mu   sync.Mutex
	path string
	file *os.File
	size int64
}

// open opens the journal and returns what earlier processes left.
func (j *journal) open(path string) ([]sqlstore.LateMark, error) {
	j.path = path + "-marks"
	var left []sqlstore.LateMark
	for _, name := range []string{j.path + ".old", j.path} {
		text, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			var m sqlstore.LateMark
			if json.Unmarshal(line, &m) == nil { // the last one may be cut off
				left = append(left, m)
			}
		}
	}
	return left, j.beginFile()
}

// beginFile opens the journal that is written from now on.
func (j *journal) beginFile() error {
	f, err := os.OpenFile(j.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	j.file = f
	j.size, err = f.Seek(0, io.SeekEnd)
	return err
}

// noteMark writes a mark into the journal.
func (j *journal) noteMark(m sqlstore.LateMark) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.size > journalSize {
		if err := j.file.Close(); err != nil { // some systems rename no open file
			return err
		}
		kept := os.Rename(j.path, j.path+".old")
		if err := j.beginFile(); err != nil {
			return err
		}
		if kept != nil { // another process has it open: tried again when as much has come again
			j.size = 0
		}
	}
	n, err := j.file.Write(append(line, '\n')) // in one piece: others write too
	j.size += int64(n)
	return err
}

// close ends the use of the journal.
func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
