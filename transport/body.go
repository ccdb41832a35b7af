package transport

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// readBody reads a request's body, decompressed. Where it is too large, or in a
// coding that nobody here knows, it returns what is needed to pass it on, and
// why.
func readBody(req *http.Request, limit int64) (raw []byte, rest io.ReadCloser, err error) {
	in := req.Body
	packed, err := readAll(in, limit, req.ContentLength)
	if errors.Is(err, errTooLarge) {
		return nil, both{io.MultiReader(bytes.NewReader(packed), in), in}, err
	}
	_ = in.Close()
	if err != nil {
		return nil, nil, fmt.Errorf("transport: the request's body cannot be read: %w", err)
	}
	if raw, err = unpack(packed, strings.Join(req.Header.Values("Content-Encoding"), ","), limit); err == nil {
		return raw, nil, nil
	}
	return nil, io.NopCloser(bytes.NewReader(packed)), err // whoever can read it may
}

type both struct {
	io.Reader
	io.Closer
}

var (
	errTooLarge = errors.New("too large")
	errCoding   = errors.New("unknown coding")
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

// unpack undoes the content codings of a body, the last one first. Their names
// may be written in any case.
func unpack(packed []byte, codings string, limit int64) ([]byte, error) {
	names := strings.Split(codings, ",")
	raw := packed
	for i := len(names) - 1; i >= 0; i-- {
		var err error
		if raw, err = unpackOne(raw, strings.ToLower(strings.TrimSpace(names[i])), limit); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

func unpackOne(packed []byte, coding string, limit int64) ([]byte, error) {
	switch coding {
	case "", "identity":
		return packed, nil
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return readAll(z, limit, 0)
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(limit, 1<<20))))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return readAll(z, limit, 0)
	}
	return nil, errCoding
}
