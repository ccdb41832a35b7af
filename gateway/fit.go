package gateway

import (
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

// serveFit answers with the body that would be sent on.
func (g *Gateway) serveFit(w http.ResponseWriter, r *http.Request) {
	if !g.takeRoom(w, r) {
		return
	}
	defer func() { <-g.room }()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.opts.MaxBody))
	if err != nil {
		g.refuseAndLog(w, r, http.StatusRequestEntityTooLarge, "winnow: the body cannot be read whole: "+err.Error())
		return
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), fitPath)
	if strings.Trim(path, "/") == "" {
		dialect, _ := wire.Detect(body)
		if path = apiPaths[dialect]; path == "" {
			g.refuseAndLog(w, r, http.StatusBadRequest, "winnow: it is not clear whose request this is; write the API's path behind "+fitPath+", such as "+fitPath+"/v1beta/models/MODEL:generateContent")
			return
		}
	}
	call := r.Clone(r.Context())
	if call.URL, err = url.Parse(path); err != nil {
		g.refuseAndLog(w, r, http.StatusBadRequest, "winnow: the path cannot be read")
		return
	}
	target, err := g.findTarget(call)
	if err != nil {
		g.refuseAndLog(w, r, http.StatusNotFound, err.Error())
		return
	}
	call = call.WithContext(context.WithValue(call.Context(), targetKey, target))
	p := &httputil.ProxyRequest{In: call, Out: call.Clone(call.Context())}
	rewriteRequest(p)
	fitted, done, err := g.transport.Fit(transport.WithCall(r.Context(), p.Out), body)
	switch {
	case errors.Is(err, transport.ErrElsewhere):
		w.Header().Set("Retry-After", "1")
		g.refuseAndLog(w, r, http.StatusServiceUnavailable, "winnow: "+transport.ErrElsewhere.Error())
		return
	case err != nil:
		g.refuseAndLog(w, r, http.StatusBadRequest, "winnow: "+strings.TrimPrefix(err.Error(), "transport: "))
		return
	}
	for name, values := range done {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(fitted) // an error means that the caller has gone
}
