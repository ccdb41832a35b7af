package llm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/winnow-llm/winnow/wire"
)

// AWS streams events in binary frames: the length of all and of the headers,
// a checksum of those two, headers, payload, and a checksum of everything.
const (
	preludeLen = 12
	maxFrame   = 16 << 20
	maxHeaders = 128 << 10
)

// frame is one event of an AWS stream.
type frame struct {
	event, exception string // what it is; exception is "" for an event
	payload          []byte // valid until the next frame
}

// frameReader reads frames.
type frameReader struct {
	r   io.Reader
	buf bytes.Buffer
}

// errFrame says that bytes do not make a frame, errHeader why.
var (
	errFrame  = errors.New("the stream does not consist of AWS frames")
	errHeader = fmt.Errorf("%w: a header is cut off", errFrame)
)

// next returns the next frame. At the end of the stream the error is [io.EOF];
// inside a frame it is [io.ErrUnexpectedEOF].
func (f *frameReader) next() (frame, error) {
	f.buf.Reset()
	if n, err := io.CopyN(&f.buf, f.r, preludeLen); err != nil {
		if err == io.EOF && n > 0 {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	prelude := f.buf.Bytes()
	total, headers := binary.BigEndian.Uint32(prelude), binary.BigEndian.Uint32(prelude[4:])
	if crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]) {
		return frame{}, fmt.Errorf("%w: a checksum is wrong", errFrame)
	}
	if total > maxFrame || headers > maxHeaders || uint64(total) < uint64(headers)+preludeLen+4 {
		return frame{}, fmt.Errorf("%w: a frame of %d bytes with %d of headers", errFrame, total, headers)
	}
	// CopyN grows the buffer with what really arrives.
	if _, err := io.CopyN(&f.buf, f.r, int64(total-preludeLen)); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	all := f.buf.Bytes()
	end := len(all) - 4
	if crc32.ChecksumIEEE(all[:end]) != binary.BigEndian.Uint32(all[end:]) {
		return frame{}, fmt.Errorf("%w: a checksum is wrong", errFrame)
	}
	out := frame{payload: all[preludeLen+headers : end]}
	if err := out.readHeaders(all[preludeLen : preludeLen+headers]); err != nil {
		return frame{}, err
	}
	return out, nil
}

// headerSizes are the sizes of values by their type: true and false, numbers, times
// and ids.
var headerSizes = map[byte]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}

// readHeaders takes what matters from a frame's headers.
func (f *frame) readHeaders(b []byte) error {
	kind := ""
	for len(b) > 0 {
		end := 1 + int(b[0]) // of the name, behind which its value's type stands
		if len(b) <= end {
			return errHeader
		}
		name, typ := string(b[1:end]), b[end]
		b = b[end+1:]
		size, fixed := headerSizes[typ]
		if !fixed { // bytes and texts have their length before them
			if typ != 6 && typ != 7 || len(b) < 2 {
				return errHeader
			}
			size = int(binary.BigEndian.Uint16(b))
			b = b[2:]
		}
		if len(b) < size {
			return errHeader
		}
		value := b[:size]
		b = b[size:]
		switch name {
		case ":message-type":
			kind = string(value)
		case ":event-type":
			f.event = string(value)
		case ":exception-type", ":error-code":
			f.exception = string(value)
		case ":error-message":
			f.payload = bytes.Clone(value)
		}
	}
	if (kind == "exception" || kind == "error") && f.exception == "" {
		f.exception = "exception"
	}
	return nil
}

// verdict says what an exception inside a stream means.
func (f *frame) verdict() *wire.Verdict {
	status := map[string]int{
		"validationexception": 400, "throttlingexception": 429, "accessdeniedexception": 403,
		"modelstreamerrorexception": 424, "modelstreamerror": 424, "modeltimeoutexception": 408,
		"internalserverexception": 500, "internalstreamfailure": 500, "serviceunavailableexception": 503,
	}[strings.ToLower(f.exception)]
	v := wire.Classify(status, nil, append([]byte(f.exception+": "), f.payload...))
	v.Provider = cmp.Or(v.Provider, "aws")
	return &v
}

// payloads is the reader of what frames carry: with SageMaker the bytes of the
// container's own stream, else what convert makes of a frame.
type payloads struct {
	frames  frameReader
	convert func(*frame) ([]byte, error)
	rest    []byte
}

func (p *payloads) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		f, err := p.frames.next()
		if err != nil {
			return 0, err
		}
		if f.exception != "" {
			return 0, f.verdict()
		}
		p.rest = f.payload
		if p.convert != nil {
			if p.rest, err = p.convert(&f); err != nil {
				return 0, err
			}
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
