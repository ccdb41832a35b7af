package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/winnow-llm/winnow/internal/controlhttp"
	"github.com/winnow-llm/winnow/transport"
)

// Gateway is the server. [New] makes one.
type Gateway struct {
	opts      Options
	upstreams map[string]*url.URL
	keys      map[[sha256.Size]byte]transport.Tenant
	keyed     map[transport.Tenant]bool // those that have one
	hosts     map[string]bool
	tenants   *transport.Tenants
	owner     string // see OwnerToken
	transport *transport.Transport
	proxy     *httputil.ReverseProxy
	mux       *http.ServeMux
	room      chan struct{}
	metrics   *metrics
	tracing   *tracing
	ending    atomic.Bool
	readiness readiness
	browsers  *browsers
	crossing  *http.CrossOriginProtection
}

// New returns a gateway. Nil stands for the zero options. The error says which
// option is wrong.
func New(opts *Options) (*Gateway, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.fillDefaults()
	g := &Gateway{opts: o, mux: http.NewServeMux(), room: make(chan struct{}, o.MaxConcurrent), metrics: newMetrics(), tracing: newTracing(o.Tracer), crossing: http.NewCrossOriginProtection()}
	var err error
	if g.upstreams, err = o.readUpstreams(); err != nil {
		return nil, err
	}
	if g.hosts, err = parseHosts(o.Hosts); err != nil {
		return nil, err
	}
	if len(o.Keys) > 0 {
		g.keys, g.keyed = make(map[[sha256.Size]byte]transport.Tenant), make(map[transport.Tenant]bool)
		for key, name := range o.Keys {
			if len(key) < 16 {
				return nil, fmt.Errorf("gateway: the key of tenant %s has fewer than 16 characters; use a longer one", name)
			}
			g.keys[sha256.Sum256([]byte(key))] = KeyTenant(name)
			g.keyed[KeyTenant(name)] = true
		}
	}
	t := o.Transport
	if g.tenants, err = transport.NewTenants(context.Background(), t.Store, t.Credentials); err != nil {
		return nil, err
	}
	g.browsers = &browsers{spent: t.Store, now: time.Now}
	if g.owner, err = OwnerToken(context.Background(), t.Store); err == nil {
		g.browsers.key, err = deriveSecret(context.Background(), t.Store, "winnow browsers")
	}
	if err != nil {
		return nil, fmt.Errorf("gateway: the store's secret cannot be read: %w", err)
	}
	t.Tenant = tenantOf
	t.Observer = &observer{g.tracing, g.metrics}
	if g.transport, err = transport.New(&t); err != nil {
		return nil, err
	}
	g.proxy = &httputil.ReverseProxy{
		Rewrite: rewriteRequest, Transport: g.transport, FlushInterval: -1, ErrorHandler: g.serveUpstreamError,
		BufferPool: &buffers{sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}}, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	g.registerRoutes()
	return g, nil
}

// KeyTenant returns the tenant of a key that [Options.Keys] gives this name.
func KeyTenant(name string) transport.Tenant {
	sum := sha256.Sum256([]byte("winnow key\x00" + name))
	return transport.Tenant(hex.EncodeToString(sum[:]))
}

