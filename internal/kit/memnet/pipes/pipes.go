// Package pipes has a listener without a network: its connections are pipes in
// this process, and only [Listener.Dial] makes them.
package pipes

import (
	"context"
	"net"
	"sync"
)

// Listener accepts the connections that Dial makes. [Listen] makes one.
type Listener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// Listen returns a listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial makes a connection, whatever the address.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
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
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "pipe", Addr: addr{}, Err: net.ErrClosed}
	}
}

// Close refuses further connections.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an address of this machine at which nobody listens: a client that
// is not the server's own fails at once.
func (l *Listener) Addr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "pipe" }
func (addr) String() string  { return "127.0.0.1:1" }
