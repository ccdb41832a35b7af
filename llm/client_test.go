package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/wire"
)

// member finds a value in JSON by a dotted path.
func member(t *testing.T, body []byte, path string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("the body is no JSON: %v\n%s", err, body)
	}
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func TestComplete(t *testing.T) {
	each(t, func(t *testing.T, a *actor) {
		s := play(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = w.Write([]byte(a.plain(answered)))
		})
		c, _ := a.client(t, s, Options{})
		got, err := c.Complete(t.Context(), hello())
		checkAnswer(t, got, err)
		if s.path != a.path {
			t.Errorf("path = %s, want %s", s.path, a.path)
		}
		if s.header.Get(a.header) != a.value {
			t.Errorf("%s = %q", a.header, s.header.Get(a.header))
		}
		if n := member(t, s.body, a.limit); n != 321.0 {
			t.Errorf("%s = %v in %s", a.limit, n, s.body)
		}
		if m, _ := member(t, s.body, "model").(string); m != a.model {
			t.Errorf("model = %q, want %q", m, a.model)
		}
		for _, want := range []string{"Be brief.", "Summarise the build."} {
			if !bytes.Contains(s.body, []byte(want)) {
				t.Errorf("%q is not in %s", want, s.body)
			}
		}
		if member(t, s.body, "stream") != nil {
			t.Error("a stream was asked for")
		}
	})
}

func TestStream(t *testing.T) {
	each(t, func(t *testing.T, a *actor) {
		s := play(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Type", a.media)
			all := a.stream(pieces...)
			for len(all) > 0 { // in small writes, so that events are cut
				n := min(len(all), 61)
				_, _ = w.Write(all[:n])
				w.(http.Flusher).Flush()
				all = all[n:]
			}
		})
		c, _ := a.client(t, s, Options{})
		var words []string
		got, err := c.Stream(t.Context(), hello(), func(w string) error {
			words = append(words, w)
			return nil
		})
		checkAnswer(t, got, err)
		if strings.Join(words, "|") != strings.Join(pieces, "|") {
			t.Errorf("words = %q", words)
		}
		want := a.flow
		if want == "" {
			want = a.path
			if member(t, s.body, "stream") != true {
				t.Errorf("no stream was asked for: %s", s.body)
			}
		}
		if s.path != want {
			t.Errorf("path = %s, want %s", s.path, want)
		}
	})
}

// Some servers stream unasked, some answer whole when asked to stream.
func TestOtherFormThanAsked(t *testing.T) {
	each(t, func(t *testing.T, a *actor) {
		s := play(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n == 1 {
				w.Header().Set("Content-Type", a.media)
				_, _ = w.Write(a.stream(pieces...))
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(a.plain(answered)))
		})
		c, _ := a.client(t, s, Options{})
		got, err := c.Complete(t.Context(), hello())
		checkAnswer(t, got, err)
		words := ""
		got, err = c.Stream(t.Context(), hello(), func(w string) error {
			words += w
			return nil
		})
		checkAnswer(t, got, err)
		if words != answered {
			t.Errorf("words = %q", words)
		}
	})
}

func TestOverflowIsNeverRetried(t *testing.T) {
	each(t, func(t *testing.T, a *actor) {
		s := play(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			for k, v := range a.errorHeader {
				w.Header().Set(k, v)
			}
			w.Header().Set("X-Should-Retry", "true")
			w.Header().Set("X-Request-Id", "req-77")
			w.WriteHeader(a.overflowStatus)
			_, _ = w.Write([]byte(a.overflow))
		})
		c, p := a.client(t, s, Options{Retries: 5})
		for _, stream := range []bool{false, true} {
			before := s.count()
			_, err := c.ask(t, stream)
			var over *OverflowError
			if !errors.As(err, &over) || over.ContextLimit() != a.limitTold {
				t.Fatalf("err = %v (limit %d, want %d)", err, over.ContextLimit(), a.limitTold)
			}
			var e *Error
			if !errors.As(err, &e) || e.Status != a.overflowStatus || e.Verdict.Kind != wire.KindOverflow || e.Verdict.Retryable || e.RequestID != "req-77" {
				t.Errorf("error = %+v", e)
			}
			if s.count() != before+1 || len(p.all) != 0 {
				t.Errorf("%d calls, pauses %v", s.count()-before, p)
			}
		}
	})
}

