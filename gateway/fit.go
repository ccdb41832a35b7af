package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// fitPath is where callers get a body back that fits, for calls that they make
// themselves. Behind it may stand the path of the provider's API; a body without
// one is known by its form.
const fitPath = "/winnow/fit"

// apiPaths are where bodies of the dialects go that name their model.
var apiPaths = map[wire.Dialect]string{wire.OpenAI: "/v1/chat/completions", wire.Responses: "/v1/responses", wire.Anthropic: "/v1/messages"}

// fit answers with the body that would be sent on.
func (g *Gateway) fit(w http.ResponseWriter, r *http.Request) {
	if !g.takeRoom(w, r) {
		return
	}
	defer func() { <-g.room }()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.opts.MaxBody))
	if err != nil {
		g.refuse(w, r, http.StatusRequestEntityTooLarge, "winnow: the body cannot be read whole: "+err.Error())
		return
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), fitPath)
	if strings.Trim(path, "/") == "" {
		dialect, _ := wire.Detect(body)
		if path = apiPaths[dialect]; path == "" {
			g.refuse(w, r, http.StatusBadRequest, "winnow: it is not clear whose request this is; write the API's path behind "+fitPath+", such as "+fitPath+"/v1beta/models/MODEL:generateContent")
			return
		}
	}
	call := r.Clone(r.Context())
	if call.URL, err = url.Parse(path); err != nil {
		g.refuse(w, r, http.StatusBadRequest, "winnow: the path cannot be read")
		return
	}
	target, err := g.target(call)
	if err != nil {
		g.refuse(w, r, http.StatusNotFound, err.Error())
		return
	}
	call.Body = io.NopCloser(bytes.NewReader(body))
	call = call.WithContext(context.WithValue(call.Context(), targetKey, target))
	p := &httputil.ProxyRequest{In: call, Out: call.Clone(call.Context())}
	rewrite(p)
	fitted, done, err := g.transport.Fit(p.Out)
	switch {
	case errors.Is(err, transport.ErrElsewhere):
		w.Header().Set("Retry-After", "1")
		g.refuse(w, r, http.StatusServiceUnavailable, err.Error())
		return
	case err != nil:
		g.refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	for name, values := range done {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(fitted) // whoever asked has gone
}
