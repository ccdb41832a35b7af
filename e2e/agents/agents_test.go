package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// agent is a coding agent: where it comes from and how it is run without a
// person. An empty gateway means that something else points it there, as winnow
// wrap does.
type agent struct {
	name, pkg, version string
	bin                string
	node               string // the version of Node that it needs, where that is newer than what people have
	fixed              int    // tokens of its own prompt and tools, about
	model              string // that the simulator is
	large              string // the same one with a larger window, as it calls it
	key                string
	npm                []string // what npm must be told beside the package
	program            string   // where it is installed
	cuts               bool     // it cuts the middle out of what commands print, by itself
	pause              string   // how long commands wait before they end: it loses what is printed just before

	// files are its settings, by their path below its home folder.
	files func(gateway string) map[string]string
	env   func(gateway string) []string
	args  func(gateway, home string) []string
	login []string // arguments that tell it its key, which it reads from its input
}

// task is what every agent is asked to do. What it does then is the simulator's.
const task = "Do the work, part after part, until all of it is done."

// all are the agents, in the versions that were tried.
var all = []agent{
	{
		name: "codex", pkg: "@openai/codex", version: "0.166.0", bin: "codex", fixed: 15_000, model: "gpt-5.5", key: "sk-e2e-codex-4711",
		login: []string{"login", "--with-api-key"},
		args: func(gateway, _ string) []string {
			args := []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", task}
			if gateway != "" {
				args = append([]string{"-c", fmt.Sprintf("openai_base_url=%q", gateway+"/v1")}, args...)
			}
			return args
		},
	},
	{
		name: "gemini", pkg: "@google/gemini-cli", version: "0.61.0", bin: "gemini", fixed: 9_000, model: "gemini-3.1-pro-preview", key: "e2e-gemini-4711",
		files: func(gateway string) map[string]string {
			return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}` +
				unlessWrapped(gateway, `,"model":{"compressionThreshold":1}`) + `}`}
		},
		env: func(gateway string) []string {
			return pointed(gateway, "GOOGLE_GEMINI_BASE_URL="+gateway, "GEMINI_API_KEY=e2e-gemini-4711")
		},
		args: func(string, string) []string {
			return []string{"--skip-trust", "--yolo", "-m", "gemini-3.1-pro-preview", "-p", task}
		},
	},
	{
		name: "opencode", pkg: "opencode-ai", version: "1.18.33", bin: "opencode", fixed: 10_000, model: "claude-opus-4-5", key: "sk-ant-e2e-opencode-4711",
		env:  func(gateway string) []string { return opencode("OPENCODE", "sk-ant-e2e-opencode-4711", gateway) },
		args: func(string, string) []string { return []string{"run", "-m", "anthropic/claude-opus-4-5", task} },
	},
	{
		name: "pi", pkg: "@earendil-works/pi-coding-agent", version: "0.87.1", bin: "pi", node: "22.23.3", fixed: 2_000, model: "claude-opus-4-5", key: "sk-ant-e2e-pi-4711",
		files: func(gateway string) map[string]string {
			if gateway == "" {
				return nil
			}
			return map[string]string{".pi/agent/models.json": fmt.Sprintf(`{"providers":{"anthropic":{"baseUrl":%q}}}`, gateway)}
		},
		env: func(string) []string { return []string{"ANTHROPIC_API_KEY=sk-ant-e2e-pi-4711", "PI_OFFLINE=1"} },
		args: func(string, string) []string {
			return []string{"--provider", "anthropic", "--model", "claude-opus-4-5", "--thinking", "high", "-p", task}
		},
	},
	{
		name: "qwen", pkg: "@qwen-code/qwen-code", version: "0.24.4", bin: "qwen", node: "22.23.3", fixed: 14_000, model: "qwen3-coder-plus", key: "sk-e2e-qwen-4711", pause: "1s",
		files: func(gateway string) map[string]string {
			return map[string]string{".qwen/settings.json": `{"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}` +
				unlessWrapped(gateway, `,"model":{"chatCompression":{"contextPercentageThreshold":1}}`) + `}`}
		},
		env: func(gateway string) []string {
			return pointed(gateway, "OPENAI_BASE_URL="+gateway+"/v1", "OPENAI_API_KEY=sk-e2e-qwen-4711")
		},
		args: func(string, string) []string {
			return []string{"--auth-type", "openai", "--model", "qwen3-coder-plus", "--yolo", "-p", task}
		},
	},
	{
		name: "continue", pkg: "@continuedev/cli", version: "1.5.47", bin: "cn", fixed: 5_000, model: "gpt-4.1", key: "sk-e2e-continue-4711",
		files: func(gateway string) map[string]string {
			config := "name: e2e\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: m\n    provider: openai\n    model: gpt-4.1\n    apiKey: sk-e2e-continue-4711\n    roles: [chat]\n"
			if gateway != "" {
				config += "    apiBase: " + gateway + "/v1/\n    defaultCompletionOptions: {contextLength: 100000000}\n"
			}
			return map[string]string{".continue/config.yaml": config}
		},
		env: func(string) []string { return []string{"CONTINUE_TELEMETRY_ENABLED=0"} },
		args: func(gateway, home string) []string {
			return []string{"--config", filepath.Join(home, ".continue", "config.yaml"), "--auto", "-p", task}
		},
	},
	{
		name: "cline", pkg: "cline", version: "3.0.65", bin: "cline", fixed: 6_000, model: "gpt-4.1", key: "sk-e2e-cline-4711", cuts: true,
		files: func(gateway string) map[string]string {
			base := ""
			if gateway != "" {
				base = fmt.Sprintf(`,"baseUrl":%q`, gateway+"/v1")
			}
			return map[string]string{".cline/data/settings/providers.json": `{"version":1,"lastUsedProvider":"openai-native","modes":{},"providers":{"openai-native":{"settings":{"provider":"openai-native","apiKey":"sk-e2e-cline-4711","model":"gpt-4.1"` + base + `},"updatedAt":"2026-11-01T00:00:00.000Z","tokenSource":"manual"}}}`}
		},
		env: func(string) []string { return []string{"CLINE_SESSION_BACKEND_MODE=local", "CLINE_NO_AUTO_UPDATE=1"} },
		args: func(gateway, _ string) []string {
			args := []string{"--json", task}
			if gateway != "" {
				args = append([]string{"--compaction", "off"}, args...)
			}
			return args
		},
	},
	{
		name: "kilo", pkg: "@kilocode/cli", version: "7.7.7", bin: "kilo", fixed: 14_000, model: "claude-opus-4-5", key: "sk-ant-e2e-kilo-4711",
		env: func(gateway string) []string { return opencode("KILO", "sk-ant-e2e-kilo-4711", gateway) },
		args: func(string, string) []string {
			return []string{"run", "--auto", "-m", "anthropic/claude-opus-4-5", task}
		},
	},
	{
		name: "dsh", pkg: "@deepseek-ai/dsh", version: "0.1.0-rc.8", bin: "dsh", node: "22.23.2", fixed: 12_000, model: "deepseek-v4-pro", key: "sk-e2e-dsh-4711",
		npm: dshPackages(),
		env: func(gateway string) []string {
			return pointed(gateway, "DEEPSEEK_BASE_URL="+gateway+"/v1", "DEEPSEEK_API_KEY=sk-e2e-dsh-4711")
		},
		args: func(string, string) []string { return []string{"--profile", "headless", task} },
	},
	// Claude Code and Copilot CLI are not open source: they are installed where somebody
	// asks for them by name, and nothing of them is kept. See the script claude.
	{
		name: "copilot", pkg: "@github/copilot", version: "1.0.102", bin: "copilot", node: "22.23.3", fixed: 13_000, model: "claude-opus-4-5", key: "sk-ant-e2e-copilot-4711",
		env: func(gateway string) []string {
			env := pointed(gateway, "COPILOT_PROVIDER_BASE_URL="+gateway, "COPILOT_PROVIDER_API_KEY=sk-ant-e2e-copilot-4711", "COPILOT_PROVIDER_TYPE=anthropic",
				"COPILOT_MODEL=claude-opus-4-5", "COPILOT_OFFLINE=true")
			if gateway != "" {
				env = append(env, "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=100000000")
			}
			return env
		},
		args: func(string, string) []string { return []string{"--allow-all", "-p", task} },
	},
	{
		name: "claude", pkg: "@anthropic-ai/claude-code", version: "2.1.325", bin: "claude", node: "22.23.3", fixed: 28_500, model: "claude-opus-4-5", large: "claude-opus-4-5[1m]", key: "sk-ant-e2e-claude-4711",
		env: func(gateway string) []string {
			env := pointed(gateway, "ANTHROPIC_BASE_URL="+gateway, "ANTHROPIC_API_KEY=sk-ant-e2e-claude-4711", "IS_SANDBOX=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
			if gateway != "" {
				env = append(env, "DISABLE_AUTO_COMPACT=1", "ENABLE_TOOL_SEARCH=true")
			}
			return env
		},
		args: func(string, string) []string {
			return []string{"-p", task, "--model", "claude-opus-4-5", "--dangerously-skip-permissions", "--output-format", "stream-json", "--verbose"}
		},
	},
}

