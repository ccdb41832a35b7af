package llm

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/wire"
)

// SetupError says what a client lacks before it can call: a key, an address, a
// region, credentials of a cloud.
type SetupError struct {
	// Provider is its name, "" when none was understood.
	Provider string

	// Variables are the environment variables of which one would do.
	Variables []string

	// Problem says what is wrong, Hint what else can be done.
	Problem, Hint string

	// Err is the cause, if there is one.
	Err error
}

// Error names the variables and says what to do.
func (e *SetupError) Error() string {
	var b strings.Builder
	b.WriteString("llm: ")
	if e.Provider != "" {
		b.WriteString(e.Provider + ": ")
	}
	b.WriteString(e.Problem)
	if e.Err != nil {
		b.WriteString(": " + text.Clip(hideCredentials(e.Err.Error()), 300))
	}
	if len(e.Variables) > 0 {
		b.WriteString("; set " + strings.Join(e.Variables, " or "))
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *SetupError) Unwrap() error { return e.Err }

// setup is whom a client calls, and how.
type setup struct {
	p      *provider
	o      *Options
	model  string
	base   string
	header http.Header
	codec  codec

	// plain and stream are the addresses of the two kinds of calls; "" is the
	// same one for streams.
	plain, stream string

	// source is the variable the key came from.
	source string
}

// firstEnv returns the first of the variables that is set.
func (s *setup) firstEnv(names ...string) (value, name string) {
	for _, n := range names {
		if v := strings.TrimSpace(s.o.Getenv(n)); v != "" {
			return v, n
		}
	}
	return "", ""
}

// optionOrEnv returns what the options say, or else the first of the variables that is set.
func (s *setup) optionOrEnv(option string, variables ...string) string {
	if option == "" {
		option, _ = s.firstEnv(variables...)
	}
	return option
}

func (s *setup) newError(problem, hint string, variables ...string) error {
	return &SetupError{Provider: s.p.name, Problem: problem, Hint: hint, Variables: variables}
}

// prepareAddresses finds addresses and codec.
func (s *setup) prepareAddresses() error {
	s.header = http.Header{"User-Agent": {"winnow"}, "Content-Type": {"application/json"}}
	for name, values := range s.o.Header {
		s.header[http.CanonicalHeaderKey(name)] = values
	}
	s.base = cmp.Or(s.optionOrEnv(strings.TrimSpace(s.o.BaseURL), s.p.baseVars...), s.p.base)
	limit := s.p.limit
	if limit == "" && s.p.dialect == wire.OpenAI {
		limit = "max_tokens"
	}
	s.codec = &sse{dialect: s.p.dialect, model: s.model, limit: limit, output: s.o.Output, bare: s.p.bare}
	address := s.p.address
	if address == nil {
		address = plainAddress
	}
	if err := address(s); err != nil {
		return err
	}
	s.stream = cmp.Or(s.stream, s.plain)
	for _, a := range []string{s.plain, s.stream} {
		u, err := url.Parse(a)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return s.newError("the address is not an http or https address", "check Options.BaseURL", s.p.baseVars...)
		}
		if u.User != nil {
			return s.newError("the address holds a password", "give credentials as a key instead", s.p.baseVars...)
		}
	}
	return nil
}

// baseAddress returns the base without a slash at its end; an address is required.
func (s *setup) baseAddress() (string, error) {
	if s.base == "" {
		return "", s.newError("no address is known", "or give Options.BaseURL", s.p.baseVars...)
	}
	return strings.TrimRight(s.base, "/"), nil
}

// authenticate returns the round-tripper that adds the key, and the secrets
// that no error may show.
func (s *setup) authenticate() (http.RoundTripper, []string, error) {
	var secrets []string
	for name, values := range s.o.Header {
		secrets = append(secrets, values...)
		if credential.MatchString(name) { // servers repeat it without the word before it
			for _, v := range values {
				secrets = append(secrets, strings.Fields(v)...)
			}
		}
	}
	if s.o.Auth != nil {
		return s.o.Auth, secrets, nil
	}
	key, header := strings.TrimSpace(s.o.Key), bearer
	if len(s.p.keys) > 0 {
		header = s.p.keys[0].header
	}
	if key == "" {
		for _, k := range s.p.keys {
			if key, s.source = s.firstEnv(k.name); key != "" {
				header = k.header
				break
			}
		}
	}
	switch {
	case key == "" && s.p.open:
		return s.o.Transport, secrets, nil
	case key == "":
		return nil, nil, s.missingKeyError()
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > 0x7e }):
		where := cmp.Or(s.source, "Options.Key")
		return nil, nil, s.newError("the key in "+where+" holds characters that no key has", "copy it again")
	}
	value := key
	if header == bearer {
		value = "Bearer " + key
	}
	rt := &keyed{set: func(h http.Header) { h.Set(header, value) }, next: s.o.Transport}
	return rt, append(secrets, key), nil
}

// credential are the names of headers that hold one.
var credential = regexp.MustCompile(`(?i)auth|key|token|secret|cookie`)

// missingKeyError returns the error for a key that is nowhere.
func (s *setup) missingKeyError() error {
	var names []string
	for _, k := range s.p.keys {
		names = append(names, k.name)
	}
	switch s.p.name {
	case "vertex":
		return s.newError("no credentials", "or give Options.Auth: llm/gcp uses GOOGLE_APPLICATION_CREDENTIALS and what gcloud has stored", names...)
	case "bedrock":
		return s.newError("no credentials", "or give Options.Auth: llm/aws signs with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile", names...)
	case "sagemaker":
		return s.newError("no credentials", "give Options.Auth: llm/aws signs with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile")
	case "azure":
		return s.newError("no key", "or give Options.Auth: llm/azure signs in with AZURE_CLIENT_ID and its companions, or what az has stored", names...)
	}
	return s.newError("no key", "or give Options.Key", names...)
}

// keyed is authentication by a key in a header. The key lives in a closure,
// so that printing a client does not show it.
type keyed struct {
	set  func(http.Header)
	next http.RoundTripper
}

func (k *keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	k.set(r.Header)
	return k.next.RoundTrip(r)
}

// escapeSegment makes a name one segment of a path. Colons are escaped as well: AWS
// signs the path in that form.
func escapeSegment(name string) string { return strings.ReplaceAll(url.PathEscape(name), ":", "%3A") }
