package wire

import (
	"bytes"
	"fmt"
	"io"
)

// maxLine is the longest line, and the most data in one event, that is read
// from a stream. The responses dialect repeats a whole answer in one line.
const maxLine = 16 << 20

// Event is one server-sent event.
type Event struct {
	// Name is the event's type; "" is the default, "message".
	Name string
	// Data is its data, lines joined by newlines. It is valid until the next event.
	Data []byte
}

// Events reads server-sent events, with lines of bounded length. Line ends may
// be of any kind. An event that the end of the stream cuts off is still given
// when its data line is whole.
type Events struct {
	r    io.Reader
	buf  []byte
	scan eventScanner
	wait []Event
	err  error
}

// NewEvents returns a reader of events.
func NewEvents(r io.Reader) *Events { return &Events{r: r, buf: make([]byte, 32<<10)} }

// Next returns the next event. At the end of the stream the error is [io.EOF];
// a line that is too long gives an [*Error].
func (e *Events) Next() (Event, error) {
	for len(e.wait) == 0 {
		if e.err != nil {
			return Event{}, e.err
		}
		n, err := e.r.Read(e.buf)
		collect := func(v Event) error {
			v.Data = bytes.Clone(v.Data)
			e.wait = append(e.wait, v)
			return nil
		}
		if scanErr := e.scan.write(e.buf[:n], collect); scanErr != nil {
			e.err = scanErr
		} else if err == io.EOF {
			if e.err = e.scan.end(collect); e.err == nil {
				e.err = err
			}
		} else if err != nil {
			e.err = err
		}
	}
	v := e.wait[0]
	e.wait = e.wait[1:]
	return v, nil
}

// eventScanner finds events in bytes as they arrive.
type eventScanner struct {
	line    []byte // the beginning of a line
	data    []byte
	name    string
	lines   int  // data lines of the event
	begun   bool // the first bytes of the stream were seen
	afterCR bool // the last byte was a carriage return
	broken  error
}

// write takes the next bytes and hands on the events that they complete.
func (s *eventScanner) write(p []byte, emit func(Event) error) error {
	for len(p) > 0 && s.broken == nil {
		if s.afterCR {
			s.afterCR = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		n := bytes.IndexAny(p, "\r\n")
		if n < 0 {
			n = len(p)
		}
		if len(s.line)+n > maxLine {
			s.broken = &Error{Problem: fmt.Sprintf("a line of a stream is longer than %d bytes", maxLine), Hint: "the stream does not consist of server-sent events, or is hostile"}
			break
		}
		if n == len(p) {
			s.line = append(s.line, p...)
			break
		}
		s.afterCR = p[n] == '\r'
		line := p[:n]
		if len(s.line) > 0 {
			s.line = append(s.line, p[:n]...)
			line = s.line
		}
		p = p[n+1:]
		s.broken = s.takeLine(line, emit)
		s.line = s.line[:0]
	}
	return s.broken
}

// end hands on what the end of the stream left unfinished.
func (s *eventScanner) end(emit func(Event) error) error {
	if s.broken == nil && len(s.line) > 0 {
		s.broken = s.takeLine(s.line, emit)
		s.line = s.line[:0]
	}
	if s.broken == nil {
		s.broken = s.dispatchEvent(emit)
	}
	return s.broken
}

// takeLine reads one line.
func (s *eventScanner) takeLine(line []byte, emit func(Event) error) error {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if len(line) == 0 {
		return s.dispatchEvent(emit)
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "data":
		if len(s.data)+len(value) > maxLine {
			return &Error{Problem: fmt.Sprintf("an event of a stream has more than %d bytes", maxLine), Hint: "the stream is hostile"}
		}
		if s.lines > 0 {
			s.data = append(s.data, '\n')
		}
		s.lines++
		s.data = append(s.data, value...)
	case "event":
		s.name = string(value)
	}
	return nil
}

func (s *eventScanner) dispatchEvent(emit func(Event) error) error {
	lines, e := s.lines, Event{Name: s.name, Data: s.data}
	s.data, s.lines, s.name = s.data[:0], 0, ""
	if lines == 0 {
		return nil
	}
	return emit(e)
}

// ReadStream reads a stream of events up to the end of its answer: a server may hold the
// connection open after that. It hands the words of the answer on as they come, where
// words is not nil, and returns an error of that function as it is. Where the stream
// breaks off, the answer so far comes with the error.
func ReadStream(d Dialect, r io.Reader, words func(string) error) (*Answer, error) {
	s, events := NewStream(d), NewEvents(r)
	s.follow = words != nil
	for {
		e, err := events.Next()
		switch {
		case err == io.EOF:
			return s.Answer(), s.Close()
		case err != nil && s.done: // all that matters has arrived
			return s.Answer(), nil
		case err == nil:
			err = s.Event(e)
		}
		if err == nil && len(s.fresh) > 0 {
			err = words(string(s.fresh))
			s.fresh = s.fresh[:0]
		}
		if err != nil {
			return s.Answer(), err
		}
		if string(e.Data) == "[DONE]" || s.failure != nil || s.done && (d == Anthropic || d == Responses) {
			return s.Answer(), s.Close()
		}
	}
}
