package jsonl

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/session"
)

const lineSpace = " \t\r\x00"

// splitLines returns the lines of data, of which the first is numbered from and begins
// at a place in the file, without those that are empty.
func splitLines(data []byte, from int, start int64) []session.Record {
	lines := make([]session.Record, 0, bytes.Count(data, []byte{'\n'})+1)
	for at := 0; at < len(data); from++ {
		end := len(data)
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			end = at + n
		}
		text, next := data[at:end:end], end+1
		if from == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		text = bytes.TrimLeft(text, lineSpace)
		at = end - len(text)
		if text = bytes.TrimRight(text, lineSpace); len(text) > 0 {
			lines = append(lines, session.Record{Raw: text, Line: from, At: start + int64(at)})
		}
		at = next
	}
	return lines
}

// isWholeObject reports whether a line is one JSON object.
func isWholeObject(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}' && decode.Valid(line) == nil
}

// parseLines finds the records on lines, on all cores when there are many.
func parseLines(lines []session.Record) (recs []session.Record, notes []string) {
	bad := make([]bool, len(lines))
	const few = 1024
	workers := max(1, min(runtime.GOMAXPROCS(0), 8, len(lines)/few))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			d := jsontext.NewDecoder(new(bytes.Buffer))
			for i := len(lines) * w / workers; i < len(lines)*(w+1)/workers; i++ {
				bad[i] = !isValidObject(d, lines[i].Raw)
			}
		})
	}
	wg.Wait()
	if !slices.Contains(bad, true) {
		return lines, nil
	}
	for i, l := range lines {
		if !bad[i] {
			recs = append(recs, l)
			continue
		}
		found := recoverLine(l.Raw)
		for _, raw := range found {
			recs = append(recs, session.Record{Raw: raw, Line: l.Line})
		}
		if len(found) == 0 {
			notes = append(notes, fmt.Sprintf("line %d is not a record: it is left out", l.Line))
		} else {
			notes = append(notes, fmt.Sprintf("line %d is damaged: %d records were found on it", l.Line, len(found)))
		}
	}
	return recs, notes
}

func isValidObject(d *jsontext.Decoder, text []byte) bool {
	if text[0] != '{' || text[len(text)-1] != '}' {
		return false
	}
	d.Reset(bytes.NewBuffer(text), decode.Tolerant()...)
	if d.SkipValue() != nil {
		return false
	}
	return int(d.InputOffset()) == len(text)
}

// entryTypes are the types of records. Blocks inside messages have others, so
// they are not taken for records when a torn line is searched.
var entryTypes = map[string]bool{
	"message": true, "compaction": true, "branch_summary": true, "model_change": true, "thinking_level_change": true,
	"custom": true, "custom_message": true, "label": true, "session_info": true, "usage": true, "context_edit": true,
	"active_tools_change": true, "session": true,
}

// recoverLine finds the records on a line that is not one record: several glued
// together, or one that was torn and the next one glued to it.
func recoverLine(text []byte) [][]byte {
	start := []byte(`{"type":"`)
	var found [][]byte
	d := jsontext.NewDecoder(new(bytes.Buffer))
	for tries := 0; len(text) > 0 && tries < 1000; tries++ {
		if text[0] == '{' {
			d.Reset(bytes.NewBuffer(text), decode.Tolerant()...)
			if v, err := d.ReadValue(); err == nil {
				end := int(d.InputOffset())
				if entryTypes[decode.Str(v, "type")] {
					found = append(found, text[end-len(v):end:end])
					text = bytes.TrimLeft(text[end:], lineSpace+",")
					continue
				}
			}
		}
		next := bytes.Index(text[1:], start)
		if next < 0 {
			break
		}
		text = text[1+next:]
	}
	return found
}
