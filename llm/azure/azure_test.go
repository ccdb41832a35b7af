package azure

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/llm"
	"github.com/winnow-llm/winnow/wire"
)

type credential func(ctx context.Context, scopes []string) (string, error)

func (c credential) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	t, err := c(ctx, o.Scopes)
	return azcore.AccessToken{Token: t, ExpiresOn: time.Now().Add(time.Hour)}, err
}

func call(t *testing.T, c credential, base string, timeout time.Duration) error {
	t.Helper()
	auth, err := New(&Options{Credential: c})
	if err != nil {
		t.Fatal(err)
	}
	client, err := llm.New("azure/dep", &llm.Options{Auth: auth, BaseURL: base, Timeout: timeout, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	a, err := client.Complete(t.Context(), &llm.Request{Messages: chat.Messages{chat.TextMessage(chat.User, "hello")}})
	if err == nil && a.Message.Text() != "ok" {
		t.Errorf("answer %+v", a)
	}
	return err
}

func TestToken(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer entra-1" || r.Header.Get("Api-Key") != "" || r.URL.Path != "/openai/deployments/dep/chat/completions" {
			t.Errorf("%s %v", r.URL.Path, r.Header)
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	if err := call(t, func(_ context.Context, scopes []string) (string, error) {
		if len(scopes) != 1 || scopes[0] != scope {
			t.Errorf("scopes %v", scopes)
		}
		return "entra-1", nil
	}, s.URL, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestNoToken(t *testing.T) {
	err := call(t, func(context.Context, []string) (string, error) {
		return "", errors.New("DefaultAzureCredential: failed to acquire a token")
	}, "http://127.0.0.1:1", time.Minute)
	var e *llm.Error
	if !errors.As(err, &e) || e.Verdict.Kind != wire.KindAuth || e.Tries != 1 || !strings.Contains(err.Error(), "AZURE_CLIENT_ID") {
		t.Errorf("err = %v", err)
	}
	err = call(t, func(ctx context.Context, _ []string) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}, "http://127.0.0.1:1", 100*time.Millisecond)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
}

// The default identity can be made without a network; tokens come later.
func TestDefaultIdentity(t *testing.T) {
	if _, err := New(nil); err != nil {
		t.Error(err)
	}
}
