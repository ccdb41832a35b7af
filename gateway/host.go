package gateway

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// The gateway's own pages show plans, and a browser on the same machine reaches
// them. A web page from elsewhere must not: neither by a request of its own
// (which carries its Origin), nor by a name of its own that it points at this
// address (which stands in Host). So these pages answer only under names that
// nobody else can own, or that the operator has named.

// parseHosts reads the names of [Options.Hosts].
func parseHosts(names []string) (map[string]bool, error) {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		host := hostname(name)
		if host == "" || strings.ContainsAny(name, "/*?#@ ") {
			return nil, fmt.Errorf("gateway: %q is not the name of a host; write it as in an address, without https:// and path, for example winnow.example.com", name)
		}
		all[host] = true
	}
	return all, nil
}

// hostname returns the host of a Host header or an address: without port,
// brackets and the root's dot, in lower case.
func hostname(s string) string {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	return strings.ToLower(strings.TrimSuffix(s, "."))
}

// trustsHost reports whether a request may be for this gateway under a host's name.
func (g *Gateway) trustsHost(r *http.Request, host string) bool {
	if host == "localhost" || g.hosts[host] {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip.Unmap().IsLoopback() {
		return true
	}
	// Nobody else can own the address that the caller reached.
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap().WithZone("") == ip.Unmap().WithZone("")
}

// requireOwnHost serves one of the gateway's own pages, but only to requests that name the
// gateway by a name of its own.
func (g *Gateway) requireOwnHost(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if host := hostname(r.Host); !g.trustsHost(r, host) {
			g.metrics.denied.Add(1)
			g.refuseAndLog(w, r, http.StatusForbidden, fmt.Sprintf("winnow: this page is not served under the name %q; use the address that the gateway listens on, or start it with --host NAME to allow a name of its own", clipLabel(host)))
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			u, err := url.Parse(origin)
			if err != nil || u.Host == "" || !g.trustsHost(r, hostname(u.Host)) {
				g.metrics.denied.Add(1)
				g.refuseAndLog(w, r, http.StatusForbidden, fmt.Sprintf("winnow: pages of %q may not use this page; open it directly, or start the gateway with --host NAME if that host is yours", clipLabel(origin)))
				return
			}
		}
		next(w, r)
	}
}

// serveHome says what answers here.
func (g *Gateway) serveHome(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	tools := ""
	if g.opts.MCP != nil {
		tools = "  /mcp             the same for models, as tools over MCP\n"
	}
	version := g.opts.Version
	if version != "" {
		version = " " + version
	}
	fmt.Fprintf(w, `This is winnow%s, a gateway to models that keeps conversations inside their windows.
Point an agent's base URL here. The gateway's own pages:

  /healthz         whether it is up
  /readyz          whether it takes calls and can store plans
  /metrics         counters in Prometheus' text format
  /winnow/conversations    yours: send the credential or key of the conversation
  /winnow/recall/HANDLE, /winnow/search?q=WORDS    what plans hide, likewise
%s`, version, tools)
}
