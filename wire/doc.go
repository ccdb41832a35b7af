// Package wire reads and writes the requests and answers of language model
// APIs: OpenAI chat completions, OpenAI responses, Anthropic messages and
// Gemini generateContent.
//
// # Requests
//
// [Parse] takes a request's body apart without changing it. [Body.Request] is
// what the engine plans on, and [Body.Encode] writes the body for a view:
//
//	body, err := wire.Parse(wire.Anthropic, raw)
//	...
//	view, err := plan.Apply(body.Request().History, p)
//	...
//	out, err := body.Encode(view)
//
// What is promised: everything outside the array of messages stays byte for
// byte as it came. So does every message that no edit touches, with its spacing,
// order of keys, unknown fields, signatures and cache markers. A masked message
// is its own bytes with only the masked value replaced. Without a plan the body is
// as it came. When a view extends another, the bytes of its messages extend the
// other's, so the provider's cache stays warm.
//
// [Body.Next] parses the next request of a conversation and decodes only what
// is new in it. [Render] writes a request that never had a body. [Detect] tells
// the dialect of a body whose address is not known.
//
// # Checks
//
// [Validate] reads bytes as the provider will and names everything it would
// refuse. It shares no code with [chat.Rules], so that one checks the other.
//
// # Answers
//
// [ParseAnswer] reads an answer, [Stream] follows one that arrives as
// server-sent events. [Classify] says what an error means, above all whether
// the request was too long and by how much, whichever server wrote it.
//
// The package does no I/O of its own, never panics on hostile input, and its
// errors ([*Error]) name the place as a JSON pointer and say what to do.
package wire