// ask makes a call of either kind.
func (c *Client) ask(t *testing.T, stream bool) (*wire.Answer, error) {
	t.Helper()
	if stream {
		return c.Stream(t.Context(), hello(), func(string) error { return nil })
	}
	return c.Complete(t.Context(), hello())
}

func TestRateLimit(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	each(t, func(t *testing.T, a *actor) {
		for _, stream := range []bool{false, true} {
			s := play(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				switch n {
				case 1:
					w.Header().Set("Retry-After", "7")
					w.WriteHeader(http.StatusTooManyRequests)
					_, _ = w.Write([]byte(`{"error":{"message":"Rate limit reached, too many requests","type":"rate_limit_error"}}`))
				case 2:
					w.Header().Set("Retry-After", now.Add(11*time.Second).Format(http.TimeFormat))
					w.WriteHeader(http.StatusServiceUnavailable)
				case 3:
					w.WriteHeader(http.StatusInternalServerError)
					_, _ = w.Write([]byte("oops"))
				default:
					if stream {
						w.Header().Set("Content-Type", a.media)
						_, _ = w.Write(a.stream(pieces...))
						return
					}
					_, _ = w.Write([]byte(a.plain(answered)))
				}
			})
			c, p := a.client(t, s, Options{Retries: 3})
			c.now = func() time.Time { return now }
			got, err := c.ask(t, stream)
			checkAnswer(t, got, err)
			if p.String() != "[7s 11s 4s]" || s.count() != 4 {
				t.Errorf("pauses %v, %d calls", p, s.count())
			}
		}
	})
}

func TestNotRetried(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		header [2]string
		body   string
		kind   wire.Kind
		words  string
	}{
		{"bad request", 400, [2]string{"X-Should-Retry", "true"}, `{"error":{"message":"Unknown parameter: 'x'.","type":"invalid_request_error"}}`, wire.KindBadRequest, "Unknown parameter"},
		{"a wrong key", 401, [2]string{}, `{"error":{"message":"Incorrect API key provided: ` + secret + `."}}`, wire.KindAuth, "check the key in OPENAI_API_KEY"},
		{"no money", 429, [2]string{}, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}}`, wire.KindQuota, "balance"},
		{"no such model", 404, [2]string{}, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`, wire.KindBadRequest, "HTTP 404"},
		{"too long a pause", 429, [2]string{"Retry-After", "90"}, `{"error":{"message":"Rate limit reached"}}`, wire.KindRateLimit, "try again in 1m30s"},
		{"a redirect", 307, [2]string{"Location", "http://127.0.0.1:1/"}, ``, wire.KindBadRequest, "redirects"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := actors()[0]
			s := play(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				if tt.header[0] != "" {
					w.Header().Set(tt.header[0], tt.header[1])
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			})
			c, p := a.client(t, s, Options{Retries: 5})
			_, err := c.Complete(t.Context(), hello())
			var e *Error
			if !errors.As(err, &e) || e.Verdict.Kind != tt.kind || e.Status != tt.status || !strings.Contains(err.Error(), tt.words) {
				t.Fatalf("err = %v", err)
			}
			if s.count() != 1 || len(p.all) != 0 {
				t.Errorf("%d calls, pauses %v", s.count(), p)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the key stands in %v", err)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	a := actors()[0]
	s := play(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(529) })
	c, p := a.client(t, s, Options{Retries: 8, Backoff: 4 * time.Second, MaxWait: 20 * time.Second})
	_, err := c.Complete(t.Context(), hello())
	var e *Error
	if !errors.As(err, &e) || e.Tries != 9 || e.Verdict.Kind != wire.KindOverloaded || !e.Verdict.Retryable {
		t.Errorf("err = %v", err)
	}
	if p.String() != "[4s 8s 16s 20s 20s 20s 20s 20s]" {
		t.Errorf("pauses %v", p)
	}
	if !strings.Contains(err.Error(), "after 9 tries") {
		t.Error(err)
	}
	c, p = a.client(t, s, Options{Retries: -1})
	if _, err := c.Complete(t.Context(), hello()); err == nil || len(p.all) != 0 {
		t.Errorf("%v, pauses %v", err, p)
	}
}

