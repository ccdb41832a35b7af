package pibase

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/pifile"
)

// Entry is one entry of a session.
type Entry struct {
	Type, ID, Parent string

	Message *Message // of a message or custom_message

	Summary   string // of a compaction or branch summary
	FirstKept string
	FromHook  bool
	System    *Message // that a compaction carries
	Read      []string // files in a compaction's or branch summary's details
	Modified  []string

	Provider, Model, Thinking string

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
func Read(data []byte) (*File, error) {
	f := &File{Version: 1}
	var records []jsontext.Value
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || decode.Valid(line) != nil {
			continue
		}
		v := jsontext.Value(line)
		if f.Header == nil {
			h, ok := pifile.ParseHeader(v)
			if !ok {
				return nil, fmt.Errorf("pibase: the first record is not a session header")
			}
			f.Header, f.Version = v, max(h.Version, 1)
		}
		records = append(records, v)
	}
	if f.Header == nil {
		return nil, fmt.Errorf("pibase: no session header")
	}
	f.Entries = make([]Entry, 0, len(records))
	for i, v := range records[1:] {
		e := Parse(v)
		if f.Version < 2 {
			e.ID, e.Parent = strconv.Itoa(i+1), ""
			if i > 0 {
				e.Parent = strconv.Itoa(i)
			}
			if kept := decode.Member(v, "firstKeptEntryIndex"); e.Type == "compaction" && kept.Kind() == '0' {
				if n, _ := decode.Int(kept); n > 0 && n < len(records) {
					e.FirstKept = strconv.Itoa(n)
				}
			}
		}
		if f.Version < 3 && e.Message != nil && e.Message.Role == "hookMessage" {
			e.Message.Role = "custom"
		}
		f.Entries = append(f.Entries, e)
	}
	return f, nil
}

// Parse reads one entry, which must be valid JSON.
func Parse(raw jsontext.Value) Entry {
	p := pifile.Parse(raw)
	e := Entry{
		Type: p.Type, ID: p.ID, Parent: p.Parent,
		Summary: str(p.Summary), FirstKept: str(p.FirstKept), FromHook: pifile.Set(p.FromHook),
		Read: list(p.Details, "readFiles"), Modified: list(p.Details, "modifiedFiles"),
		Provider: str(p.Provider), Model: str(p.Model), Thinking: str(p.Thinking),
		Target: str(p.Target), Replacement: p.Replacement,
	}
	if p.System.Kind() == '{' {
		e.System = parseMessage(p.System)
	}
	switch p.Type {
	case pifile.TypeMessage:
		if p.Message != nil {
			e.Message = parseMessage(p.Message)
		}
	case pifile.TypeCustomMessage:
		e.Message = parseMessage(raw)
		e.Message.Role = "custom"
	}
	return e
}

func list(v jsontext.Value, name string) []string {
	var out []string
	for _, e := range decode.Elements(decode.Member(v, name)) {
		out = append(out, str(e))
	}
	return out
}

// messages returns what the entry adds to a context by itself.
func (e *Entry) messages() []*Message {
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
