// Package transport puts winnow in the path of HTTP calls to language models.
//
// A [Transport] is an [http.RoundTripper]. Give it to any client and the
// conversation never outgrows the model's window, though the program still
// sends its whole history with every request:
//
//	t, err := transport.New(nil)
//	client := &http.Client{Transport: t}
//	// hand client to the provider's SDK
//
// It knows the requests of OpenAI (chat completions and responses), Anthropic
// and Gemini by their address and lets everything else through. For each it
// looks up the plan of this conversation, applies it, checks the budget and,
// where that is needed, makes a plan, keeps it in the store and sends the
// smaller request. If the provider still says that the request is too long, it
// learns the limit and tries again, at most twice.
//
// Planning calls no model. With [Options.Summarizer] a model writes summaries
// all the same: ahead of time, in the background, from four fifths of the way to
// the next compaction on. A plan uses what is ready and waits for nothing.
//
// What is promised:
//
//   - The program's answers are the provider's, byte for byte. Response headers
//     tell what winnow did: see [HeaderPlan] and [HeaderTokens].
//   - Between two plans the messages that are sent extend those sent before
//     byte for byte, so that the provider's cache stays warm. That holds across
//     restarts when the store is a file.
//   - A plan is used only for the conversation it was made for: the chain of
//     hashes over all its messages decides, and the caller's credential. No
//     session id is needed, and none is guessed.
//   - What goes wrong in here never costs a call: the request goes out as it
//     came, or under the plan that was in force, and [Transport.Stats] counts it.
//   - Credentials are hashed to tell tenants apart and are kept nowhere.
//
// Requests whose history the provider holds, or whose context it manages
// itself, pass untouched.
package transport
