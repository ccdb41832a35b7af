package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/controlhttp"
	"github.com/winnow-llm/winnow/internal/rerun"
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

	start string // where the address leads

	mu     sync.Mutex
	ticket string // "" once it was used
	pass   string
}

// NewServer returns a server that shows the conversation with this id first. Note
// is what the reader must know.
func NewServer(s control.Source, id, note string) *Server {
	v := &Server{mux: http.NewServeMux(), ticket: rand.Text(), pass: rand.Text(), start: Path + "#/c/" + url.PathEscape(id)}
	inside := http.NewServeMux()
	of := func(*http.Request) control.Source { return s }
	for pattern, handle := range controlhttp.Routes(of) {
		inside.HandleFunc(pattern, handle)
	}
	if b, ok := s.(besider); ok {
		inside.HandleFunc("GET "+Path+"conversations/{id}/beside", func(w http.ResponseWriter, r *http.Request) {
			doc, err := b.Beside(r.Context(), r.PathValue("id"))
			if err != nil {
				controlhttp.Refuse(w, http.StatusNotFound, "winnow: "+err.Error())
				return
			}
			controlhttp.Reply(w, http.StatusOK, doc)
		})
	}
	g, goes := s.(goer)
	if goes {
		inside.HandleFunc("GET "+Path+"progress", func(w http.ResponseWriter, _ *http.Request) {
			done, total := g.Progress()
			controlhttp.Reply(w, http.StatusOK, map[string]int{"done": done, "total": total})
		})
	}
	inside.Handle("GET "+Path, Handler(Path, About{Note: note, Progress: goes}))
	v.mux.Handle(Path, v.requireCookie(inside))
	v.mux.HandleFunc("GET "+Path+"open/{ticket}", v.openWithTicket)
	return v
}

// Ticket returns the path of the one-time address.
func (v *Server) Ticket() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return Path + "open/" + v.ticket
}

// ServeHTTP answers requests of this machine's own browser: under a loopback
// name, and from no page of another site.
func (v *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isLoopback(r.Host) {
		controlhttp.Refuse(w, http.StatusForbidden, "this page is served under 127.0.0.1, [::1] and localhost only")
		return
	}
	protect := http.NewCrossOriginProtection()
	if err := protect.Check(r); err != nil {
		controlhttp.Refuse(w, http.StatusForbidden, "this is not for pages of other sites")
		return
	}
	v.mux.ServeHTTP(w, r)
}

// openWithTicket admits the browser that opens the one-time address.
func (v *Server) openWithTicket(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	good := v.ticket != "" && subtle.ConstantTimeCompare([]byte(r.PathValue("ticket")), []byte(v.ticket)) == 1
	if good {
		v.ticket = ""
	}
	v.mu.Unlock()
	if !good {
		controlhttp.Refuse(w, http.StatusForbidden, "this address works once and was used; start winnow page again for another")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: v.pass, Path: Path, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, v.start, http.StatusSeeOther)
}

// requireCookie admits requests with the cookie.
func (v *Server) requireCookie(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie(cookie)
		if err != nil || subtle.ConstantTimeCompare([]byte(c.Value), []byte(v.pass)) != 1 {
			controlhttp.Refuse(w, http.StatusUnauthorized, "open the address that winnow page printed")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a Host header is a name of this machine alone.
func isLoopback(host string) bool {
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

// besider is a source that knows the requests as sent beside those that winnow
// would send.
type besider interface {
	Beside(ctx context.Context, id string) (*rerun.Beside, error)
}

// goer is a source that has to make its conversation first.
type goer interface {
	Progress() (done, total int)
}
