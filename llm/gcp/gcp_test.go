package gcp

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/llm"
	"github.com/winnow-llm/winnow/wire"
	"golang.org/x/oauth2"
)

const reply = `{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}`

func ask() *llm.Request {
	return &llm.Request{Messages: chat.Messages{chat.TextMessage(chat.User, "hello")}}
}

// vertex plays Vertex: it wants that token.
func vertex(t *testing.T, token string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token || !strings.Contains(r.URL.Path, "/projects/proj-7/") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(s.Close)
	return s
}

func noEnv(string) string { return "" }

// A service account's file is found, its key signs for a token, the token is
// used and kept, and the project is that of the file.
func TestServiceAccount(t *testing.T) {
	var fetched atomic.Int32
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		if r.Form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || strings.Count(r.Form.Get("assertion"), ".") != 2 {
			t.Errorf("form %v", r.Form)
		}
		fetched.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"ya29.good","token_type":"Bearer","expires_in":3600}`)
	}))
	defer tokens.Close()
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", account(t, tokens.URL))
	auth, err := New(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if auth.Project() != "proj-7" {
		t.Errorf("project %q", auth.Project())
	}
	c, err := llm.New("vertex/gemini-2.5-flash", &llm.Options{Auth: auth, BaseURL: vertex(t, "ya29.good").URL, Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if a, err := c.Complete(t.Context(), ask()); err != nil || a.Message.Text() != "ok" {
			t.Fatal(err)
		}
	}
	if fetched.Load() != 1 {
		t.Errorf("%d tokens were fetched", fetched.Load())
	}
}

// account writes a service account's file.
func account(t *testing.T, tokenURL string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "proj-7", "client_email": "a@proj-7.example", "token_uri": tokenURL, "private_key_id": "k1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	path := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A refused token is an error that names the variable and shows no body.
func TestRefused(t *testing.T) {
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"assertion eyJhbGciOi.secret.part"}`)
	}))
	defer tokens.Close()
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", account(t, tokens.URL))
	auth, err := New(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New("vertex/m", &llm.Options{Auth: auth, BaseURL: "http://127.0.0.1:1", Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Complete(t.Context(), ask())
	var e *llm.Error
	if !errors.As(err, &e) || e.Verdict.Kind != wire.KindAuth || e.Tries != 1 {
		t.Fatalf("err = %v", err)
	}
	if s := fmt.Sprintf("%v %+v", err, err); !strings.Contains(s, "GOOGLE_APPLICATION_CREDENTIALS") || !strings.Contains(s, "invalid_grant") || strings.Contains(s, "secret") {
		t.Error(s)
	}
}

func TestNoCredentials(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	_, err := New(t.Context(), nil)
	var missing *llm.SetupError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "GOOGLE_APPLICATION_CREDENTIALS") {
		t.Errorf("err = %v", err)
	}
}

type source func() (*oauth2.Token, error)

func (s source) Token() (*oauth2.Token, error) { return s() }

// A token that does not come does not hold a call beyond its time-out.
func TestStalledToken(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	auth, err := New(t.Context(), &Options{Project: "proj-7", Tokens: source(func() (*oauth2.Token, error) {
		<-release
		return nil, errors.New("late")
	})})
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New("vertex/m", &llm.Options{Auth: auth, Timeout: 100 * time.Millisecond, Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(t.Context(), ask()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestExpiredTokenIsRenewed(t *testing.T) {
	n := 0
	auth, err := New(t.Context(), &Options{Project: "proj-7", Tokens: source(func() (*oauth2.Token, error) {
		n++
		return &oauth2.Token{AccessToken: "t", Expiry: time.Now().Add(time.Second)}, nil // about to expire
	})})
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New("vertex/m", &llm.Options{Auth: auth, BaseURL: vertex(t, "t").URL, Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Complete(t.Context(), ask()); err != nil {
			t.Fatal(err)
		}
	}
	if n != 2 {
		t.Errorf("%d tokens", n)
	}
}
