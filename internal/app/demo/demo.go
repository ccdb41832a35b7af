// Package demo makes the conversations that the command shows itself with: a
// long coding session ([Session]) and, for measuring, one of any length
// ([Large]).
//
// Nothing is stored. Files, search results, test output and logs are written
// by small generators over a repository that does not exist, the same bytes
// every time. A file that the agent edits in the story reads differently
// afterwards, as it would.
package demo

import (
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/wire"
)

// Model is the model of the session.
const Model = "claude-sonnet-4-5"

// What the user said at the start and the agent read early, and what must
// therefore survive any compaction of the session.
const (
	Constraint = "Never log a whole API key: the last four characters at most."
	EarlyPath  = "deploy/helm/values.production.yaml"

	// EarlySetting stands in the content of that file and nowhere else.
	EarlySetting = "p99TrackMillis"
)

// Session returns the body of a request that carries the whole session, in the
// OpenAI dialect.
func Session() []byte { return session() }

var session = sync.OnceValue(func() []byte {
	req := Request()
	body, err := wire.Render(wire.OpenAI, Model, req, nil)
	if err != nil {
		panic("demo: " + err.Error()) // the story is fixed, so this is a bug here
	}
	return body
})

// Request returns the session as a request.
func Request() chat.Request {
	s := newStory()
	s.tell()
	return chat.Request{
		System:  []chat.Part{{Kind: chat.Text, Text: systemPrompt}},
		Tools:   tools(),
		History: chat.NewHistory(s.msgs...),
	}
}

const systemPrompt = `You are a coding agent working in the repository parcelhub, a parcel tracking
service: a Go back end (cmd/, internal/), a TypeScript partner console (web/),
Helm charts (deploy/) and SQL migrations (db/migrations).

Work in small steps. Read a file before you change it. Run the tests of the
package you touched after every change, and the whole suite before you say that
you are done. Say what you found, not what you hope. If a command hangs or a
tool fails, say so and go on. Do not push, tag or deploy.`

func tools() []chat.ToolDef {
	def := func(name, description, schema string) chat.ToolDef {
		return chat.ToolDef{Name: name, Description: description, Schema: schema}
	}
	return []chat.ToolDef{
		def("read_file", "Read a file of the repository, whole or from an offset.",
			`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}`),
		def("list_files", "List the files below a folder.",
			`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		def("grep", "Search the repository for a regular expression.",
			`{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"}},"required":["pattern"]}`),
		def("edit_file", "Replace one piece of a file by another.",
			`{"type":"object","properties":{"path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"}},"required":["path","old_string","new_string"]}`),
		def("write_file", "Write a new file.",
			`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`),
		def("bash", "Run a shell command in the repository's root.",
			`{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}},"required":["command"]}`),
	}
}
