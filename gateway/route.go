package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
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

// findTarget returns the upstream that the path or a header names, else the
// dialect's.
func (g *Gateway) findTarget(r *http.Request) (*target, error) {
	if slices.Contains(strings.Split(r.URL.Path, "/"), "..") {
		return nil, errors.New("winnow: the path contains \"..\"; write it without")
	}
	path := dropRepeatedVersion(r.URL.EscapedPath())
	name := r.Header.Get(headerUpstream)
	if name == "" {
		first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		switch {
		case g.upstreams[first] != nil:
			name, path = first, "/"+rest
		case !reserved[first] && !isVersion(first) && namesUpstream(rest):
			name = first // and there is none of that name
		default:
			name = g.dialectUpstream(r, path)
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

// namesUpstream reports whether what follows the first word of a path is a whole path by
// itself: then that word is meant as the name of an upstream. One that is not
// known must not go to another provider, with a credential that is not for it.
func namesUpstream(rest string) bool {
	return strings.HasPrefix(rest, "v1/") || strings.HasPrefix(rest, "v1beta/") || lacksVersion("/"+rest)
}

// dialectUpstream names the provider whose API this is; "" where it could be
// anybody's. A ChatGPT account is known to ChatGPT and not to OpenAI's API.
func (g *Gateway) dialectUpstream(r *http.Request, path string) string {
	name := apiUpstream(r, path)
	if (name == "" || name == "openai") && r.Header.Get("ChatGPT-Account-ID") != "" && g.upstreams["chatgpt"] != nil {
		return "chatgpt"
	}
	return name
}

// apiUpstream names the provider by the call and its credential.
func apiUpstream(r *http.Request, path string) string {
	switch {
	case strings.HasPrefix(path, "/v1internal"):
		return "code-assist"
	case strings.HasPrefix(path, "/v1beta"): // also where it speaks another's dialect
		return "gemini"
	}
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
	case strings.HasPrefix(strings.TrimPrefix(path, "/v1"), "/messages"), isForAnthropic(r.Header):
		return "anthropic"
	case r.Header.Get("X-Goog-Api-Key") != "":
		return "gemini"
	}
	return ""
}

// isForAnthropic reports whether headers are meant for Anthropic. Its agents ask for
// more than messages, and their credentials are for nobody else.
func isForAnthropic(h http.Header) bool {
	return h.Get("Anthropic-Version")+h.Get("Anthropic-Beta")+h.Get("X-Api-Key") != "" ||
		strings.HasPrefix(h.Get("Authorization"), "Bearer sk-ant-") || strings.HasPrefix(h.Get("User-Agent"), "claude-cli/")
}

// rewriteRequest makes the request that is sent on. Credentials and the provider's
// own headers go along as they are.
func rewriteRequest(p *httputil.ProxyRequest) {
	t := p.In.Context().Value(targetKey).(*target)
	u := *p.In.URL
	u.Scheme, u.Host = t.base.Scheme, t.base.Host
	u.RawPath = arrivalPath(t.base, t.path)
	if plain, err := url.PathUnescape(u.RawPath); err == nil {
		u.Path = plain
	}
	p.Out.URL = &u
	p.Out.Host = ""
	p.Out.Header.Del(HeaderKey)
	p.Out.Header.Del(HeaderOwner)
	p.Out.Header.Del(headerUpstream)
	if _, ok := p.In.Header["User-Agent"]; !ok {
		p.Out.Header.Set("User-Agent", "") // none of our own
	}
}
