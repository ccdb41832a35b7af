package gateway

import (
	"net/url"
	"strings"

	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// Names of OpenTelemetry's conventions for calls to models, as they stood in
// November 2026. They are still in development there, so they stand here, in one
// place, and not in a dependency that moves.
const (
	attrOperation   = "gen_ai.operation.name"
	attrProvider    = "gen_ai.provider.name"
	attrModel       = "gen_ai.request.model"
	attrMaxTokens   = "gen_ai.request.max_tokens"
	attrStream      = "gen_ai.request.stream"
	attrAnswered    = "gen_ai.response.model"
	attrID          = "gen_ai.response.id"
	attrReasons     = "gen_ai.response.finish_reasons"
	attrInput       = "gen_ai.usage.input_tokens" // what came from the cache included
	attrOutput      = "gen_ai.usage.output_tokens"
	attrCacheRead   = "gen_ai.usage.cache_read.input_tokens"
	attrCacheWrite  = "gen_ai.usage.cache_write.input_tokens"
	attrReasoning   = "gen_ai.usage.reasoning.output_tokens"
	attrCompacted   = "gen_ai.conversation.compacted" // true or missing, never false
	attrTokenType   = "gen_ai.token.type"
	metricTokens    = "gen_ai.client.token.usage"
	metricDuration  = "gen_ai.client.operation.duration"
	attrErrorType   = "error.type"
	attrMethod      = "http.request.method"
	attrStatus      = "http.response.status_code"
	attrPath        = "url.path"
	attrServer      = "server.address"
	operationChat   = "chat"
	operationGemini = "generate_content"
	operationCount  = "count_tokens" // a name of our own: the conventions have none
)

// Names of our own, for what only a gateway knows.
const (
	attrUpstream  = "winnow.upstream"
	attrPlan      = "winnow.plan"
	attrNew       = "winnow.plan.new"
	attrPrepared  = "winnow.plan.prepared"
	attrSaved     = "winnow.tokens.saved"
	attrCounted   = "winnow.tokens.counted"
	attrAvailable = "winnow.tokens.available"
	attrTries     = "winnow.tries"
	attrOverflows = "winnow.overflows"
)

// prometheusName spells a name of the conventions as Prometheus does.
func prometheusName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// operationOf names what an endpoint does.
func operationOf(e transport.Endpoint) string {
	switch {
	case e.Counting:
		return operationCount
	case e.Dialect == wire.Gemini:
		return operationGemini
	}
	return operationChat
}

// hosts are providers by the end of their host's name.
var hosts = []struct{ suffix, provider string }{
	{"api.openai.com", "openai"},
	{".openai.azure.com", "azure.ai.openai"},
	{".services.ai.azure.com", "azure.ai.inference"},
	{"api.anthropic.com", "anthropic"},
	{"generativelanguage.googleapis.com", "gcp.gemini"},
	{"aiplatform.googleapis.com", "gcp.vertex_ai"},
	{".amazonaws.com", "aws.bedrock"},
	{"api.mistral.ai", "mistral_ai"},
	{"api.deepseek.com", "deepseek"},
	{"api.groq.com", "groq"},
	{"api.x.ai", "x_ai"},
	{"api.perplexity.ai", "perplexity"},
	{"api.cohere.com", "cohere"},
}

// providerOf names who answers at an address: by the host where it is known,
// else by what the upstream is called.
func providerOf(name string, base *url.URL) string {
	host := strings.ToLower(base.Hostname())
	for _, h := range hosts {
		if strings.HasSuffix(host, h.suffix) {
			return h.provider
		}
	}
	if name == "gemini" {
		return "gcp.gemini"
	}
	return name
}