// registerRoutes says what is answered where.
func (g *Gateway) registerRoutes() {
	// Health checks may use any name for the gateway: these two pages tell nothing
	// but that it is up.
	g.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	g.mux.HandleFunc("GET /readyz", g.serveReady)
	g.mux.HandleFunc("GET /{$}", g.requireOwnHost(g.serveHome))
	g.mux.HandleFunc("GET /metrics", g.requireOwnHost(g.showMetrics))
	for pattern, handle := range controlhttp.Routes(g.controlFor) {
		g.mux.HandleFunc(pattern, g.requireProvenCaller(handle))
	}
	g.routePage()
	g.mux.HandleFunc("POST /winnow/address", g.requireProvenCaller(g.makeAddress))
	g.mux.HandleFunc(enterPath+"{token}", g.requireOwnHost(g.enterBrowser))
	tools := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "winnow: this gateway does not serve MCP; run winnow mcp instead, or set Options.MCP")
	})
	if g.opts.MCP != nil {
		tools = g.opts.MCP(g.controlFor).ServeHTTP
	}
	g.mux.HandleFunc("/mcp", g.requireProvenCaller(tools))
	// What is the gateway's own never reaches an upstream.
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		g.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "winnow: use GET")
		})
	}
	g.mux.HandleFunc("/winnow/", g.requireOwnHost(g.requireKnownKey(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "winnow: there is no such page; see GET /winnow/conversations, /winnow/conversations/ID, /winnow/plans/ID, /winnow/plans/ID/report, /winnow/plans/ID/patch, /winnow/recall/HANDLE, /winnow/search?q=WORDS, and POST /winnow/fit")
	})))
	g.mux.HandleFunc("POST "+fitPath, g.requireKnownKey(g.serveFit))
	g.mux.HandleFunc("POST "+fitPath+"/", g.requireKnownKey(g.serveFit))
	g.mux.HandleFunc("/", g.requireKnownKey(g.passUpstream))
}

// serveReady tells whether calls are taken and plans can be kept.
func (g *Gateway) serveReady(w http.ResponseWriter, r *http.Request) {
	if g.ending.Load() {
		refuse(w, http.StatusServiceUnavailable, "winnow: the gateway is shutting down; it takes no new calls")
		return
	}
	if why := g.storeFails(r.Context()); why != "" {
		refuse(w, http.StatusServiceUnavailable, "winnow: plans cannot be stored: "+why)
		return
	}
	reply(w, http.StatusOK, map[string]string{"status": "ready", "store": g.opts.Transport.Store.Kind()})
}

// Handler returns the handler of all routes.
func (g *Gateway) Handler() http.Handler { return http.HandlerFunc(g.serveRequest) }

// serveRequest makes one slash of several in a path, which come from base URLs that end
// in one: the mux would redirect the caller, and many do not follow.
func (g *Gateway) serveRequest(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "//") {
		u := *r.URL
		u.Path, u.RawPath = slashes.ReplaceAllString(u.Path, "/"), slashes.ReplaceAllString(u.RawPath, "/")
		r = r.WithContext(r.Context()) // a copy
		r.URL = &u
	}
	// A web page of another host may send requests, though it cannot read what
	// comes back: none of them is answered, whatever it asks for.
	if err := g.crossing.Check(r); err != nil {
		g.metrics.denied.Add(1)
		g.refuseAndLog(w, r, http.StatusForbidden, "winnow: web pages of other hosts may not call the gateway; only its own may")
		return
	}
	g.mux.ServeHTTP(w, r)
}

// slashes are several in a row, which become one.
var slashes = regexp.MustCompile(`//+`)

// Stats returns what the transport did so far.
func (g *Gateway) Stats() transport.Stats { return g.transport.Stats() }

// Prepare writes the summary of a job, see [transport.Transport.Prepare].
func (g *Gateway) Prepare(ctx context.Context, j transport.Job) error {
	return g.transport.Prepare(ctx, j)
}

// Account adds up the requests sent since a moment under the transport's label.
func (g *Gateway) Account(ctx context.Context, since time.Time) (transport.Account, error) {
	return g.transport.Account(ctx, since)
}

// Serve answers on a listener until ctx ends. Then it takes no more calls, waits
// for those under way as long as [Options.Grace], and returns nil.
func (g *Gateway) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler:           g.Handler(),
		ReadHeaderTimeout: 15 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    256 << 10,
		TLSConfig:         g.opts.TLS,
		ErrorLog:          slog.NewLogLogger(g.opts.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() {
		if g.opts.TLS != nil {
			ended <- s.ServeTLS(l, "", "") // HTTP/2 too
		} else {
			ended <- s.Serve(l)
		}
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("gateway: the server on %s ended: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	g.ending.Store(true)
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), g.opts.Grace)
	defer stop()
	err := s.Shutdown(late)
	if err != nil { // somebody still talks: that is enough
		err = s.Close()
	}
	<-ended
	g.Close()
	return err
}

