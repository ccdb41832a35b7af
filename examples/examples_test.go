// Package examples_test runs the examples that need nothing but themselves.
package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
)

func TestExamples(t *testing.T) {
	longrun.Only(t, "builds programs")
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	session := filepath.Join(dir, "session.json")
	if err := os.WriteFile(session, demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, stdin, want string
		args              []string
	}{
		{name: "agentloop", want: "81 messages in the history"},
		{name: "requestbody", stdin: `{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"Hi"}]}`, want: `"content":"Hi"`},
		{name: "sessionfile", args: []string{session}, want: "openai, claude-sonnet-4-5: 169 messages"},
		{name: "recalltool", want: "failed: false found: true"},
		{name: "pins", want: "taken back; edits left: 0"},
		{name: "planfile", want: "62 messages become"},
		{name: "store", args: []string{filepath.Join(dir, "s.db")}, want: "the model would see 1 messages"},
		{name: "store", args: []string{filepath.Join(dir, "s.db")}, want: "the model would see 3 messages"},
	} {
		cmd := exec.Command(filepath.Join(dir, c.name), c.args...)
		cmd.Stdin = strings.NewReader(c.stdin)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v, %q is missing:\n%s", c.name, err, c.want, out)
		}
	}
}
