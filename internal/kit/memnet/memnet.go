// Package memnet has HTTP servers without a network, for tests about time. A
// connection is a pipe in this process, so a test may run in a bubble of
// [testing/synctest]: there a pause of a minute takes no time, and a time-out
// ends nothing that is only slow because the machine is busy.
//
//	synctest.Test(t, func(t *testing.T) {
//		s := memnet.Start(t, handler)
//		resp, err := s.Client().Get(s.URL)
//		…
//	})
//
// Only the server's own client reaches it.
package memnet

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Start runs a server until the test is over. [httptest.Server.Client] returns
// the client whose requests arrive there.
func Start(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}} //nolint:gosec // nobody else can connect
	s.Start()
	s.Client().Transport.(*http.Transport).DialContext = l.dial
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// listener accepts the connections that dial makes.
type listener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	var err error
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	client.Close()
	server.Close()
	return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: addr{}, Err: err}
}

// Accept returns the next connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "pipe", Addr: addr{}, Err: net.ErrClosed}
	}
}

// Close refuses further connections.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an address of this machine at which nobody listens: a client that
// is not the server's own fails at once.
func (l *listener) Addr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "pipe" }
func (addr) String() string  { return "127.0.0.1:1" }
