package llm

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// An answer is read by what it is where its type is wrong or missing.
func TestWrongContentType(t *testing.T) {
	const (
		whole  = `{"choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`
		stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	)
	for _, media := range []string{"", "text/plain", "application/octet-stream", "application/json", "text/event-stream", "application/x-ndjson", "nonsense;;"} {
		for _, body := range []string{whole, stream, "\uFEFF" + whole, "\r\n" + stream, ": hello\n\n" + stream} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{media}
				_, _ = w.Write([]byte(body))
			}))
			c, err := New("openai/x", &Options{Key: "sk-1234567890", BaseURL: s.URL, Retries: -1})
			if err != nil {
				t.Fatal(err)
			}
			words := ""
			if a, err := c.Stream(t.Context(), hello(), func(w string) error { words += w; return nil }); err != nil || a.Message.Text() != "yes" || words != "yes" {
				t.Errorf("streamed, type %q, body %.20q: %q, %v", media, body, words, err)
			}
			if a, err := c.Complete(t.Context(), hello()); err != nil || a.Message.Text() != "yes" {
				t.Errorf("whole, type %q, body %.20q: %v", media, body, err)
			}
			s.Close()
		}
	}
}

// A key is hidden in the forms in which servers repeat it, and so is the
// password of a proxy.
func TestSecretsInOtherForms(t *testing.T) {
	const key, token = "pass/word+0123456789", "9876543210abcdefgh"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		fmt.Fprintf(w, `{"error":{"message":"%s, %s and %s will not do"}}`, url.QueryEscape(sent), url.PathEscape(sent), strings.TrimPrefix(r.Header.Get("X-Team-Auth"), "Token "))
	}))
	defer s.Close()
	broken := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		return nil, fmt.Errorf("invalid proxy address %q", "http://me:"+token+" x@proxy.example:80")
	}}
	for name, o := range map[string]*Options{
		"repeated": {Key: key, BaseURL: s.URL, Header: http.Header{"X-Team-Auth": {"Token " + token}}},
		"proxy":    {Key: key, BaseURL: s.URL, Transport: broken, Backoff: time.Millisecond},
	} {
		c, err := New("openai/x", o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Complete(t.Context(), hello())
		if err == nil || !strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, leak := range []string{"0123456789", token} {
			if strings.Contains(err.Error(), leak) {
				t.Errorf("%s: %q stands in %v", name, leak, err)
			}
		}
	}
}
