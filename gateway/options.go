package gateway

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/defaults"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
	"go.opentelemetry.io/otel/trace"
)

// Upstream is a provider that requests may go to.
type Upstream struct {
	// Name is openai, anthropic or gemini for the upstream of that dialect's
	// routes, chatgpt for where OpenAI's routes go with a ChatGPT account,
	// code-assist for where Gemini CLI goes with a Google account (/v1internal:…).
	// Others are reached under /NAME/… or by the header Winnow-Upstream.
	Name string
	URL  string
}

// Headers that callers may send. They are not passed on.
const (
	HeaderKey      = "Winnow-Key"
	headerUpstream = "Winnow-Upstream"
)

// Defaults returns the upstreams of the providers themselves.
func Defaults() []Upstream {
	return []Upstream{
		{"openai", "https://api.openai.com"},
		{"chatgpt", "https://chatgpt.com/backend-api/codex"},
		{"anthropic", "https://api.anthropic.com"},
		{"gemini", "https://generativelanguage.googleapis.com"},
		{"code-assist", "https://cloudcode-pa.googleapis.com"},
	}
}

// Options are what a [Gateway] is made of. The zero value works and serves the
// providers' own addresses.
type Options struct {
	// Upstreams are all places that requests may go to; default [Defaults].
	Upstreams []Upstream

	// Transport is how requests are made to fit. Its Tenant and Observer are set
	// here, and so is its Base unless given.
	Transport transport.Options

	// Keys are the gateway's own, each with the tenant's name. With none,
	// everybody who reaches the gateway may use it, and tenants are told apart
	// by their credentials, see [transport.Tenants].
	Keys map[string]string

	// Hosts are names under which the gateway's own pages are served, besides
	// localhost, loopback addresses and the address that a caller reached: those
	// of load balancers and proxies in front. Under other names, and to web
	// pages of other hosts, they answer 403. Health checks and calls to models
	// are served under any name.
	Hosts []string

	// MCP makes the handler of /mcp, which gives models back what plans hide from
	// them; nil serves none. The function it gets returns what the caller of a
	// request may see: /mcp is one of the gateway's own pages, with their rules
	// about names, keys and tenants. Package recall/mcpserver has such a handler:
	//
	//	o.MCP = func(of func(*http.Request) control.Source) http.Handler { return mcpserver.Handler(version, of) }
	MCP func(of func(*http.Request) control.Source) http.Handler

	// Version is what the page at / says the gateway is; "" says nothing.
	Version string

	// TLS serves HTTPS; nil is plain HTTP.
	TLS *tls.Config

	// MaxBody is the largest request in bytes as it arrives (default 64 MB);
	// larger ones are refused. Those that are larger only when they are
	// unpacked are not unpacked, and pass as they came.
	MaxBody int64

	// MaxConcurrent is how many requests may be under way (default 512).
	// Others are asked to come back.
	MaxConcurrent int

	// Timeout is the longest that a call may take, answer included (default
	// 1 h); ReadTimeout the longest that a request may take to arrive (default
	// 2 min).
	Timeout, ReadTimeout time.Duration

	// Grace is how long calls under way are waited for at the end (default 30 s).
	Grace time.Duration

	// Tracer makes a span for each call that arrives and one for each call to a
	// model, with the GenAI names and without content; nil is none.
	// Callers' traces go on in them, and the upstream gets a traceparent.
	Tracer trace.TracerProvider

	// Log gets a line for each call, without content or credentials; nil is silent.
	Log *slog.Logger

	// Metrics are asked for further numbers for /metrics.
	Metrics []interface{ Metrics() []Metric }
}

// Metric is one number, as Prometheus has them: Name, Help, Value, and Kind, which is
// counter or gauge.
type Metric = planstore.Metric

func (o *Options) fillDefaults() {
	if len(o.Upstreams) == 0 {
		o.Upstreams = Defaults()
	}
	defaults.Set(&o.MaxBody, 64<<20)
	defaults.Set(&o.MaxConcurrent, 512)
	defaults.Set(&o.Timeout, time.Hour)
	defaults.Set(&o.ReadTimeout, 2*time.Minute)
	defaults.Set(&o.Grace, 30*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Transport.Base == nil {
		base := http.DefaultTransport.(*http.Transport).Clone()
		base.MaxIdleConns, base.MaxIdleConnsPerHost = 1024, 256
		base.DisableCompression = true // the caller decides
		base.ResponseHeaderTimeout = 0 // models think for long
		o.Transport.Base = base
	}
	o.Transport.Log = cmp.Or(o.Transport.Log, o.Log)
	if o.Transport.Store == nil {
		o.Transport.Store = transport.NewMemory(transport.Bounds{})
	}
	o.Transport.MaxBody = o.MaxBody
}

// reserved are names under which something else is reached.
var reserved = map[string]bool{
	"": true, ".": true, "..": true, "winnow": true, "healthz": true, "readyz": true, "metrics": true, "mcp": true,
	"v1": true, "v1beta": true, "v1alpha": true, "chat": true, "responses": true, "messages": true, "models": true,
}

// readUpstreams reads the addresses.
func (o *Options) readUpstreams() (map[string]*url.URL, error) {
	all := make(map[string]*url.URL, len(o.Upstreams))
	for _, up := range o.Upstreams {
		u, err := url.Parse(up.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("gateway: upstream %s=%s is not an address; write %s=https://host", up.Name, up.URL, up.Name)
		}
		if u.User != nil || u.RawQuery != "" { // not shown: there may be a password in it
			return nil, fmt.Errorf("gateway: the address of upstream %s holds credentials or a query; write %s=%s://%s%s and let callers send their own", up.Name, up.Name, u.Scheme, u.Host, u.Path)
		}
		if reserved[up.Name] || strings.ContainsAny(up.Name, "/?#% ") {
			return nil, fmt.Errorf("gateway: %q is not a name for an upstream; use openai, anthropic, gemini or a word of your own", up.Name)
		}
		if all[up.Name] != nil {
			return nil, fmt.Errorf("gateway: there are two upstreams called %s; give one of them another name", up.Name)
		}
		u.Path = strings.TrimRight(u.Path, "/")
		all[up.Name] = u
	}
	return all, nil
}
