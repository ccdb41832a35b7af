package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// record is one JSON value of a file: a line of a JSONL file, or the whole
// document. It is valid JSON.
type record struct {
	line int
	raw  jsontext.Value
}

// splitRecords finds the JSON values in the data. As long as one value follows the
// other it does not matter how they are laid out: one per line, several on a
// line, or one over many lines. From the first place that is not JSON on, every
// line is read for itself, so that one broken line costs only that line.
func (in *input) splitRecords() {
	d := jsontext.NewDecoder(bytes.NewBuffer(in.data), decode.Tolerant()...)
	line, counted := 1, 0
	for {
		v, err := d.ReadValue()
		end := int(d.InputOffset())
		if err != nil {
			if err == io.EOF {
				return
			}
			start := len(in.data) - len(bytes.TrimLeft(in.data[counted:], " \t\r\n"))
			line += bytes.Count(in.data[counted:start], []byte{'\n'})
			in.noteProblem(line, err, start)
			in.splitLines(line, start)
			return
		}
		start := end - len(v)
		line += bytes.Count(in.data[counted:start], []byte{'\n'})
		in.records = append(in.records, record{line, in.data[start:end:end]})
		line += bytes.Count(v, []byte{'\n'})
		counted = end
	}
}

// eachRecord ranges over the records, once: it lets go of their bytes.
func (in *input) eachRecord() iter.Seq[record] {
	return func(yield func(record) bool) {
		for i, r := range in.records {
			in.records[i], in.at = record{}, r.line
			if !yield(r) {
				return
			}
		}
	}
}

// spreadArrays puts the elements of an array in its place where they are sessions or
// lines of a log, as tools leave them that gather several values into one.
func (in *input) spreadArrays() {
	if !slices.ContainsFunc(in.records, func(r record) bool { return isGathered(r.raw, in.format) }) {
		return
	}
	var out []record
	for _, r := range in.records {
		if !isGathered(r.raw, in.format) {
			out = append(out, r)
			continue
		}
		for _, v := range decode.Elements(r.raw) {
			out = append(out, record{in.lineOf(v), v})
		}
	}
	in.records = out
}

// isGathered reports whether a value is an array of what files of a format hold
// otherwise one after the other.
func isGathered(raw jsontext.Value, f Format) bool {
	if raw.Kind() != '[' {
		return false
	}
	first := firstElement(raw)
	switch f {
	case OpenAI, Responses, Anthropic, Gemini:
		return isBody(first) // an array of messages stays one
	case NeuroLink:
		return decode.Member(first, "messages") != nil
	case GeminiCLI:
		return decode.Member(first, "sessionId") != nil
	case OpenHandsV0:
		return first.Kind() == '{' // else pairs of action and observation
	}
	return true
}

// noteProblem keeps the first problem, for the case that nothing can be read at all.
func (in *input) noteProblem(line int, err error, start int) {
	if in.bad != nil {
		return
	}
	problem, hint := "this is not valid JSON", hintFormats
	if rest := bytes.TrimLeft(in.data[min(start, len(in.data)):], " \t\r\n\x00"); len(in.records) > 0 || bytes.HasPrefix(rest, []byte(`{"`)) || bytes.HasPrefix(rest, []byte("[{")) {
		hint = "the file is damaged there: fix or remove the line, or copy the file again"
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at := max(start, min(int(syntax.ByteOffset), len(in.data)))
		line += bytes.Count(in.data[start:at], []byte{'\n'})
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			problem, hint = "the JSON ends in the middle", "the file was cut off: copy it again, or remove the broken end"
		case syntax.Err != nil:
			problem += " (" + spellInvisible(syntax.Err.Error()) + ")"
		}
	}
	in.bad = in.newError(line, problem, hint)
}

// spellInvisible spells out the characters that a terminal does not show by themselves.
func spellInvisible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r > 0x7e && (!unicode.IsPrint(r) || unicode.IsMark(r)) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// splitLines reads the rest of the data line by line.
func (in *input) splitLines(line, at int) {
	d := jsontext.NewDecoder(new(bytes.Buffer))
	for at < len(in.data) {
		end := len(in.data)
		if n := bytes.IndexByte(in.data[at:], '\n'); n >= 0 {
			end = at + n
		}
		in.splitLine(d, line, in.data[at:end:end], end == len(in.data))
		at = end + 1
		line++
	}
}

// splitLine reads the values on one line. Where a record was torn and the next
// one glued to it, the torn one is lost and the next one found by how records
// of this file begin.
func (in *input) splitLine(d *jsontext.Decoder, line int, text []byte, last bool) {
	text = bytes.Trim(text, "\x00 \t\r")
	first := len(in.records)
	for tries := 0; len(text) > 0; tries++ {
		d.Reset(bytes.NewBuffer(text), decode.Tolerant()...)
		v, err := d.ReadValue()
		if err == nil {
			end := int(d.InputOffset())
			if k := v.Kind(); k == '{' || k == '[' {
				in.records = append(in.records, record{line, text[end-len(v) : end : end]})
			}
			text = bytes.TrimLeft(text[end:], " \t\r\x00,") // a comma: an array with an element per line
			continue
		}
		if len(text) == 1 && (text[0] == ']' || text[0] == '}') {
			return // what is left of a document whose end was damaged
		}
		switch {
		case last && errors.Is(err, io.ErrUnexpectedEOF):
			in.warn(line, "the last record ends in the middle: left out")
		case len(in.records) > first:
			in.warn(line, "the rest of the line cannot be read: left out")
		default:
			in.warn(line, "not valid JSON: left out")
		}
		next := -1
		if head := in.recordHead(); head != nil && tries < 64 {
			next = bytes.Index(text[1:], head)
		}
		if next < 0 {
			return
		}
		text = text[1+next:]
	}
}

// recordHead returns how the records of this file begin, up to the first colon.
func (in *input) recordHead() []byte {
	if len(in.records) == 0 {
		return nil
	}
	raw := in.records[len(in.records)-1].raw
	if n := bytes.IndexByte(raw[:min(len(raw), 64)], ':'); n > 3 {
		return raw[:n+1]
	}
	return nil
}
