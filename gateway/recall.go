package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/transport/planstore"
)

// HeaderOwner holds what [OwnerToken] returns. A caller who sends it to a gateway
// without keys sees what is hidden from all of its callers: on a gateway without
// keys they are one person with several credentials, some of which change by the
// hour. With keys it is ignored, because then they are several persons.
const HeaderOwner = "Winnow-Owner"

// OwnerToken proves that whoever sends it can read the store, and so what is in
// it. It is "" for a store without a secret; then nobody is the owner.
func OwnerToken(ctx context.Context, s planstore.Store) (string, error) {
	of, ok := s.(planstore.Secret)
	if !ok {
		return "", nil
	}
	secret, err := of.Secret(ctx)
	if err != nil || len(secret) == 0 {
		return "", err
	}
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("winnow owner"))
	return hex.EncodeToString(h.Sum(nil)), nil
}

// owned reports whether a request comes from the owner of a gateway without keys.
func (g *Gateway) owned(r *http.Request) bool {
	return g.keys == nil && g.owner != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get(HeaderOwner)), []byte(g.owner)) == 1
}

// source is what the caller of a request may recall.
func (g *Gateway) source(r *http.Request) recall.Source {
	if g.owned(r) {
		if all, ok := g.opts.Transport.Store.(planstore.Handles); ok {
			if tenants, err := all.Tenants(r.Context()); err == nil {
				return g.transport.Recaller(tenants...)
			}
		}
	}
	return g.transport.Recaller(tenantOf(r))
}

// recallHandle shows a page of the original behind a handle.
func (g *Gateway) recallHandle(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	lines := recall.Range{Find: q.Get("find")}
	for name, to := range map[string]*int{"from": &lines.From, "lines": &lines.Lines} {
		if !number(w, q.Get(name), name, to) {
			return
		}
	}
	p, err := g.source(r).Recall(r.Context(), r.PathValue("handle"), lines)
	tell(w, p, err)
}

// search finds words in what is hidden.
func (g *Gateway) search(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	query := recall.Query{Words: q.Get("q"), All: q.Get("all") == "true" || q.Get("all") == "1"}
	if !number(w, q.Get("limit"), "limit", &query.Limit) {
		return
	}
	if query.Words == "" {
		refuse(w, http.StatusBadRequest, "winnow: there are no words to look for; write /winnow/search?q=WORDS")
		return
	}
	found, err := g.source(r).Search(r.Context(), query)
	tell(w, found, err)
}

// number reads a parameter, or says what is wrong with it.
func number(w http.ResponseWriter, text, name string, to *int) bool {
	if text == "" {
		return true
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("winnow: %s must be a number from 1 on", name))
		return false
	}
	*to = n
	return true
}

// tell answers with a document, or says why there is nothing.
func tell(w http.ResponseWriter, doc any, err error) {
	switch {
	case err == nil:
		reply(w, http.StatusOK, doc)
	case errors.Is(err, recall.ErrUnknown):
		refuse(w, http.StatusNotFound, "winnow: "+err.Error())
	case errors.Is(err, recall.ErrAmbiguous):
		refuse(w, http.StatusConflict, "winnow: "+err.Error())
	case errors.Is(err, recall.ErrGone):
		refuse(w, http.StatusGone, "winnow: "+err.Error())
	default:
		refuse(w, http.StatusInternalServerError, "winnow: the plans cannot be read")
	}
}

// noMCP answers where MCP is not served: what is the gateway's own never reaches
// an upstream.
func noMCP(w http.ResponseWriter, _ *http.Request) {
	refuse(w, http.StatusNotFound, "winnow: this gateway serves no MCP; run winnow mcp instead, or set Options.MCP")
}
