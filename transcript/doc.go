// Package transcript reads the session files that agents write: pi, Claude
// Code, Codex, OpenCode, Gemini CLI, OpenHands, SWE-agent, mini-swe-agent,
// tau-bench, NeuroLink, and plain arrays of messages or whole request bodies in
// the shapes of OpenAI, Anthropic and Gemini.
//
// [ReadFile] reads a file (or standard input, or a .gz) and [Read] bytes. The
// format is found by looking at the content; [Options] can name it. One file
// may hold several sessions.
//
// # What a session holds
//
// The history is the conversation as it was before the client compacted it:
// original messages, never a client's summary in their place. Summaries that
// the file records are in [Session.Compactions], with the place where they
// were put. Leading system messages are in [Session.System].
//
//   - Blocks that were logged one by one but belong to one answer of the model
//     are one message, with the largest usage that was logged for it.
//   - In logs, something that was recorded between a call and its result (a
//     hook's note, a queued prompt) stands after the result, as it was sent.
//     Plain arrays keep their order.
//   - Where a file is a tree, the history is the path to the last leaf; what
//     stands on other branches is counted in a warning. Results of parallel
//     calls, which Claude Code writes as branches, are not lost that way.
//   - Claude Code's sidechains (sub-agents in the same file) are sessions of
//     their own, after the main one.
//   - A user's message that no user wrote is marked as synthetic. In plain
//     arrays nothing is marked: a message must hash the same there as on the wire.
//   - [chat.Message.Wire] is set for plain arrays only: other files hold more
//     (or less) per message than was ever sent.
//
// # What happens to bad input
//
// A record that cannot be read is left out and named in a [Warning] with its
// line; records glued together on one line are separated; a torn last line is
// dropped. If nothing can be read, the error is a [*Error] that says in one line
// which file, which line, what is wrong and what to do. Nothing panics.
//
// Other records than messages (settings, progress, snapshots) are counted by type
// in [Session.Skipped].
package transcript
