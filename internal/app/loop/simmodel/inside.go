package simmodel

import (
	"io"
	"net/http"
	"sync"
)

// inside is a transport that hands requests to a handler in this process. The
// answer streams, as over a connection.
type inside struct{ h http.Handler }

// RoundTrip serves the request.
func (t inside) RoundTrip(r *http.Request) (*http.Response, error) {
	body, w := io.Pipe()
	a := &answer{body: w, header: make(http.Header), begun: make(chan struct{})}
	ctx := r.Context()
	go func() {
		defer func() {
			switch p := recover(); p {
			case nil:
				a.WriteHeader(http.StatusOK)
				w.Close()
			case http.ErrAbortHandler: // a connection that breaks
				w.CloseWithError(io.ErrUnexpectedEOF)
				a.WriteHeader(http.StatusOK)
			default:
				panic(p)
			}
		}()
		if r.Body != nil {
			defer r.Body.Close()
		} else {
			r = r.Clone(ctx)
			r.Body = http.NoBody
		}
		t.h.ServeHTTP(a, r)
	}()
	stop := make(chan struct{})
	go func() { // a reader that waits when the call ends must not wait for ever
		select {
		case <-ctx.Done():
			w.CloseWithError(ctx.Err())
		case <-stop:
		}
	}()
	select {
	case <-a.begun:
	case <-ctx.Done():
		body.CloseWithError(ctx.Err())
		return nil, ctx.Err()
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: &ending{body, sync.OnceFunc(func() { close(stop) })}, ContentLength: -1, Request: r,
	}, nil
}

// ending is a body that tells when it is closed.
type ending struct {
	io.ReadCloser
	over func()
}

func (e *ending) Close() error {
	e.over()
	return e.ReadCloser.Close()
}

// answer is the writer of a handler.
type answer struct {
	body   *io.PipeWriter
	header http.Header

	once   sync.Once
	begun  chan struct{}
	status int
	sent   http.Header
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush does nothing: nothing is held back.
func (a *answer) Flush() {}
