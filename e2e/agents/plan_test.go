package agents

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestChatGPTPlan wraps Codex that is signed in with a ChatGPT account: its calls go
// to ChatGPT, with its token, and not to OpenAI's API. Signed in so, Codex also looks
// for its apps at chatgpt.com, past the gateway: it is tried only where somebody names
// the agents to run.
func TestChatGPTPlan(t *testing.T) {
	if os.Getenv("WINNOW_AGENTS") == "" {
		t.Skip("Codex would call chatgpt.com by itself; WINNOW_AGENTS=codex runs it")
	}
	agents, _ := chosen(t)
	at := slices.IndexFunc(agents, func(a agent) bool { return a.name == "codex" })
	if at < 0 {
		t.Skip("it takes Codex")
	}
	codex := agents[at]
	codex.login = nil
	codex.files = func(string) map[string]string { return map[string]string{".codex/auth.json": chatGPTLogin(t)} }
	const parts = 24
	sim := codex.simulator(t, 48_000, parts, 12)
	dir := t.TempDir()
	out, err := codex.work(t, dir, "", winnow, "wrap", "--store", filepath.Join(dir, "plans.db"), "--window", "48000",
		"--upstream", "chatgpt="+sim.url+"/backend-api/codex", "--upstream", "openai=http://127.0.0.1:9")
	if err != nil {
		t.Errorf("%v\n%s", err, tail(out))
	}
	codex.whole(t, dir, only(t, accounts(t, sim.url)), parts, out)
	if m := wrapped.FindStringSubmatch(out); m == nil || m[2] == "0" {
		t.Errorf("no plan was made:\n%s", tail(out))
	}
}

// chatGPTLogin is what `codex login` writes for an account that nobody has.
func chatGPTLogin(t *testing.T) string {
	t.Helper()
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	claims := encode(map[string]any{
		"exp": time.Now().Add(9 * 24 * time.Hour).Unix(), "email": "nobody@example.com",
		"https://api.openai.com/auth": map[string]string{"chatgpt_plan_type": "pro", "chatgpt_account_id": "account-1", "chatgpt_user_id": "user-1"},
	})
	part := base64.RawURLEncoding.EncodeToString
	token := strings.Join([]string{part([]byte(`{"alg":"none"}`)), part(claims), "signature"}, ".")
	return string(encode(map[string]any{
		"auth_mode": "chatgpt", "OPENAI_API_KEY": nil, "last_refresh": time.Now().UTC().Format(time.RFC3339),
		"tokens": map[string]string{"id_token": token, "access_token": token, "refresh_token": "r", "account_id": "account-1"},
	}))
}
