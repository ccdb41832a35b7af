package providersim

import (
	"net"
	"net/http"
	"strconv"
	"time"
)

// writer sends an answer, with the request's fault.
type writer struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	fault  Fault
	status int
	record func() // to be called before anything is sent
}

// page is what a broken proxy in front of a provider answers.
const page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n\x00\xff\xfe"

// prepareAnswer does what happens ahead of any answer. It returns false where there is
// nothing more to say.
func (o *writer) prepareAnswer() bool {
	if o.fault.Drop {
		o.resetConnection()
	}
	if !o.pause(o.s.opts.FirstByte + o.fault.Delay) {
		return false
	}
	switch o.fault.Kind {
	case FaultGarbage:
		o.writeHead(http.StatusOK, "text/html")
		_, _ = o.w.Write([]byte(page))
		return false
	case FaultEmpty:
		o.writeHead(http.StatusOK, "application/json")
		return false
	}
	return true
}

func (o *writer) writeHead(status int, kind string) {
	o.status = status
	o.record()
	if kind != "" {
		o.w.Header().Set("Content-Type", kind)
	}
	o.w.WriteHeader(status)
}

// sendRefusal sends an error.
func (o *writer) sendRefusal(c *call, r *refusal) {
	if r.retry > 0 {
		o.w.Header().Set("Retry-After", strconv.Itoa(r.retry))
	}
	o.w.Header().Set("Request-Id", c.requestID())
	body := encodeJSON(c.errorBody(r))
	if c.array {
		body = append(append([]byte{'['}, body...), ']')
	}
	o.writeHead(r.status, "application/json")
	_, _ = o.w.Write(body)
}

// sendWhole sends a body in one piece.
func (o *writer) sendWhole(status int, body []byte) {
	half := len(body) / 2
	switch o.fault.Kind {
	case FaultReset, FaultStall:
		o.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		o.writeHead(status, "application/json")
		_, _ = o.w.Write(body[:half])
		o.flush()
		if o.fault.Kind == FaultStall {
			o.pause(o.s.opts.StallFor)
		}
		o.resetConnection()
	case FaultHalf, FaultEnd, FaultError:
		o.writeHead(status, "application/json")
		_, _ = o.w.Write(body[:half])
	default:
		o.pause(o.fault.Slow)
		o.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		o.writeHead(status, "application/json")
		_, _ = o.w.Write(body)
	}
}

// awaitHold waits as long as an event is to be held back, and tells whether it may be
// sent then.
func (o *writer) awaitHold(a *Ask, event int) bool {
	if o.s.opts.Hold == nil {
		return true
	}
	until := o.s.opts.Hold(a, event)
	return until == nil || await(o, until)
}

// pause waits, at most until the server is closed, and tells whether the client has
// waited, too.
func (o *writer) pause(d time.Duration) bool {
	return d <= 0 || await(o, time.After(d)) || o.r.Context().Err() == nil
}

// await waits for something, and tells whether it came: not where the client went away or
// the server was closed.
func await[T any](o *writer, what <-chan T) bool {
	select {
	case <-what:
		return true
	case <-o.r.Context().Done():
	case <-o.s.closed:
	}
	return false
}

// sendStream sends events, each as soon as it is there.
func (o *writer) sendStream(c *call, events []event) {
	if c.array {
		o.writeHead(http.StatusOK, "application/json")
	} else {
		o.w.Header().Set("Cache-Control", "no-cache")
		o.writeHead(http.StatusOK, "text/event-stream; charset=utf-8")
	}
	o.flush()
	for i, e := range events {
		if i > 0 && !o.pause(o.s.opts.EventGap) || !o.awaitHold(&c.ask, i) || !o.pause(o.fault.Slow) {
			return
		}
		text := frameEvent(e, c.array, i == 0)
		if i == o.fault.At {
			switch o.fault.Kind {
			case FaultReset:
				o.resetConnection()
			case FaultStall:
				o.pause(o.s.opts.StallFor)
				o.resetConnection()
			case FaultHalf:
				_, _ = o.w.Write(text[:len(text)/2])
				return
			case FaultEnd:
				return
			case FaultError:
				over := c.failedEvent(providerFailure(c.d.traits().name, 529, 0), i)
				_, _ = o.w.Write(frameEvent(over, c.array, i == 0))
				if c.array {
					_, _ = o.w.Write([]byte("]"))
				}
				return
			}
		}
		if _, err := o.w.Write(text); err != nil {
			return
		}
		o.flush()
	}
	if c.array {
		if len(events) == 0 {
			_, _ = o.w.Write([]byte("["))
		}
		_, _ = o.w.Write([]byte("]"))
	}
}

// frameEvent returns an event as it is written: server-sent, or as an element of an array.
func frameEvent(e event, array, first bool) []byte {
	var b []byte
	if array {
		b = append(b, ",\r\n"...)
		if first {
			b = append(b[:0], '[')
		}
		return append(b, e.data...)
	}
	if e.name != "" {
		b = append(append(append(b, "event: "...), e.name...), '\n')
	}
	b = append(append(b, "data: "...), e.data...)
	return append(b, "\n\n"...)
}

func (o *writer) flush() { _ = http.NewResponseController(o.w).Flush() }

// resetConnection breaks the connection, with a TCP reset where it is one. It does not
// return.
func (o *writer) resetConnection() {
	o.record()
	if conn, _, err := http.NewResponseController(o.w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}