// Close gives up what is prepared in the background, and lets go of connections
// to upstreams that nobody uses.
func (g *Gateway) Close() {
	g.transport.Close()
	if c, ok := g.opts.Transport.Base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type contextKey int

const (
	tenantKey contextKey = iota
	targetKey
	browserKey
)

// tenantOf returns the tenant that requireKnownKey put into the request's context.
func tenantOf(r *http.Request) transport.Tenant {
	t, _ := r.Context().Value(tenantKey).(transport.Tenant)
	return t
}

// requireKnownKey admits requests whose key the gateway knows, all where it has none.
func (g *Gateway) requireKnownKey(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var tenant transport.Tenant
		if g.keys == nil {
			tenant, _ = g.tenants.Of(r)
		} else if tenant = g.keys[sha256.Sum256([]byte(r.Header.Get(HeaderKey)))]; tenant == "" {
			g.metrics.denied.Add(1)
			g.refuseAndLog(w, r, http.StatusUnauthorized, "winnow: unauthorized; send the "+HeaderKey+" that this gateway's operator gave you")
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), tenantKey, tenant)))
	}
}

// requireProvenCaller admits requests that known admits and whose caller has proved who they
// are: by a key, by a credential, by a browser's cookie, or as the owner.
func (g *Gateway) requireProvenCaller(next http.HandlerFunc) http.HandlerFunc {
	known := g.requireKnownKey(func(w http.ResponseWriter, r *http.Request) {
		if g.keys == nil && !g.isFromOwner(r) {
			if _, own := g.tenants.Of(r); !own {
				g.metrics.denied.Add(1)
				g.refuseAndLog(w, r, http.StatusForbidden, "winnow: conversations and plans are shown only to callers with the credential of the conversation; a signed request, or one without a credential, does not show whose they are; send that credential, open the address that winnow address prints, or start the gateway with --keys FILE")
				return
			}
		}
		next(w, r)
	})
	return g.requireOwnHost(func(w http.ResponseWriter, r *http.Request) {
		who, ok := g.browserOf(r)
		if !ok || r.Header.Get(HeaderKey) != "" {
			known(w, r)
			return
		}
		ctx := context.WithValue(context.WithValue(r.Context(), browserKey, who), tenantKey, who.tenant)
		next(w, r.WithContext(ctx))
	})
}

// passUpstream sends a request to its upstream.
func (g *Gateway) passUpstream(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		// This status makes agents that prefer a WebSocket fall back to HTTP.
		g.refuseAndLog(w, r, http.StatusUpgradeRequired, "winnow: WebSockets are not supported; use HTTP")
		return
	}
	target, err := g.findTarget(r)
	if err != nil {
		g.refuseAndLog(w, r, http.StatusNotFound, err.Error())
		return
	}
	if !g.takeRoom(w, r) {
		return
	}
	defer func() { <-g.room }()
	ctx, span := g.tracing.startSpan(r, target)
	ctx, stop := context.WithTimeout(context.WithValue(ctx, targetKey, target), g.opts.Timeout)
	defer stop()
	r = r.WithContext(ctx)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(min(g.opts.ReadTimeout, g.opts.Timeout))) // some servers know none
	r.Body = &arrival{http.MaxBytesReader(w, r.Body, g.opts.MaxBody), control}
	// What passes unread is still arriving when the answer begins. Without this the
	// server would take the rest of it away from the upstream at that moment, and
	// the answer would break off.
	_ = control.EnableFullDuplex() // HTTP/2 is so by itself
	m := &measured{ResponseWriter: w, start: time.Now()}
	g.metrics.inFlight.Add(1)
	// The proxy panics when the caller or the upstream goes away.
	defer func() {
		g.metrics.countCall(m)
		g.tracing.endSpan(span, m)
		g.logCall(r, target, m)
		g.metrics.inFlight.Add(-1) // last: then all is told
	}()
	g.proxy.ServeHTTP(m, r)
}

