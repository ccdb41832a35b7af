package providersim

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// sim starts a server for one test.
func sim(t testing.TB, o Options) (*Server, string) {
	t.Helper()
	s := New(o)
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		s.Close()
		ts.Close()
	})
	return s, ts.URL
}

// post sends a body with header pairs and returns status and answer.
func post(t testing.TB, url, body string, headers ...string) (int, string) {
	t.Helper()
	status, out, err := try(http.DefaultClient, url, body, headers...)
	if err != nil {
		t.Fatalf("POST %s: %v", url, err)
	}
	return status, out
}

func try(client *http.Client, url, body string, headers ...string) (int, string, error) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// parse reads an answer.
func parse(t testing.TB, text string) value {
	t.Helper()
	v, err := parseValue([]byte(text))
	if err != nil {
		t.Fatalf("answer is no JSON: %v\n%.300s", err, text)
	}
	return v
}

// errorText finds the message of an error in any dialect's shape.
func errorText(t testing.TB, body string) string {
	t.Helper()
	return parse(t, body).path("error", "message").str()
}

// js writes a Go value as JSON.
func js(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// ruleCase is a body and what it is told; an empty text means accepted.
type ruleCase struct {
	name, body string
	rule, text string
	status     int // default 400
	headers    []string
}

// checkRules posts every body and compares status, text and the counted reason.
func checkRules(t *testing.T, path string, o Options, cases []ruleCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, url := sim(t, o)
			status, body := post(t, url+path, c.body, c.headers...)
			if c.text == "" {
				if status != http.StatusOK {
					t.Fatalf("status %d, want 200: %s", status, body)
				}
				if r := s.Report(); r.Accepted+r.Counted != 1 || r.Refused != 0 {
					t.Fatalf("report: %+v", r)
				}
				return
			}
			want := c.status
			if want == 0 {
				want = http.StatusBadRequest
			}
			if status != want {
				t.Fatalf("status %d, want %d: %s", status, want, body)
			}
			if got := errorText(t, body); !strings.Contains(got, c.text) {
				t.Errorf("text %q\nwants %q", got, c.text)
			}
			if r := s.Report(); r.Refused != 1 || r.RefusedBy[c.rule] != 1 {
				t.Errorf("counted as %v, want %s", r.RefusedBy, c.rule)
			}
		})
	}
}

// tokens returns text of about n tokens that never repeats.
func tokens(n int, salt string) string {
	var b strings.Builder
	for i := 0; b.Len() < 4*n; i++ {
		fmt.Fprintf(&b, "%s%d ", salt, i)
	}
	return b.String()[:4*n]
}
