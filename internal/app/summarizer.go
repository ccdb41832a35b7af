package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/llm"
	"github.com/winnow-llm/winnow/llm/aws"
	"github.com/winnow-llm/winnow/llm/azure"
	"github.com/winnow-llm/winnow/llm/gcp"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport"
)

// builtinName is the summariser that needs no model; sameName asks the model of the
// conversation itself.
const (
	builtinName = "builtin"
	sameName    = "same"
)

// newSummarizer returns the summariser that the settings name; nil is the built-in
// one. Nothing is sent yet, but a missing key is noticed here. The registry knows
// the model's window.
func (a *app) newSummarizer(ctx context.Context, f *config.File, r *model.Registry) (summary.Summarizer, error) {
	spec := strings.TrimSpace(f.Summarizer)
	if spec == "" || spec == builtinName {
		return nil, nil
	}
	if spec == sameName {
		return nil, usageErrorf("the summariser %s: only winnow serve and winnow wrap see an agent's requests; use %s, or a model as PROVIDER/MODEL", sameName, builtinName)
	}
	timeout, err := f.SummaryTime()
	if err != nil {
		return nil, usageErrorf("the summariser's timeout %v", err)
	}
	auth, err := a.cloudAuth(ctx, spec)
	if err != nil {
		return nil, summarizerError(spec, err)
	}
	m := r.Lookup(spec)
	c, err := llm.New(spec, &llm.Options{Auth: auth, BaseURL: f.SummarizerURL, Timeout: timeout, Getenv: a.getenv})
	if err != nil {
		return nil, summarizerError(spec, err)
	}
	return summary.NewLLM(&summary.LLMOptions{
		Model: c.Model(), Name: c.Provider() + "/" + c.Name(), Timeout: timeout,
		Window: m.Window(0), Output: min(8192, m.Output), Counter: token.New(m.Family, nil), Sequential: f.Sequential,
	}), nil
}

// summaryNote says what summaries by the agent's own model will cost; "" where it
// writes none.
func summaryNote(o *transport.Options) string {
	if !o.Same {
		return ""
	}
	const example, output = "claude-sonnet-4-5", 8192
	text := fmt.Sprintf("before a compaction the agent's own model writes a summary, in the background and on the agent's own credential: it reads at most about %s tokens and writes at most %s",
		number(summary.MostInput), number(output))
	if p := o.Registry.Lookup(example).Prices; p.Known() {
		text += fmt.Sprintf(" (at most $%.2f with %s)", p.Cost(chat.Usage{Input: summary.MostInput, Output: output}), example)
	}
	if o.SummaryCap > 0 {
		text += fmt.Sprintf(", for at most $%g a day", o.SummaryCap)
	}
	return text
}

// summarizerError returns an error of usage: the caller can mend it.
func summarizerError(spec string, err error) error {
	return setupError("the summariser "+spec, "use "+builtinName+", which needs no model", err)
}

// setupError says what is missing for a model, and what works without it. Other
// errors stay as they are.
func setupError(what, instead string, err error) error {
	var missing *llm.SetupError
	if !errors.As(err, &missing) {
		return err
	}
	problem := missing.Problem
	switch {
	case len(missing.Variables) > 0:
		problem += "; set " + strings.Join(missing.Variables, " or ")
	case missing.Hint != "":
		problem += "; " + missing.Hint
	}
	return usageErrorf("%s: %s; or %s", what, problem, instead)
}

// cloudAuth returns what authenticates at a cloud where no key does; nil for
// providers that only know keys.
func (a *app) cloudAuth(ctx context.Context, spec string) (http.RoundTripper, error) {
	provider, _, err := llm.ParseSpec(spec)
	if err != nil {
		return nil, err
	}
	set := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.TrimSpace(a.getenv(n)) != "" })
	}
	switch {
	case provider == "bedrock" && !set("AWS_BEARER_TOKEN_BEDROCK"), provider == "sagemaker":
		return asRoundTripper(aws.New(ctx, provider, nil))
	case provider == "vertex" && !set("CLOUDSDK_AUTH_ACCESS_TOKEN"):
		return asRoundTripper(gcp.New(ctx, nil))
	case provider == "azure" && !set("AZURE_OPENAI_API_KEY", "AZURE_API_KEY"):
		return asRoundTripper(azure.New(nil))
	}
	return nil, nil
}

// asRoundTripper keeps a nil pointer from becoming an interface that is not nil.
func asRoundTripper[T http.RoundTripper](rt T, err error) (http.RoundTripper, error) {
	if err != nil {
		return nil, err
	}
	return rt, nil
}
