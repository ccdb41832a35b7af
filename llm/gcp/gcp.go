// Package gcp authenticates requests to Google Cloud's Vertex AI.
//
// [New] finds credentials as Google's own tools do (the file that
// GOOGLE_APPLICATION_CREDENTIALS names, what gcloud has stored, the machine's
// service account) and returns a round-tripper for Options.Auth of package llm:
//
//	auth, err := gcp.New(ctx, nil)
//	...
//	c, err := llm.New("vertex/gemini-2.5-flash", &llm.Options{Auth: auth})
//
// The package stands apart so that only programs that import it carry Google's libraries.
package gcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/llm"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// scope is what tokens are asked for.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// Options say where tokens come from. The zero value works, and so does nil.
type Options struct {
	// Tokens are used instead of those of the credentials that Google's tools
	// would find.
	Tokens oauth2.TokenSource

	// Project overrides the project of the credentials.
	Project string

	// Transport sends requests. The default is [http.DefaultTransport].
	Transport http.RoundTripper
}

// Authenticator adds an access token to requests and sends them. It is safe
// for concurrent use.
type Authenticator struct {
	tokens  oauth2.TokenSource
	project string
	next    http.RoundTripper
}

// tokenTimeout is for fetching one token.
const tokenTimeout = 30 * time.Second

// New returns an authenticator. Tokens are fetched with the first request and
// kept until they expire; the error is a [*llm.SetupError].
func New(ctx context.Context, o *Options) (*Authenticator, error) {
	o = cmp.Or(o, &Options{})
	a := &Authenticator{tokens: o.Tokens, project: o.Project, next: o.Transport}
	a.next = cmp.Or(a.next, http.DefaultTransport)
	if a.tokens == nil {
		// The context lives as long as the tokens do, so it must not be the caller's deadline.
		ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, &http.Client{Timeout: tokenTimeout})
		found, err := google.FindDefaultCredentials(ctx, scope)
		if err != nil {
			return nil, &llm.SetupError{
				Provider: "vertex", Problem: "no Google credentials", Err: withoutBody(err),
				Variables: []string{"GOOGLE_APPLICATION_CREDENTIALS"}, Hint: "or run gcloud auth application-default login",
			}
		}
		a.tokens = found.TokenSource
		a.project = cmp.Or(a.project, found.ProjectID)
	}
	a.tokens = oauth2.ReuseTokenSource(nil, a.tokens)
	return a, nil
}

// Project returns the project that the credentials belong to, "" if they do
// not say.
func (a *Authenticator) Project() string { return a.project }

// RoundTrip adds a token and sends the request.
func (a *Authenticator) RoundTrip(r *http.Request) (*http.Response, error) {
	t, err := a.fetchToken(r.Context())
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	r = r.Clone(r.Context())
	t.SetAuthHeader(r)
	return a.next.RoundTrip(r)
}

// fetchToken fetches a token, but waits no longer than the request does: a token
// source takes no context.
func (a *Authenticator) fetchToken(ctx context.Context) (*oauth2.Token, error) {
	type result struct {
		t   *oauth2.Token
		err error
	}
	done := make(chan result, 1)
	go func() {
		t, err := a.tokens.Token()
		done <- result{t, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-done:
		if got.err != nil {
			return nil, &llm.SetupError{
				Provider: "vertex", Problem: "no access token", Err: withoutBody(got.err),
				Variables: []string{"GOOGLE_APPLICATION_CREDENTIALS"}, Hint: "or run gcloud auth application-default login",
			}
		}
		return got.t, nil
	}
}

// withoutBody keeps the code of a token server's refusal and drops its body.
func withoutBody(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.Response == nil {
		return err
	}
	code := refused.ErrorCode
	if code == "" { // not every flow reads it
		var body struct{ Error string }
		if json.Unmarshal(refused.Body, &body) == nil && len(body.Error) < 60 {
			code = body.Error
		}
	}
	return errors.New(strings.TrimSpace(fmt.Sprintf("the token server answers %d %s", refused.Response.StatusCode, code)))
}
