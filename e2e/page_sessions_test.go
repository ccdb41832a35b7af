package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// message is one of a chat body.
type message map[string]any

// work is a made-up session of an agent that reads and edits files: as many
// exchanges, each with as many parallel calls.
func work(exchanges, calls int) []message {
	out := []message{{"role": "user", "content": "Rename the field total to sum in every service, and keep the tests green. Never touch the vendor folder."}}
	for i := range exchanges {
		var asked []any
		var results []message
		for k := range calls {
			id := fmt.Sprintf("call_%d_%d", i, k)
			path := fmt.Sprintf("services/part%02d/handler%d.go", i%17, k)
			asked = append(asked, map[string]any{"id": id, "type": "function", "function": map[string]any{
				"name": "read_file", "arguments": fmt.Sprintf(`{"path":%q}`, path),
			}})
			var b strings.Builder
			for line := range 12 {
				fmt.Fprintf(&b, "%d\tfunc part%d_%d_%d(total int) int { return total + %d } // %s\n", line+1, i, k, line, i*line, path)
			}
			results = append(results, message{"role": "tool", "tool_call_id": id, "content": b.String()})
		}
		out = append(out, message{"role": "assistant", "content": fmt.Sprintf("Step %d: I read the handlers.", i), "tool_calls": asked})
		out = append(out, results...)
		if i%40 == 39 {
			out = append(out, message{"role": "assistant", "content": "Done with this part."}, message{"role": "user", "content": fmt.Sprintf("Go on with the next part, number %d.", i)})
		}
	}
	return append(out, message{"role": "assistant", "content": "All services are renamed."})
}

// written writes a chat body and returns its path.
func written(t *testing.T, name string, messages []message) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"model": "gpt-5", "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// served starts winnow page on a file and returns the one-time address.
func served(t *testing.T, args ...string) string {
	t.Helper()
	url, end, err := startProcess(t.TempDir(), append([]string{"page"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closeTabs(t)
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return strings.TrimPrefix(url, "http://")
}

func itoa(n int) string { return fmt.Sprint(n) }

// run1 runs a command and returns all that it said.
func run1(name string, args ...string) (string, error) {
	said, err := exec.Command(name, args...).CombinedOutput()
	return string(said), err
}
