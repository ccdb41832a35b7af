package gateway

import (
	"net/http"

	"github.com/winnow-llm/winnow/internal/page"
)

// routePage mounts the page under /winnow/, and what it shows besides the
// control interface. The page by itself tells nothing; what it asks for is
// answered to the browser's cookie, see browser.go.
func (g *Gateway) routePage() {
	show := page.Handler(page.Path, page.About{})
	g.mux.HandleFunc("GET /winnow/{$}", g.requireOwnHost(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := g.browserOf(r); !ok {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte("winnow: this page needs an address that works once.\n\nGet one with winnow address, or with POST /winnow/address and your key or credential.\n")) // the caller may be gone
			return
		}
		show.ServeHTTP(w, r)
	}))
	for _, name := range page.Files() {
		g.mux.HandleFunc("GET /winnow/"+name, g.requireOwnHost(show.ServeHTTP))
	}
}
