package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/netip"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/transport"
)

// HeaderOwner holds what [OwnerToken] returns. A caller who sends it to a gateway
// without keys sees what is hidden from all of its callers: on a gateway without
// keys they are one person with several credentials, some of which change by the
// hour. With keys it is ignored, because then they are several persons.
const HeaderOwner = "Winnow-Owner"

// OwnerToken returns a token that proves that its sender can read the store.
func OwnerToken(ctx context.Context, s transport.Store) (string, error) {
	token, err := deriveSecret(ctx, s, "winnow owner")
	return hex.EncodeToString(token), err
}

// deriveSecret returns what the store's secret makes of a name.
func deriveSecret(ctx context.Context, s transport.Store, name string) ([]byte, error) {
	secret, err := s.Secret(ctx)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(name))
	return h.Sum(nil), nil
}

// isFromOwner reports whether a request comes from the owner of a gateway without keys.
// The token is made from a secret in a file that its owner alone can read, so
// nobody can guess it, and other users of the machine cannot have it. It does not
// change while the store lasts, so it counts on this machine only: the command
// sends it nowhere else, and what comes from elsewhere with it was taken from
// there.
func (g *Gateway) isFromOwner(r *http.Request) bool {
	return g.keys == nil && g.owner != "" && isFromThisMachine(r) && subtle.ConstantTimeCompare([]byte(r.Header.Get(HeaderOwner)), []byte(g.owner)) == 1
}

// isFromThisMachine reports whether a request comes from this machine, and through no proxy.
func isFromThisMachine(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && at.Addr().Unmap().IsLoopback() && r.Header.Get("X-Forwarded-For") == "" && r.Header.Get("Forwarded") == ""
}

// controlFor returns what the caller of a request may see and do.
func (g *Gateway) controlFor(r *http.Request) control.Source {
	who, _ := r.Context().Value(browserKey).(browser)
	if who.owner || g.isFromOwner(r) {
		if all, err := g.transport.ControlAll(r.Context()); err == nil {
			return all
		}
	}
	return g.transport.Control(tenantOf(r))
}
