package transport_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// stub is a provider without a network.
type stub struct {
	sent   []byte
	status int
	kind   string
	answer []byte
}

func (s *stub) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	if s.sent, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: s.status, Header: http.Header{"Content-Type": {s.kind}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(s.answer)), ContentLength: int64(len(s.answer)),
	}, nil
}

// FuzzRoundTrip sends anything and answers anything. The request always goes
// out, as it came or as something that the provider would take; the answer
// always comes back as it was.
func FuzzRoundTrip(f *testing.F) {
	paths := []string{"/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent"}
	for i, d := range wire.Dialects() {
		c := &agentclient.Client{Dialect: d}
		for range 12 {
			c.Say(strings.Repeat("words to fill the window with, ", 20))
		}
		f.Add(i, c.Body(), 200, "application/json", []byte(`{"error":{"message":"maximum context length is 100 tokens"}}`))
		f.Add(i, c.Body(), 400, "application/json", []byte(`{"error":{"message":"prompt is too long: 900 tokens > 100 maximum"}}`))
		f.Add(i, c.Body()[:100], 200, "text/event-stream", []byte("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n"))
		f.Add(i, c.Body(), 200, "text/event-stream", []byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"prompt is too long\"}}\n\n"))
	}
	f.Fuzz(func(t *testing.T, path int, body []byte, status int, kind string, answer []byte) {
		if status < 200 || status > 599 {
			status = 200
		}
		s := &stub{status: status, kind: kind, answer: answer}
		tr, err := transport.New(&transport.Options{Base: s, Settings: winnow.Settings{Window: 2000}})
		if err != nil {
			t.Fatal(err)
		}
		path = max(path, 0) % len(paths)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider"+paths[path], bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if len(body) == 0 {
			return
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil || !bytes.Equal(got, answer) || resp.StatusCode != status {
			t.Errorf("the answer %d %q became %d %q, %v", status, answer, resp.StatusCode, got, err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(s.sent, body) {
			d := wire.Dialects()[min(path, 3)]
			if before, after := wire.Validate(d, body), wire.Validate(d, s.sent); len(before) == 0 && len(after) > 0 {
				t.Errorf("a valid request became an invalid one: %v", after)
			}
		}
		if tr.Stats().Failed > 0 {
			t.Errorf("%+v", tr.Stats())
		}
	})
}
