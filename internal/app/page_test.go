package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPageStartsAtOnce: the page of a session that takes long to go through is
// served before that is done, and says how far it is.
func TestPageStartsAtOnce(t *testing.T) {
	t.Parallel()
	type message map[string]any
	messages := []message{{"role": "user", "content": "Rename total to sum everywhere."}}
	const requests = 4000
	for i := range requests {
		id := fmt.Sprintf("call_%d", i)
		messages = append(messages,
			message{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read_file", "arguments": fmt.Sprintf(`{"path":"part%d.go"}`, i)}}}},
			message{"role": "tool", "tool_call_id": id, "content": strings.Repeat(fmt.Sprintf("1\tline %d of it, which goes on for a while\n", i), 60)})
	}
	data, err := json.Marshal(map[string]any{"model": "gpt-5", "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "long.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("winnow", "page", file, "--window", "60000")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill() // it goes on for long
		_ = cmd.Wait()
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	read := func(url string, to any) {
		t.Helper()
		resp, err := c.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", url, resp.Status)
		}
		if to == nil {
			return
		}
		if err := json.NewDecoder(resp.Body).Decode(to); err != nil {
			t.Fatalf("%s: %v", url, err)
		}
	}
	address = strings.TrimSpace(address)
	base, _, _ := strings.Cut(address, "open/")
	read(address, nil)
	var list struct {
		Conversations []struct {
			Title    string
			Messages int
		}
	}
	read(base+"conversations", &list)
	if len(list.Conversations) != 1 || !strings.HasPrefix(list.Conversations[0].Title, "Rename") || list.Conversations[0].Messages != len(messages) {
		t.Errorf("%+v", list)
	}
	var at struct{ Done, Total int }
	if read(base+"progress", &at); at.Total != requests || at.Done >= at.Total {
		t.Errorf("went through %d of %d requests before it was served", at.Done, at.Total)
	}
}
