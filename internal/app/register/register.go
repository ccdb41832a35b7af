// Package register writes winnow's MCP server into the settings files of agents,
// and takes it out again. A settings file is somebody's own: everything else in
// it stays as it is, byte for byte, with its comments. Each edit is read back and
// compared with what was there; where anything else would change, nothing is
// written and the error says to do it by hand.
package register

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
)

// name is what the server is called in all files.
const name = "winnow"

// Server is how an agent starts the server.
type Server struct {
	Command string
	Args    []string
}

// ErrByHand says that a file cannot be edited without touching what is not ours.
var ErrByHand = errors.New("the file cannot be edited without changing something else in it")

// format is how an agent's file is written.
type format interface {
	// put returns the document with our entry, drop without it.
	put(doc []byte, s Server) ([]byte, error)
	drop(doc []byte) ([]byte, error)

	// read returns the document as data, and our entry in it; nil for none. The
	// entry is not in the data, nor are parents that hold nothing else.
	read(doc []byte) (rest, entry any, err error)
}

// Add returns a settings file with the server in it. A file that has it already
// comes back as it is; what somebody added to our entry stays.
func (a *Agent) Add(doc []byte, s Server) ([]byte, error) {
	return edit(a.format, doc, func(d []byte) ([]byte, error) { return a.format.put(d, s) }, true)
}

// Remove returns a settings file without the server.
func (a *Agent) Remove(doc []byte) ([]byte, error) {
	return edit(a.format, doc, a.format.drop, false)
}

// Entry is what Add writes into an empty file.
func (a *Agent) Entry(s Server) ([]byte, error) { return a.Add(nil, s) }

// edit changes a document and makes sure that nothing else in it changed.
func edit(f format, doc []byte, change func([]byte) ([]byte, error), want bool) ([]byte, error) {
	before, was, err := f.read(doc)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w; correct it first", err)
	}
	if was == nil && !want {
		return doc, nil
	}
	// Inserted lines end as the others do.
	crlf := bytes.Contains(doc, []byte("\r\n"))
	plain := doc
	if crlf {
		plain = bytes.ReplaceAll(doc, []byte("\r\n"), []byte("\n"))
	}
	if bytes.ContainsRune(plain, '\r') || crlf && bytes.Count(plain, []byte("\n")) != bytes.Count(doc, []byte("\r\n")) {
		return nil, fmt.Errorf("%w: its lines end in different ways", ErrByHand)
	}
	out, err := change(plain)
	if err != nil {
		return nil, err
	}
	if crlf {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	after, is, err := f.read(out)
	if err != nil || !reflect.DeepEqual(before, after) || (is != nil) != want {
		return nil, ErrByHand
	}
	return out, nil
}
