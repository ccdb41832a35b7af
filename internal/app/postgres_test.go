package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/wire"
)

// served starts winnow serve and returns its address, and what ends it.
func served(t *testing.T, args ...string) (url string, end func()) {
	t.Helper()
	cmd := exec.Command("winnow", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		t.Fatalf("it does not start: %s", errs.String())
	}
	dead := false
	end = func() {
		if !dead {
			dead = true
			_ = cmd.Process.Kill() // kill -9
			_ = cmd.Wait()
		}
	}
	t.Cleanup(end)
	return "http://" + strings.TrimSpace(address), end
}

// TestServeOnPostgres has two gateways of the command share a database: a
// conversation that begins at one and goes on at the other is sent under the same
// plan, after the first one was killed too. Then the owner looks at the store,
// copies it to a file and back, and prunes it.
func TestServeOnPostgres(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := pgtest.Shared(t).Database(t)
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: 16_000})
	args := []string{"--store", db, "--window", "16000", "--upstream", "anthropic=" + upstream}
	code, out, errs := command(t, "", "store", "migrate", "--store", db)
	if code != exitDone || out != "plans: version 2, was 0\nsessions: version 1, was 0\njobs: version 8, was 0\n" {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	one, kill := served(t, args...)
	two, _ := served(t, args...)
	c := &agentclient.Client{Dialect: wire.Anthropic, URL: one, Plain: true, Result: agentclient.Output, Header: http.Header{"Authorization": {"Bearer one"}}}
	plan, tokens := "", 0 // a view that has room for one more question
	for n := 0; (plan == "" || tokens > 9000) && n < 60; n++ {
		c.Say(agentclient.Question(n))
		for calls := 1; calls > 0; {
			a, err := c.Step(t.Context())
			if err != nil || a.Status != http.StatusOK {
				t.Fatalf("%v %d %s", err, a.Status, a.Raw)
			}
			calls, plan = a.Calls, a.Header.Get("Winnow-Plan")
			if tokens, err = strconv.Atoi(a.Header.Get("Winnow-Tokens")); err != nil {
				t.Fatal(err)
			}
		}
	}
	// What the provider reported is written a moment later; without it the other one
	// knows the plan, and not for sure that it fits.
	for waiting := true; waiting; {
		resp, err := http.Get(one + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("/metrics: %d %v", resp.StatusCode, err)
		}
		waiting = !strings.Contains(string(text), "winnow_store_marks_waiting 0\n")
	}
	kill()
	c.URL = two
	c.Say("And now?")
	if a, err := c.Step(t.Context()); err != nil || plan == "" || a.Header.Get("Winnow-Plan") != plan {
		t.Errorf("%v: the other gateway sends it under plan %q, not %q", err, a.Header.Get("Winnow-Plan"), plan)
	}
	resp, err := http.Get(two + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), `"store":"postgres"`) {
		t.Errorf("/readyz: %d %s %v", resp.StatusCode, text, err)
	}
	plans := func(store string) int {
		t.Helper()
		code, out, errs := command(t, "", "store", "stats", "--store", store, "--json")
		var doc struct {
			Data struct {
				Plans int `json:"plans"`
			} `json:"data"`
			Plans int `json:"plans"`
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitDone {
			t.Fatalf("%d %s %s %v", code, out, errs, err)
		}
		return doc.Plans + doc.Data.Plans
	}
	n := plans(db)
	if n == 0 {
		t.Fatal("no plans")
	}
	file, back := filepath.Join(dir, "copy.db"), pgtest.Shared(t).Database(t)
	for _, step := range [][2]string{{db, file}, {file, back}, {file, back}} {
		args := []string{"store", "copy", step[0], step[1]}
		if step[0] == db {
			args = append(args, "--what", "plans")
		}
		if code, out, errs := command(t, "", args...); code != exitDone || !strings.HasPrefix(out, "copied ") {
			t.Fatalf("%d %s %s", code, out, errs)
		}
		if got := plans(step[1]); got != n {
			t.Errorf("%d of %d plans in %s", got, n, step[1])
		}
	}
	if code, out, errs := command(t, "", "store", "ls", "--store", back); code != exitDone || !strings.Contains(out, plan) {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if code, out, errs := command(t, "", "store", "rm", "--store", back, plan); code != exitDone || !strings.HasPrefix(out, "removed ") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if code, out, errs := command(t, "", "store", "prune", "--store", db, "--store-age", "1ns"); code != exitDone || !strings.HasPrefix(out, "forgot ") || plans(db) != 0 {
		t.Errorf("%d %s %s", code, out, errs)
	}
	// An older winnow refuses what a newer one made, in one line, and no password
	// is told.
	pgtest.Shared(t).Exec(t, db, "update winnow.versions set version = 99")
	secret := strings.Replace(db, "postgres:///", "postgres://x:hunter2@/", 1)
	for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0"}, {"store", "stats"}, {"session", "ls"}, {"store", "migrate"}} {
		code, out, errs := command(t, "", append(args, "--store", secret)...)
		if code != exitFailed || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "newer winnow") || strings.Contains(errs, "hunter2") {
			t.Errorf("%v: %d %s %s", args, code, out, errs)
		}
	}
}

// TestSessionsOnPostgres imports a session into the database, works on it there,
// and copies it to a folder and back.
func TestSessionsOnPostgres(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := pgtest.Shared(t).Database(t)
	file := filepath.Join(dir, "s.json")
	if err := os.WriteFile(file, []byte(`{"model":"gpt-4.1","messages":[{"role":"user","content":"Fix the zebra crossing."},{"role":"assistant","content":"Done."}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	must := func(args ...string) string {
		t.Helper()
		code, out, errs := command(t, "", args...)
		if code != exitDone {
			t.Fatalf("%v: %d %s %s", args, code, out, errs)
		}
		return out
	}
	must("session", "import", file, "--store", db)
	if out := must("session", "ls", "--store", db); !strings.Contains(out, "zebra crossing") {
		t.Errorf("listed: %s", out)
	}
	if out := must("session", "search", "zebra", "--store", db); !strings.Contains(out, "zebra") {
		t.Errorf("found: %s", out)
	}
	folder := filepath.Join(dir, "sessions") + string(filepath.Separator)
	other := pgtest.Shared(t).Database(t)
	if out := must("store", "copy", db, folder); out != "copied 1 session, completed 0 sessions; 0 already there\n" {
		t.Error(out)
	}
	if out := must("store", "copy", folder, other); out != "copied 1 session, completed 0 sessions; 0 already there\n" {
		t.Error(out)
	}
	if out := must("store", "copy", folder, other); out != "copied 0 sessions, completed 0 sessions; 1 already there\n" {
		t.Error(out)
	}
	if a, b := must("session", "ls", "--store", db), must("session", "ls", "--store", other); a[:8] != b[:8] {
		t.Errorf("%s\n%s", a, b)
	}
}