// dshPackages are what DeepSeek Harness needs and does not name, or names as a peer: npm
// does not come to an end with those. Its other packages are taken as they were on the
// day of the release, since newer ones do not go with it.
func dshPackages() []string {
	args := []string{"--before=2026-08-25", "--legacy-peer-deps", "@deepseek-ai/cordis-plugin-group@1.0.1"}
	for _, name := range strings.Fields("anonymous-user-id atomic-write bash-local code-runtime compaction fs invariants output-retention sandbox scope " +
		"session-telemetry session-title-llm shell spill subagent-in-process-driver timeout workflow") {
		args = append(args, "@deepseek-ai/dsh-"+name+"@0.1.0-rc.8")
	}
	return args
}

// pointed is a base URL where there is one, and the other variables.
func pointed(gateway, base string, others ...string) []string {
	if gateway == "" {
		return others
	}
	return append(others, base)
}

// unlessWrapped is a setting that keeps an agent's own compaction out of the way,
// which wrap does by itself.
func unlessWrapped(gateway, setting string) string {
	if gateway == "" {
		return ""
	}
	return setting
}

// opencode are the variables of opencode and Kilo.
func opencode(prefix, key, gateway string) []string {
	// Without pictures of the work folder, which it makes by git at every step, and
	// without language servers, which it starts for every file that it reads.
	config := `{"permission":"allow","snapshot":false,"lsp":false}`
	env := []string{"ANTHROPIC_API_KEY=" + key, prefix + "_DISABLE_AUTOUPDATE=1"}
	if gateway != "" {
		config = fmt.Sprintf(`{"permission":"allow","snapshot":false,"lsp":false,"compaction":{"auto":false,"prune":false},"provider":{"anthropic":{"options":{"baseURL":%q}}}}`, gateway+"/v1")
	}
	return append(env, prefix+"_CONFIG_CONTENT="+config)
}

// install puts an agent's package into a folder that is kept between runs, and
// returns its program.
func (a agent) install(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("WINNOW_AGENTS_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		dir = filepath.Join(cache, "winnow-e2e-agents")
	}
	dir = filepath.Join(dir, a.name+"-"+a.version)
	program := filepath.Join(dir, "node_modules", ".bin", a.bin)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	packages := append([]string{a.pkg + "@" + a.version}, a.npm...)
	if a.node != "" {
		packages = append(packages, "node@"+a.node)
	}
	npm := exec.Command("npm", append([]string{"install", "--no-audit", "--no-fund", "--loglevel=error"}, packages...)...)
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("%s@%s cannot be installed: %v\n%s", a.pkg, a.version, err, out)
	}
	return program
}
