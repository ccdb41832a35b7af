package providersim

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// refusal is a request turned down: what the client is told, and for the
// record by which rule.
type refusal struct {
	rule    string // for /sim/requests
	status  int
	kind    string // Anthropic's and OpenAI's error type
	code    string // OpenAI's
	param   string // OpenAI's
	message string
	retry   int // Retry-After in seconds, if not 0
}

// Names of rules that are the same in every dialect; others stand where they
// are checked.
const (
	ruleJSON     = "malformed_json"
	ruleBytes    = "too_large"
	ruleOverflow = "overflow"
	ruleOutput   = "output_limit"
	ruleField    = "bad_field"
	ruleRole     = "role"
	ruleEmpty    = "empty_content"
	ruleCall     = "unanswered_call"
	ruleResult   = "orphan_result"
	ruleTwice    = "duplicate_result"
	ruleSigned   = "signature"
	ruleBound    = "bound_thinking"
	ruleLead     = "leading_thinking"
)

// badRequest returns a 400 of the usual type.
func badRequest(rule, format string, args ...any) *refusal {
	return &refusal{
		rule: rule, status: http.StatusBadRequest, kind: "invalid_request_error",
		message: fmt.Sprintf(format, args...),
	}
}

func (r *refusal) withCode(code string) *refusal   { r.code = code; return r }
func (r *refusal) withParam(param string) *refusal { r.param = param; return r }

// failure is what a provider says of a failure; what is empty is as Anthropic's.
type failure struct{ kind, code, message string }

// failures are not the request's fault: rate limits, overload, breakdowns, wrong keys. The
// texts are those of Anthropic, OpenAI and Google. 0 is any other status.
var failures = map[int][3]failure{
	0: {
		{"api_error", "", "Internal server error"},
		{"server_error", "", "The server had an error while processing your request. Sorry about that!"},
		{"", "", "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"},
	},
	http.StatusTooManyRequests: {
		{"rate_limit_error", "", "This request would exceed your organization's rate limit of 40,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later."},
		{"tokens", "rate_limit_exceeded", "Rate limit reached for this model on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in %ds."},
		{"", "", "Resource has been exhausted (e.g. check quota)."},
	},
	http.StatusServiceUnavailable: {
		{"overloaded_error", "", "Overloaded"},
		{"server_error", "", "The server is currently overloaded. Please try again later."},
		{"", "", "The model is overloaded. Please try again later."},
	},
	http.StatusUnauthorized: {
		{"authentication_error", "", "invalid x-api-key"},
		{"invalid_request_error", "invalid_api_key", "Incorrect API key provided."},
		{"", "", "Request had invalid authentication credentials."},
	},
	http.StatusForbidden:  {{"permission_error", "", "Your API key does not have permission to use the specified resource."}},
	http.StatusNotFound:   {{"not_found_error", "", "Not found"}},
	http.StatusBadRequest: {{"invalid_request_error", "", "Bad request"}},
}

// providerFailure returns a refusal with a status that is not the request's fault.
func providerFailure(d string, status, retry int) *refusal {
	if status == http.StatusRequestEntityTooLarge {
		return tooManyBytes(d, 0)
	}
	said := failures[status]
	if status == 529 {
		said = failures[http.StatusServiceUnavailable]
	} else if said[0].kind == "" {
		said = failures[0]
	}
	its := said[map[string]int{Chat: 1, Responses: 1, Gemini: 2}[d]]
	return &refusal{
		rule: "status_" + strconv.Itoa(status), status: status, retry: retry,
		kind: cmp.Or(its.kind, said[0].kind), code: its.code,
		message: strings.ReplaceAll(cmp.Or(its.message, said[0].message), "%d", strconv.Itoa(max(retry, 1))),
	}
}

// tooManyBytes returns the refusal of a body over the limit in bytes.
func tooManyBytes(d string, limit int64) *refusal {
	r := &refusal{rule: ruleBytes, status: http.StatusRequestEntityTooLarge, kind: "request_too_large", message: "Request exceeds the maximum size"}
	switch d {
	case Chat, Responses:
		r.kind, r.message = "invalid_request_error", "Request body too large."
	case Gemini:
		r.status = http.StatusBadRequest
		r.message = fmt.Sprintf("Request payload size exceeds the limit: %d bytes.", limit)
	}
	return r
}

// notJSON returns the refusal of a body that is not a JSON object.
func notJSON(d string, err error) *refusal {
	r := badRequest(ruleJSON, "The request body is not valid JSON: %v", err)
	switch d {
	case Chat, Responses:
		r.message = "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)"
	case Gemini:
		r.message = fmt.Sprintf("Invalid JSON payload received. %v", err)
	}
	return r
}

// errorBody says what went wrong, as the provider does.
func (c *call) errorBody(r *refusal) object {
	switch c.d.traits().name {
	case Anthropic:
		return object{"type", "error", "error", object{"type", r.kind, "message", r.message}, "request_id", c.requestID()}
	case Gemini:
		return object{"error", object{"code", r.status, "message", r.message, "status", cmp.Or(googleStatuses[r.status], "INTERNAL")}}
	}
	return object{"error", object{"message", r.message, "type", r.kind, "param", orNull(r.param), "code", orNull(r.code)}}
}

// googleStatuses are the names of statuses; that of others is INTERNAL.
var googleStatuses = map[int]string{
	http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
	http.StatusNotFound: "NOT_FOUND", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
	http.StatusServiceUnavailable: "UNAVAILABLE", 529: "UNAVAILABLE",
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
