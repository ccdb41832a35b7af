// Package demo holds the conversation that the command shows itself with, a
// long coding session ([Session]).
//
// The session is invented: nobody worked in the repository that it talks about.
// It is kept as the body of a request, compressed, and is the same bytes every
// time.
package demo

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/wire"
)

// Model is the model of the session.
const Model = "claude-sonnet-4-5"

// What the user said at the start, and the agent read early or changed late.
// Constraint, EarlyPath and ChangedLine must survive any compaction of the session.
const (
	Constraint = "Never log a whole API key: the last four characters at most."
	EarlyPath  = "deploy/helm/values.production.yaml"

	// EarlySetting stands in the content of that file and nowhere else.
	EarlySetting = "p99TrackMillis"

	// ChangedLine stands in a file as the agent left it.
	ChangedLine = "s.authenticate(s.perKeyLimit(s.mux))"
)

//go:embed session.json.gz
var packed []byte

// Session returns the body of a request that carries the whole session, in the
// OpenAI dialect.
func Session() []byte { return session() }

var session = sync.OnceValue(func() []byte {
	var body []byte
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		body, err = io.ReadAll(r)
	}
	if err != nil {
		panic("demo: " + err.Error()) // the file is part of the program, so this is a bug here
	}
	return body
})

// Request returns the session as a request, free of any dialect's rules.
func Request() chat.Request {
	body, err := wire.Parse(wire.OpenAI, Session())
	if err != nil {
		panic("demo: " + err.Error())
	}
	req := body.Request()
	req.Rules = chat.Rules{}
	return req
}
