package aws

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/llm"
	"github.com/winnow-llm/winnow/wire"
)

const (
	keyID  = "AKIDEXAMPLE"
	secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

// fixed are credentials that never change.
func fixed(session string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret, SessionToken: session}, nil
	})
}

// verify checks a request's signature as the service does, from the
// description of Signature Version 4 and not with the library that made it.
func verify(r *http.Request, body []byte) error {
	kind, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if kind != "AWS4-HMAC-SHA256" {
		return fmt.Errorf("the request is not signed: %q", kind)
	}
	field := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		field[k] = v
	}
	scope := strings.Split(field["Credential"], "/")
	if len(scope) != 5 || scope[0] != keyID || scope[4] != "aws4_request" {
		return fmt.Errorf("credential %q", field["Credential"])
	}
	signed := strings.Split(field["SignedHeaders"], ";")
	for _, must := range []string{"host", "x-amz-date"} {
		if !slices.Contains(signed, must) {
			return fmt.Errorf("%s is not signed", must)
		}
	}
	var b strings.Builder
	// The path is escaped once more, segment by segment.
	var segments []string
	for s := range strings.SplitSeq(r.URL.EscapedPath(), "/") {
		segments = append(segments, strings.ReplaceAll(url.QueryEscape(s), "+", "%20"))
	}
	fmt.Fprintf(&b, "%s\n%s\n%s\n", r.Method, strings.Join(segments, "/"), r.URL.Query().Encode())
	for _, h := range signed {
		v := r.Header.Get(h)
		switch h {
		case "host":
			v = r.Host
		case "content-length":
			v = fmt.Sprint(r.ContentLength)
		}
		fmt.Fprintf(&b, "%s:%s\n", h, strings.Join(strings.Fields(v), " "))
	}
	sum := sha256.Sum256(body)
	fmt.Fprintf(&b, "\n%s\n%s", field["SignedHeaders"], hex.EncodeToString(sum[:]))
	canonical := sha256.Sum256([]byte(b.String()))
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + strings.Join(scope[1:], "/") + "\n" + hex.EncodeToString(canonical[:])
	key := []byte("AWS4" + secret)
	for _, s := range append(scope[1:4:4], "aws4_request", text) {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(s))
		key = m.Sum(nil)
	}
	if got := hex.EncodeToString(key); got != field["Signature"] {
		return fmt.Errorf("signature %s, want %s for\n%s", field["Signature"], got, b.String())
	}
	return nil
}

// serve plays a service that refuses what is not signed well.
func serve(t *testing.T, scope string, seen func(*http.Request, []byte), reply string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := verify(r, body); err != nil {
			t.Error(err)
			w.Header().Set("X-Amzn-Errortype", "InvalidSignatureException")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message":"The request signature we calculated does not match the signature you provided."}`)
			return
		}
		if !strings.Contains(r.Header.Get("Authorization"), scope) {
			t.Errorf("%q is not in %s", scope, r.Header.Get("Authorization"))
		}
		seen(r, body)
		fmt.Fprint(w, reply)
	}))
	t.Cleanup(s.Close)
	return s
}

func ask(text string) *llm.Request {
	return &llm.Request{Messages: chat.Messages{chat.TextMessage(chat.User, text)}}
}

func TestBedrockAndSageMaker(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ service, spec, path, scope, reply string }{
		{
			"bedrock", "bedrock/arn:aws:bedrock:eu-west-1:1:inference-profile/eu.claude", "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.claude/converse",
			"/20261101/eu-west-1/bedrock/aws4_request", `{"output":{"message":{"role":"assistant","content":[{"text":"ok"}]}},"stopReason":"end_turn"}`,
		},
		{
			"sagemaker", "sagemaker/my-endpoint", "/endpoints/my-endpoint/invocations",
			"/20261101/eu-west-1/sagemaker/aws4_request", `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`,
		},
	} {
		for _, session := range []string{"", "session-token-1"} {
			calls := 0
			s := serve(t, tt.scope, func(r *http.Request, _ []byte) {
				calls++
				if r.URL.EscapedPath() != tt.path || r.Header.Get("X-Amz-Security-Token") != session || r.Header.Get("X-Amz-Date") != "20261101T120000Z" {
					t.Errorf("path %s, headers %v", r.URL.EscapedPath(), r.Header)
				}
			}, tt.reply)
			auth, err := New(t.Context(), tt.service, &Options{Region: "eu-west-1", Credentials: fixed(session)})
			if err != nil {
				t.Fatal(err)
			}
			auth.now = func() time.Time { return now }
			c, err := llm.New(tt.spec, &llm.Options{Auth: auth, BaseURL: s.URL, Getenv: func(string) string { return "" }})
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"hello", strings.Repeat("日本 & ", 1000)} {
				a, err := c.Complete(t.Context(), ask(text))
				if err != nil || a.Message.Text() != "ok" {
					t.Fatalf("%s: %v", tt.spec, err)
				}
			}
			if calls != 2 {
				t.Errorf("%d calls", calls)
			}
		}
	}
}

