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
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/memnet/pipes"
)

// Start runs a server until the test is over. [httptest.Server.Client] returns
// the client whose requests arrive there.
func Start(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	l := pipes.Listen()
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}} //nolint:gosec // nobody else can connect
	s.Start()
	s.Client().Transport.(*http.Transport).DialContext = l.Dial
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}
