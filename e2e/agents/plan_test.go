package agents

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPlans wraps agents that are signed in with an account instead of a key: their
// calls go where the account is known, with its token, and not to the API for keys.
// Codex then also looks for its apps at chatgpt.com and Gemini CLI for the account's
// name at googleapis.com, past the gateway: they are tried only where somebody names
// the agents to run. Nobody has the accounts, so nothing of a real login is tried but
// what the agents send.
func TestPlans(t *testing.T) {
	if os.Getenv("WINNOW_AGENTS") == "" {
		t.Skip("agents would call their makers by themselves; WINNOW_AGENTS=codex,gemini,pi runs it")
	}
	agents, _ := chosen(t)
	for _, a := range agents {
		var upstream []string
		switch a.name {
		case "codex":
			a.login = nil
			a.files = func(string) map[string]string { return map[string]string{".codex/auth.json": chatGPTLogin(t)} }
			upstream = []string{"chatgpt", "/backend-api/codex", "openai"}
		case "gemini":
			a.files = func(string) map[string]string {
				return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"oauth-personal"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}`}
			}
			a.env = func(string) []string {
				return []string{"GOOGLE_GENAI_USE_GCA=true", "GOOGLE_CLOUD_ACCESS_TOKEN=ya29.e2e-gemini-4711"}
			}
			upstream = []string{"code-assist", "", "gemini"}
		case "pi":
			a.model = "gpt-5.5"
			a.files = func(string) map[string]string {
				return map[string]string{".pi/agent/auth.json": fmt.Sprintf(`{"openai-codex":{"type":"oauth","access":%q,"refresh":"r","expires":%d,"accountId":"account-1"}}`,
					chatGPTToken(t), time.Now().Add(24*time.Hour).UnixMilli())}
			}
			a.args = func(string, string) []string {
				return []string{"--provider", "openai-codex", "--model", "gpt-5.5", "-p", task}
			}
			upstream = []string{"chatgpt", "/backend-api/codex", "openai"}
		default:
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			const parts = 24
			sim := a.simulator(t, 48_000, parts, 12)
			dir := t.TempDir()
			store := filepath.Join(dir, "plans.db")
			out, err := a.work(t, dir, "", winnow, "wrap", "--store", store, "--window", "48000",
				"--upstream", upstream[0]+"="+sim.url+upstream[1], "--upstream", upstream[2]+"=http://127.0.0.1:9")
			if err != nil {
				t.Errorf("%v\n%s", err, tail(out))
			}
			a.whole(t, dir, only(t, accounts(t, sim.url)), parts, out)
			m := wrapped.FindStringSubmatch(out)
			if m == nil || m[2] == "0" {
				t.Fatalf("no plan was made:\n%s", tail(out))
			}
			fmt.Printf("%s, signed in with an account: %s\n", a.name, m[0])
			if found := keyIn(t, "e2e-gemini-4711", store); len(found) > 0 {
				t.Errorf("the token stands in %v", found)
			}
		})
	}
}

// chatGPTToken is an access token of an account that nobody has.
func chatGPTToken(t *testing.T) string {
	t.Helper()
	claims, err := json.Marshal(map[string]any{
		"exp": time.Now().Add(9 * 24 * time.Hour).Unix(), "email": "nobody@example.com",
		"https://api.openai.com/auth": map[string]string{"chatgpt_plan_type": "pro", "chatgpt_account_id": "account-1", "chatgpt_user_id": "user-1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	part := base64.RawURLEncoding.EncodeToString
	return strings.Join([]string{part([]byte(`{"alg":"none"}`)), part(claims), "signature"}, ".")
}

// chatGPTLogin is what `codex login` writes for that account.
func chatGPTLogin(t *testing.T) string {
	t.Helper()
	token := chatGPTToken(t)
	login, err := json.Marshal(map[string]any{
		"auth_mode": "chatgpt", "OPENAI_API_KEY": nil, "last_refresh": time.Now().UTC().Format(time.RFC3339),
		"tokens": map[string]string{"id_token": token, "access_token": token, "refresh_token": "r", "account_id": "account-1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(login)
}