// The first case of AWS's published test suite for Signature Version 4.
func TestPublishedVector(t *testing.T) {
	s := &Signer{
		service: "service", region: "us-east-1", credentials: fixed(""),
		now: func() time.Time { return time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC) }, sign: v4.NewSigner(),
	}
	got := ""
	s.next = roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r.Header.Get("Authorization")
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.amazonaws.com/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if r.Header.Get("Authorization") != "" {
		t.Error("the caller's request was changed")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The region of the signer is the region of the client.
func TestRegion(t *testing.T) {
	auth, err := New(t.Context(), "bedrock", &Options{Region: "ap-south-1", Credentials: fixed(""), Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host != "bedrock-runtime.ap-south-1.amazonaws.com" || !strings.Contains(r.Header.Get("Authorization"), "/ap-south-1/bedrock/") {
			t.Errorf("host %s", r.URL.Host)
		}
		return nil, errors.New("the wire is cut")
	})})
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New("bedrock/m", &llm.Options{Auth: auth, Retries: -1, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(t.Context(), ask("x")); err == nil || !strings.Contains(err.Error(), "the wire is cut") {
		t.Error(err)
	}
}

// empty makes the environment one in which AWS's tools find nothing.
func empty(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for k, v := range map[string]string{
		"AWS_CONFIG_FILE": dir + "/config", "AWS_SHARED_CREDENTIALS_FILE": dir + "/credentials", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_PROFILE": "", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "", "HOME": dir,
	} {
		t.Setenv(k, v)
	}
}

func TestEnvironment(t *testing.T) {
	empty(t)
	var missing *llm.SetupError
	if _, err := New(t.Context(), "bedrock", nil); !errors.As(err, &missing) || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("err = %v", err)
	}
	if _, err := New(t.Context(), "s3", nil); !errors.As(err, &missing) {
		t.Errorf("err = %v", err)
	}
	t.Setenv("AWS_REGION", "eu-west-1")
	auth, err := New(t.Context(), "bedrock", nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New("bedrock/m", &llm.Options{Auth: auth, BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Complete(t.Context(), ask("x"))
	var e *llm.Error
	if !errors.As(err, &e) || e.Verdict.Kind != wire.KindAuth || e.Tries != 1 || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("err = %v", err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", keyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	s := serve(t, "/eu-west-1/bedrock/", func(*http.Request, []byte) {}, `{"output":{"message":{"content":[{"text":"ok"}]}},"stopReason":"end_turn"}`)
	if auth, err = New(t.Context(), "bedrock", nil); err != nil {
		t.Fatal(err)
	}
	if c, err = llm.New("bedrock/m", &llm.Options{Auth: auth, BaseURL: s.URL}); err != nil {
		t.Fatal(err)
	}
	if a, err := c.Complete(t.Context(), ask("x")); err != nil || a.Message.Text() != "ok" {
		t.Error(err)
	}
}

// Credentials that do not come do not hold a call beyond its time-out.
func TestStalledCredentials(t *testing.T) {
	slow := aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		<-ctx.Done()
		return aws.Credentials{}, ctx.Err()
	})
	auth, err := New(t.Context(), "bedrock", &Options{Region: "eu-west-1", Credentials: slow})
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New("bedrock/m", &llm.Options{Auth: auth, Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Complete(t.Context(), ask("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
