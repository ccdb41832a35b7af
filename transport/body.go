package transport

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// arrived is a request's body as it came, and unpacked.
type arrived struct {
	raw []byte

	// rest passes the body on as it came, where raw is nil; why says what is
	// wrong with it.
	rest io.ReadCloser
	why  error

	// held is how much of the transport's room raw takes; releaseRoom gives it back.
	held int64
}

// readBody reads a request's body, decompressed. Where it is too large or too
// crowded, or in a coding that nobody here knows, it returns what is needed to
// pass it on, and why.
func (t *Transport) readBody(req *http.Request) (arrived, error) {
	in := req.Body
	packed, err := readAll(in, t.opts.MaxBody, req.ContentLength)
	if errors.Is(err, errTooLarge) {
		return arrived{rest: both{io.MultiReader(bytes.NewReader(packed), in), in}, why: err}, nil
	}
	_ = in.Close()
	if err != nil {
		return arrived{}, fmt.Errorf("transport: the request's body cannot be read: %w", err)
	}
	a := arrived{raw: packed}
	if codings := codingsOf(req.Header); len(codings) > 0 {
		a.raw, a.held, a.why = t.waitAndUnpack(req.Context(), packed, codings)
	}
	if a.why == nil && isCrowded(a.raw) {
		a.why = errCrowded
	}
	if a.why != nil {
		t.releaseRoom(&a)
		a.raw, a.rest = nil, io.NopCloser(bytes.NewReader(packed)) // the provider may be able to read it
	}
	return a, nil
}

// releaseRoom gives the room back that a body takes.
func (t *Transport) releaseRoom(a *arrived) {
	if a.held > 0 {
		t.room.Release(a.held)
		a.held = 0
	}
}

type both struct {
	io.Reader
	io.Closer
}

var (
	errTooLarge = errors.New("too large")
	errCoding   = errors.New("unknown coding")
	errNoRoom   = errors.New("too much is unpacked at once")
	errCrowded  = errors.New("too many messages")
)

// readAll reads up to limit bytes; with errTooLarge it returns those it read.
func readAll(in io.Reader, limit, hint int64) ([]byte, error) {
	var b bytes.Buffer
	if hint > 0 && hint <= limit {
		b.Grow(int(hint) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(in, limit+1))
	if err == nil && n > limit {
		err = errTooLarge
	}
	return b.Bytes(), err
}

// codingsOf returns the content codings of a body, in the order in which they
// were applied. Their names may be written in any case.
func codingsOf(h http.Header) []string {
	var all []string
	for name := range strings.SplitSeq(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "identity" {
			all = append(all, name)
		}
	}
	return all
}

// Bounds of what is unpacked.
const (
	maxCodings = 3 // on top of each other

	// A body of text rarely unpacks to more than usualRatio times its size. So
	// much room is asked for first, and all that a body may take only where it
	// was not enough.
	usualRatio = 16
	leastRoom  = 64 << 10

	// maxZstdWindow is the largest window of zstd that HTTP allows (RFC 9659).
	// Unpacking takes that much besides.
	maxZstdWindow = 8 << 20

	// growth is how much a buffer may be larger than what is in it.
	growth = 2

	// maxWait is how long a body waits for room to be unpacked.
	maxWait = 10 * time.Second
)

// waitAndUnpack unpacks a body as soon as there is room for it beside the others
// that are unpacked. What it holds must be released.
func (t *Transport) waitAndUnpack(ctx context.Context, packed []byte, codings []string) (raw []byte, held int64, err error) {
	most := min(t.opts.MaxBody, t.opts.Unpacked/growth)
	ctx, stop := context.WithTimeout(ctx, maxWait)
	defer stop()
	least := int64(leastRoom)
	if slices.Contains(codings, "zstd") {
		least = maxZstdWindow
	}
	for limit := min(most, least+usualRatio*int64(len(packed))); ; limit = most {
		if t.room.Acquire(ctx, limit*growth) != nil {
			return nil, 0, errNoRoom
		}
		raw, err = undoCodings(packed, codings, limit)
		if err == nil {
			held = min(int64(cap(raw)), limit*growth)
			t.room.Release(limit*growth - held)
			return raw, held, nil
		}
		t.room.Release(limit * growth) // nobody waits for room while holding some
		if limit >= most || !errors.Is(err, errTooLarge) {
			return nil, 0, err
		}
	}
}

// undoCodings undoes the content codings of a body, the last one first.
func undoCodings(packed []byte, codings []string, limit int64) ([]byte, error) {
	if len(codings) > maxCodings {
		return nil, errCoding
	}
	raw := packed
	for i := len(codings) - 1; i >= 0; i-- {
		var err error
		if raw, err = unpackOne(raw, codings[i], limit); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

func unpackOne(packed []byte, coding string, limit int64) ([]byte, error) {
	switch coding {
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return readAll(z, limit, 0)
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return readAll(z, limit, 0)
	}
	return nil, errCoding
}
