package pibase

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/pifile"
)

// Entry is one entry of a session.
type Entry struct {
	Type, ID, Parent string

	Message *Message // of a message or custom_message
	*Change          // nil of a message: most entries are, and there may be a million
}

// Change is what an entry says that is not a message.
type Change struct {
	Summary   string // of a compaction or branch summary
	FirstKept string
	FromHook  bool
	System    *Message // that a compaction carries
	Read      []string // files in a compaction's or branch summary's details
	Modified  []string

	Target      string // of a context edit
	Replacement jsontext.Value
}

// File is a session file.
type File struct {
	Header  jsontext.Value
	Version int
	Entries []Entry
}

// Read reads a session file of version 1, 2 or 3 as pi does: lines that are
// not one JSON value are left out, and entries of version 1 get ids ("1" for
// the first, and so on), each the parent of the next.
func Read(data []byte) (*File, error) { return ReadFrom(bytes.NewReader(data)) }

// ReadFrom is [Read] of a stream, of which no more is held than its entries need.
func ReadFrom(from io.Reader) (*File, error) {
	f := &File{Version: 1}
	kept := make(map[int]int) // by entry of version 1: the record that it keeps first
	r := bufio.NewReaderSize(from, 1<<20)
	for more := true; more; {
		line, err := r.ReadBytes('\n')
		if more = err == nil; err != nil && err != io.EOF {
			return nil, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || decode.Valid(line) != nil {
			continue
		}
		if f.Header == nil {
			h, ok := pifile.ParseHeader(line)
			if !ok {
				return nil, errNoHeader
			}
			f.Header, f.Version = line, max(h.Version, 1)
			continue
		}
		e, i := Parse(line), len(f.Entries)
		if f.Version < 2 {
			e.ID, e.Parent = strconv.Itoa(i+1), ""
			if i > 0 {
				e.Parent = strconv.Itoa(i)
			}
			if v := decode.Member(line, "firstKeptEntryIndex"); e.Type == "compaction" && v.Kind() == '0' {
				kept[i], _ = decode.Int(v)
			}
		}
		if f.Version < 3 && e.Message != nil && e.Message.Role == "hookMessage" {
			e.Message.Role = "custom"
		}
		f.Entries = append(f.Entries, e)
	}
	if f.Header == nil {
		return nil, errNoHeader
	}
	for i, n := range kept {
		if n > 0 && n <= len(f.Entries) {
			f.Entries[i].FirstKept = strconv.Itoa(n)
		}
	}
	return f, nil
}

var errNoHeader = errors.New("pibase: the first record is not a session header")

// Parse reads one entry, which must be valid JSON.
func Parse(raw jsontext.Value) Entry {
	p := pifile.Parse(raw)
	e := Entry{Type: p.Type, ID: p.ID, Parent: p.Parent}
	switch p.Type {
	case pifile.TypeMessage:
		if p.Message != nil {
			e.Message = parseMessage(p.Message)
		}
		return e
	case pifile.TypeCustomMessage:
		e.Message = parseMessage(raw)
		e.Message.Role = "custom"
	}
	e.Change = &Change{
		Summary: decode.Str(p.Summary), FirstKept: decode.Str(p.FirstKept), FromHook: pifile.Set(p.FromHook),
		Read: pifile.Strings(decode.Member(p.Details, "readFiles")), Modified: pifile.Strings(decode.Member(p.Details, "modifiedFiles")),
		Target: decode.Str(p.Target), Replacement: p.Replacement,
	}
	if p.System.Kind() == '{' {
		e.System = parseMessage(p.System)
	}
	return e
}

// ownMessages returns what the entry adds to a context by itself.
func (e *Entry) ownMessages() []*Message {
	switch e.Type {
	case "message", "custom_message":
		if e.Message != nil {
			return []*Message{e.Message}
		}
	case "branch_summary":
		if e.Summary != "" {
			return []*Message{{Role: "branchSummary", Summary: e.Summary}}
		}
	case "compaction":
		s := &Message{Role: "compactionSummary", Summary: e.Summary}
		if e.System != nil {
			return []*Message{e.System, s}
		}
		return []*Message{s}
	}
	return nil
}
