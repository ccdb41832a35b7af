package app

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/demo"
)

// TestNoteEdit: a note that is written anew stands there once, with the new text, and an edit
// of one that is gone says which there are.
func TestNoteEdit(t *testing.T) {
	t.Chdir(isolate(t))
	if err := os.WriteFile("session.json", demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		code, stdout, stderr := command(t, "", args...)
		if code != want {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
		return stdout + stderr
	}
	type noted struct{ ID, Text string }
	list := func() []noted {
		t.Helper()
		var doc struct{ Notes []noted }
		if err := json.Unmarshal([]byte(run(exitDone, "note", "list", "--json")), &doc); err != nil {
			t.Fatal(err)
		}
		return doc.Notes
	}
	run(exitDone, "session", "import", "session.json")
	run(exitDone, "note", "add", "the relay listens on port 7319")
	old := list()[0].ID
	run(exitDone, "note", "edit", old, "the relay listens on", "port 7320")
	if n := list(); len(n) != 1 || n[0].Text != "the relay listens on port 7320" {
		t.Errorf("%+v", n)
	}
	if said := run(exitFailed, "note", "edit", "n0", "x"); !strings.Contains(said, "port 7320") {
		t.Error(said)
	}
}
