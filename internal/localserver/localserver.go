// Package localserver asks servers that run models on somebody's own machine how
// large a window they have given a model. The model's own window says little
// there: Ollama takes 4,096 tokens of most models unless it is told otherwise, and
// cuts what is longer without a word.
package localserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// closed are how the names of models begin that run nowhere but at their makers.
var closed = []string{"claude", "gpt-3", "gpt-4", "gpt-5", "gemini"}

// May reports whether a server at this address may be a local one that runs this
// model: it is on this machine, in a private network, or has a name without a
// point, as containers have.
func May(at *url.URL, model string) bool {
	ip := net.ParseIP(at.Hostname())
	host := strings.ToLower(at.Hostname())
	switch {
	case ip != nil && !ip.IsLoopback() && !ip.IsPrivate():
		return false
	case ip == nil && strings.Contains(host, ".") && !strings.HasSuffix(host, ".local"):
		return false
	}
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	return model != "" && !slices.ContainsFunc(closed, func(c string) bool { return strings.HasPrefix(model, c) })
}

// maxAnswer is how much of an answer is read.
const maxAnswer = 4 << 20

// Window asks the server that requests to an address reach for the window of a
// model. header is what a request to it carries, for its key. It returns 0 where
// the server does not say, and in words where the number is from.
func Window(ctx context.Context, send http.RoundTripper, at *url.URL, model string, header http.Header) (tokens int, why string) {
	prefix, _, _ := strings.Cut(at.Path, "/v1")
	if prefix == at.Path {
		prefix = ""
	}
	s := &server{ctx, send, at.Scheme + "://" + at.Host + prefix, header}
	vLLM, lmStudio := s.listed("/v1/models", "max_model_len"), s.listed("/api/v0/models", "loaded_context_length")
	for _, ask := range []func(string) (int, string){vLLM, s.llamaCpp, s.ollama, lmStudio} {
		if n, why := ask(model); n > 0 {
			return n, why
		}
	}
	return 0, ""
}

type server struct {
	ctx    context.Context
	send   http.RoundTripper
	base   string
	header http.Header
}

// askJSON gets a JSON document; a body makes it a POST. It reports false where there is
// none.
func (s *server) askJSON(path string, body, into any) bool {
	method, data := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		var err error
		if data, err = json.Marshal(body); err != nil {
			return false
		}
	}
	req, err := http.NewRequestWithContext(s.ctx, method, s.base+path, bytes.NewReader(data))
	if err != nil {
		return false
	}
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		if v := s.header.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.send.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return err == nil && resp.StatusCode == http.StatusOK && json.Unmarshal(data, into) == nil
}

// listed returns what asks for a list of models, as vLLM and LM Studio give it, and
// takes the window from the member of that name.
func (s *server) listed(path, member string) func(string) (int, string) {
	return func(model string) (int, string) {
		var list struct{ Data []map[string]any }
		s.askJSON(path, nil, &list)
		for _, one := range list.Data {
			if id, _ := one["id"].(string); strings.EqualFold(id, model) || len(list.Data) == 1 {
				tokens, _ := one[member].(float64)
				return int(tokens), member + " of the server at " + s.base
			}
		}
		return 0, ""
	}
}

// llamaCpp asks for what llama.cpp gives each conversation.
func (s *server) llamaCpp(string) (int, string) {
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	s.askJSON("/props", nil, &props)
	return props.Settings.Context, "n_ctx of the server at " + s.base
}

// ollama asks which window the model has where it is loaded, or else which one its
// file sets. Where neither says, the server decides when it loads the model.
func (s *server) ollama(model string) (int, string) {
	var shown struct {
		Parameters string
	}
	if !s.askJSON("/api/show", map[string]string{"model": model}, &shown) {
		return 0, ""
	}
	var running struct {
		Models []struct {
			Name, Model string
			Context     int `json:"context_length"`
		}
	}
	s.askJSON("/api/ps", nil, &running)
	for _, one := range running.Models {
		if one.Context > 0 && (sameModel(one.Name, model) || sameModel(one.Model, model)) {
			return one.Context, "num_ctx with which the server at " + s.base + " has loaded it"
		}
	}
	for line := range strings.Lines(shown.Parameters) {
		words := strings.Fields(line)
		if len(words) == 2 && words[0] == "num_ctx" {
			n, _ := strconv.Atoi(words[1])
			return n, "num_ctx of the server at " + s.base
		}
	}
	return 0, ""
}

// sameModel reports whether two names are one model of Ollama's, which calls
// "latest" what has no tag.
func sameModel(a, b string) bool {
	return strings.TrimSuffix(a, ":latest") == strings.TrimSuffix(b, ":latest")
}
