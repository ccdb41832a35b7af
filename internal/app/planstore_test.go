package app

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/wire"
)

// TestStore lists what a gateway kept and removes a conversation from it.
func TestStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "plans.db")
	provider, endSim := serving(t, "sim", "--listen", "127.0.0.1:0", "--window", "16000")
	addr, endServe := serving(t, "serve", "--listen", "127.0.0.1:0", "--upstream", "openai=http://"+provider, "--window", "16000", "--store", path, "--keep-originals")
	for _, who := range []string{"alice", "bob"} {
		c := &agentclient.Client{Dialect: wire.OpenAI, URL: "http://" + addr, Header: http.Header{"Authorization": {"Bearer " + who}}, Result: agentclient.Output}
		c.Say("the secret of " + who + " is plugh")
		c.Drive(t, 14, nil)
	}
	endServe()
	endSim()
	var listed struct {
		Plans []struct {
			ID, Tenant string
			Messages   int
		}
	}
	code, stdout, stderr := command(t, "", "store", "ls", "--store", path, "--json")
	if err := json.Unmarshal([]byte(stdout), &listed); err != nil || code != exitDone || len(listed.Plans) < 2 || listed.Plans[0].Messages == 0 {
		t.Fatalf("%d %v %s %s", code, err, stdout, stderr)
	}
	last := listed.Plans[0]
	code, stdout, stderr = command(t, "", "store", "rm", last.ID[:10], "--store", path)
	if code != exitDone || !strings.HasPrefix(stdout, "removed ") || strings.Contains(stdout, " 0 stored") {
		t.Fatalf("%d %s %s", code, stdout, stderr)
	}
	_, stdout, _ = command(t, "", "store", "ls", "--store", path)
	if strings.Contains(stdout, last.Tenant) || strings.Count(stdout, "\n") == 0 {
		t.Errorf("left are %s", stdout)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "the secret of bob") {
			t.Errorf("its text is left in %s", f)
		}
	}
	for _, args := range [][]string{{"rm", "nonesuch", "--store", path}, {"ls", "--store", filepath.Join(dir, "none.db")}} {
		if code, stdout, stderr := command(t, "", append([]string{"store"}, args...)...); code != exitFailed || stdout != "" || !strings.Contains(stderr, "there is no ") {
			t.Errorf("%v: %d %s %s", args, code, stdout, stderr)
		}
	}
}
