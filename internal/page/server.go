package page

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/winnow-llm/winnow/control"
)

// Path is where the page is.
const Path = "/winnow/"

// cookie is the name of what the browser shows after it came in.
const cookie = "winnow-page"

// Server shows a source to one person on this machine. The way in is an address
// that works once and leaves a cookie, which no script can read and no other
// site's page can use.
type Server struct {
	mux *http.ServeMux

	mu     sync.Mutex
	ticket string // "" once it was used
	pass   string
}

// NewServer returns a server. Note is what the reader must know.
func NewServer(s control.Source, note string) *Server {
	v := &Server{mux: http.NewServeMux(), ticket: secret(), pass: secret()}
	inside := http.NewServeMux()
	api{s}.route(inside, Path)
	inside.Handle("GET "+Path, Handler(Path, aboutOf(s, note)))
	v.mux.Handle(Path, v.known(inside))
	v.mux.HandleFunc("GET "+Path+"open/{ticket}", v.open)
	return v
}

// Ticket is the path of the one-time address.
func (v *Server) Ticket() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return Path + "open/" + v.ticket
}

// ServeHTTP answers requests of this machine's own browser: under a loopback
// name, and from no page of another site.
func (v *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !loopback(r.Host) {
		refuse(w, http.StatusForbidden, "this page is served under 127.0.0.1, [::1] and localhost only", nil)
		return
	}
	protect := http.NewCrossOriginProtection()
	if err := protect.Check(r); err != nil {
		refuse(w, http.StatusForbidden, "this is not for pages of other sites", nil)
		return
	}
	v.mux.ServeHTTP(w, r)
}

// open lets in whoever has the one-time address.
func (v *Server) open(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	good := v.ticket != "" && subtle.ConstantTimeCompare([]byte(r.PathValue("ticket")), []byte(v.ticket)) == 1
	if good {
		v.ticket = ""
	}
	v.mu.Unlock()
	if !good {
		refuse(w, http.StatusForbidden, "this address works once and was used; start winnow page again for another", nil)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: v.pass, Path: Path, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, Path, http.StatusSeeOther)
}

// known admits requests with the cookie.
func (v *Server) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie(cookie)
		if err != nil || subtle.ConstantTimeCompare([]byte(c.Value), []byte(v.pass)) != 1 {
			refuse(w, http.StatusUnauthorized, "open the address that winnow page printed", nil)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// loopback reports whether a Host header is a name of this machine alone.
func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func secret() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
