// Package decode turns the JSON of providers' messages into [chat.Message].
//
// There is one function per shape: [OpenAI] (chat completions), [Anthropic],
// [Item] (one item of OpenAI's responses) and [Gemini]. Each takes the raw
// bytes of one element of the wire's array. Tool definitions, system prompts
// and usage objects have functions of their own.
//
// # What is promised
//
// The parts of a message stand in a fixed order that a caller can walk in
// parallel with the JSON: first reasoning that stands beside the content, then
// the content's elements one by one (an empty string makes no part), then a
// refusal, then the calls in order. Nothing is dropped: what has no place in chat
// becomes an opaque part with its raw JSON. Strings are unquoted once and are
// copies, so the input can be reused or freed.
//
// # What is expected
//
// The input is valid JSON, as a jsontext.Decoder hands it out; bytes of unknown
// origin go through [Valid] first. Malformed input never panics, but what comes
// out of it is an error or an incomplete message.
//
// Values of the wrong type are errors of type [*Error], which name the place as
// a JSON pointer.
package decode
