package jsonl

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// textLine is a line of a file.
type textLine struct {
	text []byte
	n    int
	at   int // where it starts in the data
}

// record is a JSON object that stands on a line.
type record struct {
	raw  []byte
	line int
	at   int // where it starts in the data; -1 where it was found on a damaged line
}

const lineSpace = " \t\r\x00"

func splitLines(data []byte, from int) []textLine {
	lines := make([]textLine, 0, bytes.Count(data, []byte{'\n'})+1)
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
			lines = append(lines, textLine{text, from, at})
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
func parseLines(lines []textLine) (recs []record, notes []string) {
	bad := make([]bool, len(lines))
	check := func(from, to int) {
		d := jsontext.NewDecoder(new(bytes.Buffer))
		for i := from; i < to; i++ {
			bad[i] = !isValidObject(d, lines[i].text)
		}
	}
	const few = 1024
	if workers := min(runtime.GOMAXPROCS(0), 8, len(lines)/few); workers > 1 {
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() { check(len(lines)*w/workers, len(lines)*(w+1)/workers) })
		}
		wg.Wait()
	} else {
		check(0, len(lines))
	}
	recs = make([]record, 0, len(lines))
	for i := range lines {
		if !bad[i] {
			recs = append(recs, record{lines[i].text, lines[i].n, lines[i].at})
			continue
		}
		found := recoverLine(lines[i].text)
		for _, raw := range found {
			recs = append(recs, record{raw, lines[i].n, -1})
		}
		if len(found) == 0 {
			notes = append(notes, fmt.Sprintf("line %d is not a record: it is left out", lines[i].n))
		} else {
			notes = append(notes, fmt.Sprintf("line %d is damaged: %d records were found on it", lines[i].n, len(found)))
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
					text = bytes.TrimLeft(text[end:], " \t\r\x00,")
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
