package llm

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"time"

	"github.com/winnow-llm/winnow/internal/defaults"
)

// Options say how a client calls. The zero value works, and so does nil.
type Options struct {
	// Key authenticates. The default is the provider's variable in the environment.
	Key string

	// Auth authenticates requests itself and sends them: the round-trippers of
	// llm/aws, llm/gcp and llm/azure. With it no key is looked for.
	Auth http.RoundTripper

	// Transport sends requests where Auth is nil. The default is
	// [http.DefaultTransport].
	Transport http.RoundTripper

	// BaseURL is the address before the part that the dialect fixes, such as
	// https://api.openai.com/v1. The default is the provider's variable in the
	// environment, then its public address.
	BaseURL string

	// Region is where Bedrock and SageMaker run, Project and Region where
	// Vertex does, APIVersion is Azure's. The defaults are the providers'
	// variables, then what Auth knows.
	Region, Project, APIVersion string

	// Header is sent with every request.
	Header http.Header

	// Output is the most tokens of an answer for requests that do not say it,
	// with providers that must be told. The default is 8,192.
	Output int

	// Window is the model's window in tokens, 0 if it is not known. With it an
	// answer to a request that the provider cut in silence is an overflow.
	Window int

	// Timeout is for a whole call with all its tries (default five minutes),
	// IdleTimeout for a stream on which nothing arrives (default two minutes).
	Timeout, IdleTimeout time.Duration

	// Retries is how often a call that may succeed later is tried again. The
	// default is 2; a negative value is never. Backoff is the pause before the
	// first of them and doubles each time (default one second). A provider that asks
	// for a longer pause than MaxWait (default one minute) gets none: the
	// call fails at once and says how long to wait.
	Retries          int
	Backoff, MaxWait time.Duration

	// MaxAnswer is the most bytes of an answer; a longer one is an error. The
	// default is 8 MiB. A stream may have four times as many on the wire, since
	// every few words come in a frame.
	MaxAnswer int

	// Getenv reads the environment. The default is [os.Getenv].
	Getenv func(name string) string
}

// withDefaults returns the options with everything filled in.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	defaults.Set(&out.Output, 8192)
	defaults.Set(&out.MaxAnswer, 8<<20)
	defaults.Set(&out.Timeout, 5*time.Minute)
	defaults.Set(&out.IdleTimeout, 2*time.Minute)
	defaults.Set(&out.Backoff, time.Second)
	defaults.Set(&out.MaxWait, time.Minute)
	out.Retries = cmp.Or(out.Retries, 2)
	out.Retries = max(out.Retries, 0)
	out.Transport = cmp.Or(out.Transport, http.DefaultTransport)
	if out.Getenv == nil {
		out.Getenv = os.Getenv
	}
	return out
}

func sleepContext(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