// takeRoom admits one call more, or asks its caller to come again.
func (g *Gateway) takeRoom(w http.ResponseWriter, r *http.Request) bool {
	select {
	case g.room <- struct{}{}:
		return true
	default:
		g.metrics.busy.Add(1)
		w.Header().Set("Retry-After", "1")
		g.refuseAndLog(w, r, http.StatusServiceUnavailable, "winnow: too many calls are in progress; try again")
		return false
	}
}

// arrival is a body that must arrive in time, and whose faults are the caller's: chunks
// that are none, a connection that broke. The server's own ReadTimeout would go on
// counting during the answer, and end it.
type arrival struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read lifts the deadline at the end, and marks errors.
func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	switch err {
	case nil:
	case io.EOF:
		_ = a.control.SetReadDeadline(time.Time{})
	default:
		err = &callerError{err}
	}
	return n, err
}

// callerError is what went wrong while a request was read.
type callerError struct{ error }

// Unwrap returns what it was.
func (e *callerError) Unwrap() error { return e.error }

func (g *Gateway) logCall(r *http.Request, to *target, m *measured) {
	tenant := tenantOf(r)
	g.opts.Log.Info("call", "method", r.Method, "path", clipLabel(r.URL.Path), "upstream", to.name, "status", m.status, "bytes", m.bytes,
		"first_ms", m.first.Milliseconds(), "ms", time.Since(m.start).Milliseconds(), "tenant", string(tenant[:min(8, len(tenant))]),
		"plan", m.Header().Get(transport.HeaderPlan), "tokens", m.Header().Get(transport.HeaderTokens),
		"passed", m.Header().Get(transport.HeaderPassed))
}

// serveUpstreamError answers where the upstream did not.
func (g *Gateway) serveUpstreamError(w http.ResponseWriter, r *http.Request, err error) {
	var large *http.MaxBytesError
	var caller *callerError
	if errors.As(err, &caller) {
		w.Header().Set("Connection", "close") // the rest of this request may still come; nobody must read it as the next one
	}
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("winnow: the request is larger than %d bytes; start the gateway with a larger --max-body", large.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusRequestTimeout, "winnow: the request took too long to arrive; send it again, or start the gateway with a longer --read-timeout")
	case errors.Is(err, context.DeadlineExceeded):
		refuse(w, http.StatusGatewayTimeout, "winnow: the upstream took too long; send the request again, or start the gateway with a longer --timeout")
	case caller != nil:
		g.metrics.unread.Add(1)
		refuse(w, http.StatusBadRequest, "winnow: the request could not be read completely: "+caller.Error()+"; send it again")
	case r.Context().Err() != nil: // nobody is there to read it
		w.WriteHeader(499)
	default:
		g.metrics.unreached.Add(1)
		g.opts.Log.Warn("the upstream did not answer", "path", r.URL.Path, "why", reasonWithoutURL(err))
		refuse(w, http.StatusBadGateway, "winnow: the upstream did not answer: "+reasonWithoutURL(err)+"; check that the gateway's upstream address is right and reachable, then send the request again")
	}
}

// reasonWithoutURL returns an error without the address it was about, since that may hold a key.
func reasonWithoutURL(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return err.Error()
}

// refuseAndLog refuses a call that reaches no upstream, and logs that.
func (g *Gateway) refuseAndLog(w http.ResponseWriter, r *http.Request, status int, message string) {
	g.opts.Log.Info("refused", "method", clipLabel(r.Method), "path", clipLabel(r.URL.Path), "status", status)
	refuse(w, status, message)
}

// refuse answers with an error that clients of all dialects can read, reply with a
// document.
var refuse, reply = controlhttp.Refuse, controlhttp.Reply
