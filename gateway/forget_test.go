package gateway_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

// TestDeleteConversation: its tenant can have a conversation removed, with all that
// the store has of it. No byte of it is left in the store's files, recall finds
// nothing, others' are not touched, and the conversation can go on.
func TestDeleteConversation(t *testing.T) {
	t.Parallel()
	const secret = "xyzzy-plugh-93"
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	path := filepath.Join(t.TempDir(), "plans.db")
	store, err := sqlite.Open(path, transport.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, url := start(t, gateway.Options{
		Upstreams: everywhere(upstream),
		Transport: transport.Options{Settings: winnow.Settings{Window: window}, Store: store, KeepOriginals: true},
	})
	client := func(who, task string) *agentclient.Client {
		c := &agentclient.Client{Dialect: wire.OpenAI, URL: url, Header: http.Header{"Authorization": {"Bearer " + who}}, Result: agentclient.Output}
		c.Say(task)
		return c
	}
	alice, bob := client("alice", "The task of Alice is "+secret+"."), client("bob", "The task of Bob.")
	alice.Drive(t, 25, nil)
	bob.Drive(t, 25, nil)
	plans := func(who string) []string { return listPlans(t, url, "Authorization", "Bearer "+who) }
	var all struct{ Conversations []struct{ ID string } }
	_, list := get(t, url+"/winnow/conversations", "Authorization", "Bearer alice")
	if err := json.Unmarshal([]byte(list), &all); err != nil || len(all.Conversations) != 1 {
		t.Fatalf("%v: %s", err, list)
	}
	at := url + "/winnow/conversations/" + all.Conversations[0].ID
	if len(plans("alice")) == 0 || len(plans("bob")) == 0 || !inFiles(t, path, secret) {
		t.Fatal("there is nothing to remove")
	}
	if resp, _ := ask(t, http.MethodDelete, at, "", "Authorization", "Bearer bob"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another tenant removes it: %d", resp.StatusCode)
	}
	resp, text := ask(t, http.MethodDelete, at, "", "Authorization", "Bearer alice")
	if resp.StatusCode != http.StatusOK || !strings.Contains(text, all.Conversations[0].ID) {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	if left := plans("alice"); len(left) > 0 {
		t.Errorf("plans are left: %v", left)
	}
	if inFiles(t, path, secret) {
		t.Error("its text is left in the store's files")
	}
	if len(plans("bob")) == 0 {
		t.Error("the other tenant's plans are gone")
	}
	if resp, _ := ask(t, http.MethodDelete, at, "", "Authorization", "Bearer alice"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("removed twice: %d", resp.StatusCode)
	}
	alice.Drive(t, 3, nil)
}

// inFiles reports whether a text stands in a store's files.
func inFiles(t *testing.T, path, text string) bool {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}
