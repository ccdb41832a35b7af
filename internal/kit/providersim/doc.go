// Package providersim is an HTTP server that behaves like the providers of
// language models, so that programs which talk to them can be tested, measured
// and tried without a key or a network.
//
// [New] gives a server and [Server.Handler] its handler; [Server.Close] ends
// what still stalls. The zero [Options] work. It speaks four dialects, streaming
// and not:
//
//	POST /v1/chat/completions                      OpenAI chat completions
//	POST /v1/responses, /v1/responses/input_tokens OpenAI responses; also
//	                                               /v1/responses/compact
//	POST /v1/messages, /v1/messages/count_tokens   Anthropic messages
//	POST /v1beta/models/{model}:generateContent    Gemini; also :countTokens,
//	                                               :streamGenerateContent[?alt=sse]
//	POST /v1internal:generateContent               Gemini with a Google account
//	GET  /sim/requests                             what it was asked so far
//
// Six things are promised.
//
// Answers come from a scripted agent: text, thinking, parallel tool calls whose
// arguments follow the tool's schema, final answers. Content and ids depend only
// on the request's content and the seed.
//
// Usage is true. The prompt is a sequence of segments (tool definitions, system,
// parts of messages); each is counted by [Options.Count], by default a token for
// every four bytes begun, plus the framing constants of this package. What an
// answer reports as output is what its parts cost when they come back; hidden
// reasoning, which does not come back, is counted beside it as the provider does. A
// picture costs 1,024 tokens; base64 is never counted as text; signatures cost
// nothing.
//
// What a provider refuses, it refuses, with the provider's status, shape and
// text: pairing of calls and results, order, empty content, thinking that was
// altered or that stands after another prefix than it was written for, reasoning
// without its item, missing thought signatures, windows and sizes. The rules were
// written from the project's description of the providers and share no code with
// winnow's own validator, so that one checks the other.
//
// Prompts are cached by prefix, per credential and model, with lifetimes and
// smallest sizes: at breakpoints for Anthropic, in grains of 128 tokens for the
// others. [Model.Prices] turn the three kinds of input into dollars.
//
// It can fail in the ways that networks and providers fail: see [Fault], the
// header Sim-Fault and [Options.Faults]. A request that overflows is told so in
// any of the shapes of [Overflow], chosen by the header Sim-Overflow; the header
// Sim-Window sets the window of one request, Sim-Answer what the agent does.
//
// It is safe for concurrent use, leaves no goroutine behind and holds a bounded
// amount of memory.
//
// Not simulated: Bedrock, WebSockets (a 426 sends clients back to HTTP),
// conversations that the provider holds, Anthropic's own compaction, the providers'
// context editing, server-side tools.
package providersim