// A pause that outlasts the call is not made.
func TestNoPauseBeyondTheEnd(t *testing.T) {
	a := actors()[0]
	s := play(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	c, p := a.client(t, s, Options{Timeout: 10 * time.Second})
	_, err := c.Complete(t.Context(), hello())
	var e *Error
	if !errors.As(err, &e) || e.Verdict.RetryAfter != 30*time.Second || len(p.all) != 0 {
		t.Errorf("%v, pauses %v", err, p)
	}
}

func TestCancelled(t *testing.T) {
	each(t, func(t *testing.T, a *actor) {
		s := play(t, func(w http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
		c, _ := a.client(t, s, Options{})
		for _, stream := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(30*time.Millisecond, cancel)
			var err error
			if stream {
				_, err = c.Stream(ctx, hello(), nil)
			} else {
				_, err = c.Complete(ctx, hello())
			}
			var e *Error
			if !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Verdict.Retryable {
				t.Errorf("err = %v", err)
			}
		}
	})
}

// The caller's own error ends a stream and comes back as it is; nothing is
// tried again once words were handed on.
func TestStreamStops(t *testing.T) {
	each(t, func(t *testing.T, a *actor) {
		s := play(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Type", a.media)
			_, _ = w.Write(a.stream(pieces...))
		})
		c, _ := a.client(t, s, Options{})
		enough := errors.New("enough")
		n := 0
		got, err := c.Stream(t.Context(), hello(), func(string) error {
			if n++; n == 2 {
				return enough
			}
			return nil
		})
		if err != enough || n != 2 || s.count() != 1 {
			t.Errorf("err = %v after %d words and %d calls", err, n, s.count())
		}
		if got == nil || !strings.HasPrefix(got.Message.Text(), "Notes: ") {
			t.Errorf("the answer so far is missing: %+v", got)
		}
	})
}

func TestNoMessages(t *testing.T) {
	c, err := New("ollama/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, req := range []*Request{nil, {}, {Messages: chat.Messages{}}} {
		if _, err := c.Complete(t.Context(), req); err == nil || !strings.Contains(err.Error(), "no messages") {
			t.Errorf("err = %v", err)
		}
	}
}

// Ollama drops the oldest messages without a word; its count gives it away.
func TestSilentOverflow(t *testing.T) {
	long := &Request{Messages: chat.Messages{chat.TextMessage(chat.User, strings.Repeat("a long story about builds ", 4000))}}
	for _, tt := range []struct {
		spec   string
		window int
		over   bool
	}{{"ollama/x", 0, true}, {"ollama/x", 131072, true}, {"vllm/x", 0, false}, {"vllm/x", 100, true}, {"vllm/x", 8192, true}} {
		s := play(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = w.Write([]byte(chatPlain("ok"))) })
		c, err := New(tt.spec, &Options{BaseURL: s.URL + "/v1", Transport: s.Client().Transport, Window: tt.window, Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Complete(t.Context(), long)
		var over *OverflowError
		if errors.As(err, &over) != tt.over {
			t.Errorf("%s with window %d: err = %v", tt.spec, tt.window, err)
		}
		if _, err := c.Complete(t.Context(), hello()); err != nil && tt.window != 100 {
			t.Errorf("%s with window %d, short: err = %v", tt.spec, tt.window, err)
		}
	}
}
