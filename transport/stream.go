package transport

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/wire"
)

// tap is a stream on its way to the caller. It holds back the beginning until
// the answer has begun or failed, and listens to the rest.
type tap struct {
	r  *result
	d  *decision // under which the request was sent
	in io.ReadCloser

	// free is closed when nobody but the caller reads from in.
	free chan struct{}

	mu     sync.Mutex
	stream *wire.Stream
	buf    []byte // read and not yet handed out
	err    error  // that follows buf
	let    bool   // the caller is waiting: hold no more
	heard  bool
}

func newTap(r *result, in io.ReadCloser) *tap {
	return &tap{r: r, d: r.d, in: in, free: make(chan struct{}), stream: wire.NewStream(r.c.end.Dialect)}
}

// holdStream looks at the beginning of a stream.
func (r *result) holdStream(resp *http.Response) finding {
	t := newTap(r, resp.Body)
	resp.Body = t
	go t.holdBeginning()
	timer := time.NewTimer(r.c.t.opts.Hold)
	defer timer.Stop()
	select {
	case <-t.free:
	case <-timer.C:
		t.mu.Lock()
		t.let = true
		t.mu.Unlock()
		return finding{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stream.Content() {
		return finding{}
	}
	if f := t.stream.Failure(); f != nil {
		return findRemedy(*f)
	}
	if t.stream.Done() || t.err == io.EOF {
		return r.findOverflow(t.stream.Answer())
	}
	return finding{}
}

// holdBeginning reads until it is known what the stream is.
func (t *tap) holdBeginning() {
	defer close(t.free)
	p := make([]byte, 8<<10)
	for {
		n, err := t.in.Read(p)
		t.mu.Lock()
		t.buf = append(t.buf, p[:n]...)
		_, _ = t.stream.Write(p[:n]) // it never fails
		t.err = err
		known := err != nil || t.let || t.stream.Content() || t.stream.Failure() != nil || t.stream.Done() || len(t.buf) > maxHeld
		t.mu.Unlock()
		if known {
			return
		}
	}
}

// Read hands out the held bytes and then those that come.
func (t *tap) Read(p []byte) (int, error) {
	for {
		t.mu.Lock()
		if len(t.buf) > 0 {
			now := t.buf
			if t.isComplete() {
				if now = t.buf[:beforeEnd(t.buf)]; len(now) == 0 {
					t.learn()
					now = t.buf
				}
			}
			n := copy(p, now)
			t.buf = t.buf[n:]
			t.mu.Unlock()
			return n, nil
		}
		if err := t.err; err != nil {
			t.mu.Unlock()
			t.end()
			return 0, err
		}
		t.mu.Unlock()
		select {
		case <-t.free:
		default:
			<-t.free
			continue // it may have left something
		}
		n, err := t.in.Read(p)
		t.mu.Lock()
		_, _ = t.stream.Write(p[:n]) // it never fails
		if t.isComplete() {
			at := beforeEnd(p[:n])
			t.buf = append(t.buf[:0], p[at:n]...)
			n = at
		}
		if err != nil && n+len(t.buf) > 0 {
			t.err, err = err, nil
		}
		t.mu.Unlock()
		if err != nil {
			t.end()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// Close ends the stream, whether or not it was read to its end.
func (t *tap) Close() error {
	err := t.in.Close()
	t.end()
	return err
}

// isComplete reports whether the answer is there with its usage, and nothing was
// learned from it yet. Then its last bytes wait until that is done: many callers
// do not read on to the end and send their next request at once, and should this
// process be killed, the next one knows what this one knew.
func (t *tap) isComplete() bool {
	return !t.heard && t.stream.Done() && t.stream.Failure() == nil && t.stream.Answer().Usage.Prompt() > 0
}

// beforeEnd returns where the last character before the line's end stands: without
// it nobody can read the last event.
func beforeEnd(b []byte) int { return max(0, len(bytes.TrimRight(b, "\r\n"))-1) }

// end learns from an answer that is complete, at the latest now.
func (t *tap) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch f := t.stream.Failure(); {
	case f == nil && t.stream.Done():
		t.learn()
	case f != nil && t.stream.Content() && !t.heard:
		t.heard = true
		t.r.overflowedLate(t.d, *f)
	}
}

// learn learns from the answer, once.
func (t *tap) learn() {
	if !t.heard {
		t.heard = true
		t.r.learnFromAnswer(t.d, t.stream.Answer())
	}
}

// listener listens to an answer in chunks other than server-sent events.
type listener struct {
	r     *result
	d     *decision // under which the request was sent
	in    io.ReadCloser
	heard []byte
	lost  bool
}

// Read passes on what comes.
func (l *listener) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	if len(l.heard)+n > maxListen {
		l.lost, l.heard = true, nil
	}
	if !l.lost {
		l.heard = append(l.heard, p[:n]...)
		if err == io.EOF {
			l.lost = true
			if a, bad := wire.ParseAnswer(l.r.c.end.Dialect, l.heard); bad == nil && a.Failure == nil {
				l.r.learnFromAnswer(l.d, a)
			}
		}
	}
	return n, err
}

// Close ends the answer.
func (l *listener) Close() error { return l.in.Close() }
