// Package e2e lets real clients talk through winnow: the official SDKs of
// OpenAI, Anthropic and Google for Go, and OpenAI's and Anthropic's for Node.
// It has tests only, and is a module of its own so that nobody who uses winnow
// downloads the SDKs.
//
// Every client holds the same conversation, streaming and not: an agent that
// reads files far past the model's window, with a tool and parallel calls. The
// client is unchanged but for its base URL ("winnow serve", a process of its
// own) or its HTTP client ([transport.Transport]). The provider is "winnow sim".
// At the end the client asks for facts from the beginning, which the simulator
// answers from what it was sent and from nothing else. The same conversation
// without winnow ends with the provider's overflow error, and that is shown too.
//
// The script run installs what Node needs and runs everything, with a short part of
// package agents, in which real coding agents work through winnow.
//
// [transport.Transport]: https://pkg.go.dev/github.com/winnow-llm/winnow/transport
package e2e
