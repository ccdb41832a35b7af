// Package gateway serves a [transport.Transport] to agents in any language: an
// HTTP server that looks like the providers and keeps every conversation that
// passes through it inside its model's window.
//
//	g, err := gateway.New(&gateway.Options{Upstreams: []gateway.Upstream{{Name: "anthropic", URL: "https://api.anthropic.com"}}})
//	listener, err := net.Listen("tcp", "127.0.0.1:8484")
//	err = g.Serve(ctx, listener) // until ctx ends, then what is under way is finished
//
// Agents are pointed at it by their base URL. It sends requests to its upstreams
// and nowhere else. Credentials pass through; they are hashed to tell tenants
// apart and are stored and logged nowhere. No content is logged. What is stored
// are plans, and with them the text that they put in place of what they hide:
// the user's own words among it, and extracts of the rest. With [Options.Keys]
// callers must show a key of the gateway's own.
//
// Besides the providers' routes there are
//
//	GET /                                       what this is
//	GET /healthz                                is it up
//	GET /readyz                                 does it take calls, can it keep plans
//	GET /metrics                                counters in Prometheus' text format
//	GET /winnow/conversations                   the caller's, those used last first
//	GET /winnow/conversations/{id}              one of them, with its plans
//	GET /winnow/plans/{id}/report               what a plan keeps, reduces and removes
//	GET /winnow/recall/{handle}                 the original behind a handle
//
// where requests with the same credential or key have the same caller; the first
// four need none. All but the two about health are served under the gateway's own
// names only, see [Options.Hosts]. Reports and recall need the conversation: it is
// in memory while it goes on, and in the store too where
// [transport.Options.KeepOriginals] allows that.
//
// With [Options.Tracer] every call is traced under OpenTelemetry's GenAI names.
package gateway
