package transport

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Whose is a request? Nothing but its credential says so, and there are many
// places for one. They are looked at in this order, and the first that holds
// anything decides:
//
//  1. Headers and parameters that are known to hold credentials, and those that
//     the operator has named. All that are there count.
//  2. Whatever looks like a credential by its name, cookies among it. These may
//     change from call to call, so they count only where there is nothing
//     better; but a caller who has one shares nothing with those who do not.
//  3. The address of a caller on another machine.
//  4. Nothing: somebody on this machine. They all are one.
//
// Credentials are hashed under a secret of the store and kept nowhere.

// Credentials name places for credentials besides those that are known.
type Credentials struct {
	// Headers and Params are names of headers and of parameters of the address,
	// in any case.
	Headers, Params []string

	// Refreshed says that access tokens which clients renew by themselves (OAuth)
	// tell tenants apart by the account that they are for, as far as they name it,
	// and not by their text: a renewed one is the same tenant. What a token says of
	// its account is not checked, so this is for callers on one machine, and such a
	// token is not a secret that proves whose a conversation is.
	Refreshed bool
}

// credentialHeaders are where providers and the gateways in front of them look
// for credentials that stay the same from call to call.
var credentialHeaders = []string{
	"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key",
	"Cf-Aig-Authorization", "Helicone-Auth", "X-Portkey-Api-Key", "X-Portkey-Virtual-Key", "X-Litellm-Api-Key",
	"X-Auth-Token", "X-Access-Token", "X-Functions-Key", "X-Amz-Security-Token",
}

// credentialParams are the same in the address.
var credentialParams = []string{"key", "api_key", "api-key", "apikey", "access_token", "auth_token", "token", "subscription-key", "x-amz-security-token"}

// Tenants tells tenants apart by the credentials of their requests.
type Tenants struct {
	secret          []byte
	headers, params []string
	refreshed       bool
}

// NewTenants returns what tells tenants apart. The same store gives the same
// tenants after a restart, and another store gives others: see
// [Store]. The error says that the store's secret cannot be had.
func NewTenants(ctx context.Context, s Store, c Credentials) (*Tenants, error) {
	t := &Tenants{headers: slices.Clone(credentialHeaders), params: slices.Clone(credentialParams), refreshed: c.Refreshed}
	for _, name := range c.Headers {
		if name == "" || strings.ContainsAny(name, " \t:") {
			return nil, fmt.Errorf("transport: %q is not the name of a header; write it without colon and spaces", name)
		}
		t.headers = append(t.headers, textproto.CanonicalMIMEHeaderKey(name))
	}
	for _, name := range c.Params {
		if name == "" || strings.ContainsAny(name, " =&?") {
			return nil, fmt.Errorf("transport: %q is not the name of a parameter; write it as in the address, without ? and =", name)
		}
		t.params = append(t.params, strings.ToLower(name))
	}
	slices.Sort(t.headers)
	t.headers = slices.Compact(t.headers)
	var err error
	if t.secret, err = s.Secret(ctx); err != nil {
		return nil, fmt.Errorf("transport: the store's secret cannot be read: %w", err)
	}
	return t, nil
}

// Of returns the tenant of a request. Own says that its sender has shown a secret,
// and so may see what is the tenant's. Being on this machine is not enough: others
// may be on it too.
func (t *Tenants) Of(r *http.Request) (tenant Tenant, own bool) {
	n := noter{hash: hmac.New(sha256.New, t.secret)}
	query, err := url.ParseQuery(r.URL.RawQuery)
	t.noteKnown(&n, r.Header, query)
	if n.count == 0 {
		noteLookalikes(&n, r.Header, "")
		noteLookalikes(&n, query, "?")
		if err != nil && looksSecret(r.URL.RawQuery) { // what could not be read may be one
			n.noteSecret("query", r.URL.RawQuery)
		}
	}
	if n.count == 0 {
		noteRemote(&n, r)
	}
	return Tenant(hex.EncodeToString(n.hash.Sum(nil))), n.proven
}

