package app

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/wire"
)

// TestServeSafety runs the gateway as a command with the settings that keep
// secrets out of its store and its pages under its own names.
func TestServeSafety(t *testing.T) {
	const secret = "hf_" + "aB3daB3daB3daB3daB3daB3daB3daB3daB3d"
	for _, redact := range []string{"true", "false"} {
		dir := isolate(t)
		t.Setenv("WINNOW_REDACT", redact)
		provider, endSim := serving(t, "sim", "--listen", "127.0.0.1:0", "--window", "16000")
		addr, endServe := serving(t, "serve", "--quiet", "--listen", "127.0.0.1:0", "--upstream", "openai=http://"+provider,
			"--window", "16000", "--store", filepath.Join(dir, "plans", "plans.db"), "--host", "winnow.example.com")
		c := &agentclient.Client{Dialect: wire.OpenAI, URL: "http://" + addr, Result: func(n int) string {
			return "ERROR: the token " + secret + " was rejected\n" + agentclient.Output(n)
		}}
		c.Drive(t, 16, nil)
		for host, want := range map[string]int{addr: 200, "winnow.example.com": 200, "evil.example.com": 403} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != want || want == 200 && !strings.Contains(string(text), "winnow "+thisBuild().Version) {
				t.Errorf("%s: %v %d %s", host, err, resp.StatusCode, text)
			}
		}
		endServe()
		endSim()
		var all strings.Builder
		files, err := filepath.Glob(filepath.Join(dir, "plans", "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(data)
		}
		if !strings.Contains(all.String(), "winnow_plan") || strings.Contains(all.String(), secret) == (redact == "true") {
			t.Errorf("redact %s: the secret is in the store: %v", redact, strings.Contains(all.String(), secret))
		}
	}
}
