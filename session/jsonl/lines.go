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
}

// record is a JSON object that stands on a line.
type record struct {
	raw  []byte
	line int
}

func splitLines(data []byte, from int) []textLine {
	lines := make([]textLine, 0, bytes.Count(data, []byte{'\n'})+1)
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		text := data
		if end >= 0 {
			text, data = data[:end:end], data[end+1:]
		} else {
			data = nil
		}
		if from == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if text = bytes.Trim(text, " \t\r\x00"); len(text) > 0 {
			lines = append(lines, textLine{text, from})
		}
		from++
	}
	return lines
}

// whole reports whether a line is one JSON object.
func whole(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}' && decode.Valid(line) == nil
}

// parseLines finds the records on lines, on all cores when there are many.
func parseLines(lines []textLine) (recs []record, notes []string) {
	bad := make([]bool, len(lines))
	check := func(from, to int) {
		d := jsontext.NewDecoder(new(bytes.Buffer))
		for i := from; i < to; i++ {
			bad[i] = !valid(d, lines[i].text)
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
			recs = append(recs, record{lines[i].text, lines[i].n})
			continue
		}
		found := recoverLine(lines[i].text)
		for _, raw := range found {
			recs = append(recs, record{raw, lines[i].n})
		}
		if len(found) == 0 {
			notes = append(notes, fmt.Sprintf("line %d is not a record: it is left out", lines[i].n))
		} else {
			notes = append(notes, fmt.Sprintf("line %d is damaged: %d records were found on it", lines[i].n, len(found)))
		}
	}
	return recs, notes
}

func valid(d *jsontext.Decoder, text []byte) bool {
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
