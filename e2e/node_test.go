package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// script is what a program for Node is told on its standard input.
type script struct {
	Base, Key string
	Stream    bool

	System string
	Tool   struct {
		Name, Text string
		Parameters any
	}

	Questions, Outputs, Words []string
	Asking                    string
	PerTurn                   int
}

// TestNode lets OpenAI's and Anthropic's SDKs for Node hold the conversation.
func TestNode(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed: the SDKs for Node are not tried")
	}
	if _, err := os.Stat("node_modules"); err != nil {
		t.Fatal("the SDKs for Node are not installed: run e2e/run, or npm ci in this folder")
	}
	for _, program := range []string{"openai-chat", "openai-responses", "anthropic"} {
		for _, stream := range []bool{false, true} {
			name := program + "/whole"
			if stream {
				name = program + "/stream"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				key := "key-of-" + strings.ReplaceAll(t.Name(), "/", "-")
				y, err := node(t, program, processes.gateway, key, stream)
				if err != nil {
					t.Fatal(err)
				}
				y.check(t, plans(t, bearer(key)))
				notRefused(t)
				y, err = node(t, program, processes.bare, key, stream)
				y.checkOverflow(t, err)
			})
		}
	}
}

// node runs a program for Node.
func node(t *testing.T, program, base, key string, stream bool) (tally, error) {
	t.Helper()
	s := script{Base: base, Key: key, Stream: stream, System: system, Asking: asking, PerTurn: perTurn}
	s.Tool.Name, s.Tool.Text, s.Tool.Parameters = toolName, toolText, parameters
	for turn := range turns {
		s.Questions = append(s.Questions, question(turn))
	}
	for n := range 250 {
		s.Outputs = append(s.Outputs, output(n))
	}
	for _, f := range facts {
		s.Words = append(s.Words, f.word)
	}
	in, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "node/"+program+".mjs")
	cmd.Stdin = bytes.NewReader(in)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var y struct {
		tally
		Error string
	}
	if err := json.Unmarshal(out, &y); err != nil {
		t.Fatalf("%v: %.300s", err, out)
	}
	if y.Error != "" {
		return y.tally, errors.New(y.Error)
	}
	return y.tally, nil
}
