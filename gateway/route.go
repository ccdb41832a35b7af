package gateway

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// target is where a request goes.
type target struct {
	name string
	base *url.URL
	path string // after the base's own, as it was escaped
}

// target finds the upstream: the one that the path or a header names, else the
// one of the dialect.
func (g *Gateway) target(r *http.Request) (*target, error) {
	path := r.URL.EscapedPath()
	name := r.Header.Get(HeaderUpstream)
	if name == "" {
		first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if g.upstreams[first] != nil {
			name, path = first, "/"+rest
		} else {
			name = dialectUpstream(r)
		}
	}
	if name == "" { // nobody's in particular
		name = "openai"
		if len(g.upstreams) == 1 {
			for only := range g.upstreams {
				name = only
			}
		}
	}
	base := g.upstreams[name]
	if base == nil {
		return nil, fmt.Errorf("winnow: there is no upstream %q; start the gateway with --upstream NAME=URL for it", name)
	}
	return &target{name, base, path}, nil
}

// dialectUpstream names the provider whose API this is; "" where it could be
// anybody's.
func dialectUpstream(r *http.Request) string {
	if e, ok := transport.EndpointOf(r); ok {
		switch e.Dialect {
		case wire.Anthropic:
			return "anthropic"
		case wire.Gemini:
			return "gemini"
		}
		return "openai"
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1/messages"), r.Header.Get("Anthropic-Version") != "":
		return "anthropic"
	case strings.HasPrefix(r.URL.Path, "/v1beta"), r.Header.Get("X-Goog-Api-Key") != "":
		return "gemini"
	}
	return ""
}

// rewrite makes the request that is sent on. Credentials and the provider's
// own headers go along as they are.
func rewrite(p *httputil.ProxyRequest) {
	t := p.In.Context().Value(targetKey).(*target)
	path := t.path
	// Base URLs are written with the version or without.
	if strings.HasSuffix(t.base.Path, "/v1") && (path == "/v1" || strings.HasPrefix(path, "/v1/")) {
		path = path[len("/v1"):]
	}
	u := *p.In.URL
	u.Scheme, u.Host = t.base.Scheme, t.base.Host
	u.RawPath = t.base.EscapedPath() + path
	if plain, err := url.PathUnescape(u.RawPath); err == nil {
		u.Path = plain
	}
	p.Out.URL = &u
	p.Out.Host = ""
	p.Out.Header.Del(HeaderKey)
	p.Out.Header.Del(HeaderUpstream)
	if _, ok := p.In.Header["User-Agent"]; !ok {
		p.Out.Header.Set("User-Agent", "") // none of our own
	}
}
