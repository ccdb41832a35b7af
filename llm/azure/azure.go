// Package azure authenticates requests to Azure OpenAI with Microsoft Entra.
//
// [New] finds an identity as Azure's own tools do (environment, workload or
// managed identity, what az has stored) and returns a round-tripper for
// Options.Auth of package llm:
//
//	auth, err := azure.New(nil)
//	...
//	c, err := llm.New("azure/my-deployment", &llm.Options{Auth: auth})
//
// A key needs none of this: set AZURE_OPENAI_API_KEY. The package stands apart
// so that only programs that import it carry Azure's libraries.
package azure

import (
	"cmp"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/winnow-llm/winnow/llm"
)

// scope is what tokens are asked for.
const scope = "https://cognitiveservices.azure.com/.default"

// Options say where tokens come from. The zero value works, and so does nil.
type Options struct {
	// Credential is used instead of the identity that Azure's tools would find.
	Credential azcore.TokenCredential

	// Scope of the tokens, for sovereign clouds. The default is https://cognitiveservices.azure.com/.default.
	Scope string

	// Transport sends requests. The default is [http.DefaultTransport].
	Transport http.RoundTripper
}

// Authenticator adds an access token to requests and sends them. It is safe
// for concurrent use.
type Authenticator struct {
	credential azcore.TokenCredential
	scope      string
	next       http.RoundTripper
}

var variables = []string{"AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"}

// New returns an authenticator. Tokens are fetched with the first request and
// kept by the credential; the error is a [*llm.SetupError].
func New(o *Options) (*Authenticator, error) {
	o = cmp.Or(o, &Options{})
	a := &Authenticator{credential: o.Credential, scope: o.Scope, next: o.Transport}
	a.scope = cmp.Or(a.scope, scope)
	a.next = cmp.Or(a.next, http.DefaultTransport)
	if a.credential == nil {
		found, err := azidentity.NewDefaultAzureCredential(nil)
		if err != nil {
			return nil, &llm.SetupError{Provider: "azure", Problem: "no Azure identity", Err: err, Variables: variables, Hint: "or run az login"}
		}
		a.credential = found
	}
	return a, nil
}

// RoundTrip adds a token and sends the request.
func (a *Authenticator) RoundTrip(r *http.Request) (*http.Response, error) {
	t, err := a.credential.GetToken(r.Context(), policy.TokenRequestOptions{Scopes: []string{a.scope}})
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		if r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
		return nil, &llm.SetupError{Provider: "azure", Problem: "no access token", Err: err, Variables: variables, Hint: "or run az login, or set AZURE_OPENAI_API_KEY"}
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.Token)
	return a.next.RoundTrip(r)
}