// noter takes down what a tenant is told by.
type noter struct {
	hash   hash.Hash
	count  int
	proven bool // by a secret
}

func (n *noter) note(where, value string) {
	fmt.Fprintf(n.hash, "%d %s %d %s\n", len(where), where, len(value), value)
	n.count++
}

func (n *noter) noteSecret(where, value string) {
	if strings.TrimSpace(value) == "" {
		return
	}
	n.note(where, value)
	n.proven = true
}

// noteKnown takes down the credentials in places that are known.
func (t *Tenants) noteKnown(n *noter, h http.Header, query url.Values) {
	for _, name := range t.headers {
		for _, v := range h.Values(name) {
			if m := awsKeyID.FindStringSubmatch(v); m != nil {
				n.note("aws", m[1]) // a name, no secret
				continue
			}
			if who, ok := tokenAccount(v); ok && t.refreshed && name == "Authorization" {
				n.note("account", who+" "+h.Get("Chatgpt-Account-Id"))
				continue
			}
			n.noteSecret(name, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		lower := strings.ToLower(name)
		for _, v := range query[name] {
			switch {
			case lower == "x-amz-credential":
				id, _, _ := strings.Cut(v, "/")
				n.note("aws", id)
			case slices.Contains(t.params, lower):
				n.noteSecret("?"+lower, v)
			}
		}
	}
}

// awsKeyID finds the id of the key that signed a request to AWS. The signature
// itself is another one for each request.
var awsKeyID = regexp.MustCompile(`^AWS4-.*?Credential=([^/]+)`)

// tokenAccount returns the account of an access token that its client renews every few
// hours or days: by the claims of a JSON web token, or by its issuer alone where
// the token does not name the account.
func tokenAccount(authorization string) (who string, ok bool) {
	kind, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(kind, "Bearer") {
		return "", false
	}
	switch {
	case strings.HasPrefix(token, "sk-ant-oat"): // Claude Pro and Max
		return "anthropic", true
	case strings.HasPrefix(token, "ya29."): // a Google account
		return "google", true
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", false
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct{ Iss, Sub string }
	if err != nil || json.Unmarshal(data, &claims) != nil || claims.Sub == "" {
		return "", false
	}
	return fmt.Sprintf("%q %q", claims.Iss, claims.Sub), true
}

// noteLookalikes takes down what looks like a credential among headers or parameters;
// mark tells the two apart.
func noteLookalikes(n *noter, all map[string][]string, mark string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if looksSecret(name) {
			for _, v := range all[name] {
				n.noteSecret(mark+name, v)
			}
		}
	}
}

// secretWords are in the names of what holds a secret.
var secretWords = []string{"key", "token", "auth", "secret", "session", "cookie", "credential", "passw", "jwt", "assertion", "bearer"}

// harmless are names with such a word that hold none: what marks a retry, and
// the sessions that agents name their conversations by.
var harmless = map[string]bool{
	"idempotency-key": true, "x-idempotency-key": true, "sec-websocket-key": true,
	"session_id": true, "session-id": true, "x-session-id": true, "x-session-affinity": true,
	"x-claude-code-session-id": true, "x-opencode-session": true, "mcp-session-id": true,
	"max_tokens": true, "page_token": true, "pagetoken": true,
}

// looksSecret reports whether a name may be that of a credential.
func looksSecret(name string) bool {
	name = strings.ToLower(name)
	return !harmless[name] && slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

// noteRemote takes down where a caller is who is not on this machine.
func noteRemote(n *noter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err == nil {
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Unmap().IsLoopback() {
			n.note("from", host)
		}
	}
	// A proxy on this machine speaks for others.
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"} {
		for _, v := range r.Header.Values(name) {
			n.note(name, v)
		}
	}
}
