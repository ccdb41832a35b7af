package main

import (
	"bytes"
	"strings"
	"testing"
)

// The text has the help of every command, down to the last, and the sentences of
// errors with their places.
func TestMessages(t *testing.T) {
	var b bytes.Buffer
	if err := run(&b, "../../.."); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"\n## winnow compact\n", "\n## winnow session export\n", "\n## winnow plan undo\n", "\n## winnow watch\n",
		"internal/app/output.go", "the folder does not exist; create it first",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "\n## internal/kit/") || strings.Contains(text, "_test.go\n") {
		t.Error("strings of test kits are among them")
	}
}
