//go:build unix

package app

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// TestWrapLabel: what an agent sends through wrap carries the label that the agent
// was given, so that its tools are about its own conversation, also where another
// one of the same owner was used since.
func TestWrapLabel(t *testing.T) {
	dir := isolate(t)
	sim := simulated(t)
	store := filepath.Join(dir, "plans.db")
	told, done := filepath.Join(dir, "told"), filepath.Join(dir, "done")
	for _, path := range []string{told, done} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type result struct {
		code int
		errs string
	}
	ended := make(chan result, 1)
	go func() {
		code, _, errs := command(t, "", "wrap", "--store", store, "--upstream", "openai="+sim,
			"sh", "-c", `echo "$WINNOW_GATEWAY $WINNOW_CONVERSATION" > "$0"; cat "$1"`, told, done)
		ended <- result{code, errs}
	}()
	line, err := os.ReadFile(told) // the agent is there when this can be read
	at, label, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
	if err != nil || !ok || len(label) < 16 {
		t.Fatalf("the agent is told %q, %v", line, err)
	}
	sends(t, at, "The agent's own matter.", "Authorization", "Bearer sk-alice-0123456789")
	g := startGateway(t, "--store", store, "--upstream", "openai="+sim)
	sends(t, g.url, "Another one, used last.", "Authorization", "Bearer sk-alice-0123456789")

	s, err := sqlite.Open(store, planstore.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	owner, err := gateway.OwnerToken(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	// A request is written down a moment later, or when somebody asks.
	list := func(url string) []control.Conversation {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/winnow/conversations", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(gateway.HeaderOwner, owner)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var doc struct{ Conversations []control.Conversation }
		if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %v", resp.Status, err)
		}
		return doc.Conversations
	}
	list(g.url)
	all := list(at)
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	last, own := all[0], all[1]
	if own.Label == "" {
		last, own = own, last // which of them was written last does not matter here
	}
	if own.Label != label || own.Folder != here || last.Label != "" {
		t.Errorf("the labels are %q and %q, want %q alone; the folder is %s", own.Label, last.Label, label, own.Folder)
	}

	t.Setenv("WINNOW_GATEWAY", at)
	t.Setenv("WINNOW_PLANS", store)
	t.Setenv("WINNOW_CONVERSATION", label)
	var said struct{ Content []struct{ Text string } }
	p := startMCP(t)
	p.call("tools/call", map[string]any{"name": control.ToolStatus, "arguments": map[string]any{}}, &said)
	if len(said.Content) != 1 || !strings.Contains(said.Content[0].Text, "this one") || !strings.Contains(said.Content[0].Text, own.ID[:8]) {
		t.Errorf("the tools are about %+v, want %s", said, own.ID)
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := <-ended; r.code != exitDone {
		t.Errorf("%d %s", r.code, r.errs)
	}
}
