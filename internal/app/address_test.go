package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// gatewayProcess is winnow serve, with what it prints.
type gatewayProcess struct {
	url string
	out *bufio.Reader
	end func() string // ends it and returns what else it printed
}

func startGateway(t *testing.T, args ...string) *gatewayProcess {
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
	g := &gatewayProcess{out: bufio.NewReader(out)}
	g.end = func() string {
		t.Helper()
		g.end = func() string { return "" }
		_ = cmd.Process.Signal(syscall.SIGTERM)
		rest, err := io.ReadAll(g.out)
		if err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("it did not end well: %v\n%s", err, errs.String())
		}
		return string(rest) + errs.String()
	}
	t.Cleanup(func() { g.end() })
	line, err := g.out.ReadString('\n')
	if err != nil {
		t.Fatalf("it does not start: %v", err)
	}
	g.url = "http://" + strings.TrimSpace(line)
	return g
}

// opens opens an address in a browser of its own, twice, and returns the
// conversations that it sees then.
func opens(t *testing.T, address string) []string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	read := func(url string) (int, []byte) {
		t.Helper()
		resp, err := c.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, text
	}
	if status, text := read(address); status != http.StatusOK || !bytes.Contains(text, []byte("<html")) {
		t.Fatalf("the address leads to %d %.200s", status, text)
	}
	if status, _ := read(address); status != http.StatusForbidden {
		t.Errorf("the address works twice: %d", status)
	}
	base, _, _ := strings.Cut(address, "enter/")
	status, text := read(base + "conversations")
	var list struct{ Conversations []struct{ ID string } }
	if err := json.Unmarshal(text, &list); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	ids := []string{}
	for _, x := range list.Conversations {
		ids = append(ids, x.ID)
	}
	return ids
}

// sends has one request go through a gateway.
func sends(t *testing.T, url, text string, header ...string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"model": "gpt-5", "messages": []any{map[string]string{"role": "user", "content": text}}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", resp.Status, answer)
	}
}

// simulated starts winnow sim and returns its address.
func simulated(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("winnow", "sim", "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(line)
}

// TestAddress: serve prints an address of its page and address makes another one;
// each works once and shows what its caller may see.
func TestAddress(t *testing.T) {
	dir := isolate(t)
	sim := simulated(t)
	store := filepath.Join(dir, "plans.db")
	g := startGateway(t, "--store", store, "--upstream", "openai="+sim)
	line, err := g.out.ReadString('\n')
	found := regexp.MustCompile(`^page \(opens once, within 15 minutes\): (` + regexp.QuoteMeta(g.url) + `/winnow/enter/[\w.-]+)\n$`).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("it prints %q, %v", line, err)
	}
	sends(t, g.url, "Alice's matter.", "Authorization", "Bearer sk-alice-0123456789")
	sends(t, g.url, "Bob's matter.", "Authorization", "Bearer sk-bob-0123456789")
	if ids := opens(t, found[1]); len(ids) != 2 {
		t.Errorf("the machine's user sees %d conversations", len(ids))
	}
	code, out, errs := command(t, "", "address", "--gateway", g.url, "--plans", store)
	if code != exitDone || errs != "" || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, g.url+"/winnow/enter/") || strings.TrimSpace(out) == found[1] {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	if ids := opens(t, strings.TrimSpace(out)); len(ids) != 2 {
		t.Errorf("the machine's user sees %d conversations", len(ids))
	}
	// A caller without its file and without a key gets no address.
	for name, test := range map[string]struct {
		args []string
		code int
		say  string
	}{
		"another file": {[]string{"--gateway", g.url, "--plans", filepath.Join(dir, "none.db")}, exitFailed, ""},
		"no file":      {[]string{"--gateway", g.url}, exitFailed, "cannot tell that it is yours"},
		"as JSON":      {[]string{"--gateway", g.url, "--plans", store, "--json"}, exitUsage, "the address is a secret"},
		"nobody there": {[]string{"--gateway", "http://127.0.0.1:1", "--plans", store}, exitFailed, "no gateway answers at http://127.0.0.1:1"},
		"no gateway":   {[]string{"--gateway", sim}, exitFailed, "is not a winnow gateway"},
		"no address":   {[]string{"--gateway", "somewhere"}, exitUsage, "write a URL"},
	} {
		code, out, errs := command(t, "", append([]string{"address"}, test.args...)...)
		if code != test.code || strings.Contains(out, "/enter/") || !strings.Contains(out+errs, test.say) {
			t.Errorf("%s: %d %s %s", name, code, out, errs)
		}
	}
	if rest := g.end(); strings.Contains(rest, "enter/") {
		t.Errorf("it says further %s", rest)
	}

	// With keys everybody asks with their own.
	keys := filepath.Join(dir, "keys")
	if err := os.WriteFile(keys, []byte("alice key-of-alice-0123456789\nbob key-of-bob-0123456789ab\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g = startGateway(t, "--store", store, "--upstream", "openai="+sim, "--keys", keys)
	sends(t, g.url, "Alice has a key.", "Winnow-Key", "key-of-alice-0123456789")
	if code, out, errs := command(t, "", "address", "--gateway", g.url, "--plans", store); code != exitFailed || !strings.Contains(errs, "requires a key; set WINNOW_KEY") || out != "" {
		t.Errorf("without a key: %d %s %s", code, out, errs)
	}
	for key, want := range map[string]int{"key-of-alice-0123456789": 1, "key-of-bob-0123456789ab": 0} {
		t.Setenv("WINNOW_KEY", key)
		code, out, errs := command(t, "", "address", "--gateway", g.url)
		if code != exitDone {
			t.Fatalf("%d %s", code, errs)
		}
		if ids := opens(t, strings.TrimSpace(out)); len(ids) != want {
			t.Errorf("%s sees %d conversations, want %d", key, len(ids), want)
		}
	}
	t.Setenv("WINNOW_KEY", "")
	if rest := g.end(); strings.Contains(rest, "page") || strings.Contains(rest, "enter/") {
		t.Errorf("with keys it prints %s", rest)
	}
	for _, flag := range []string{"--quiet", "--json"} {
		if rest := startGateway(t, "--store", store, flag).end(); strings.Contains(rest, "enter/") {
			t.Errorf("with %s it prints %s", flag, rest)
		}
	}
}
