package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/agents/table"
	"go.yaml.in/yaml/v3"
)

// pointing is an agent that is about to be started: its arguments and variables,
// which the functions of this file change so that it talks to a gateway. Nothing
// of the user's is written. What has to be a file is a copy in a folder that goes
// when the agent ends.
type pointing struct {
	app     *app
	url     string   // of the gateway, without a slash at its end
	dirs    []string // for files; they go when the agent ends
	home    string
	known   table.Agent // zero where nothing is known of the program
	program string
	args    []string
	env     []string
	off     bool // its own compaction is switched off, or out of reach

	upstreams map[string]string // the addresses in the user's own settings, by the API's name

	notes []string // what the user should know before the agent starts
}

func (p *pointing) setEnv(name, value string) { p.env = append(p.env, name+"="+value) }

// setUnless sets a variable that the user has not set.
func (p *pointing) setUnless(name, value string) {
	if p.app.getenv(name) == "" {
		p.setEnv(name, value)
	}
}

// switchOn sets a switch that the user has not set, and reports whether it is on.
func (p *pointing) switchOn(name string) bool {
	p.setUnless(name, "1")
	v := p.app.getenv(name)
	return v == "" || v == "1" || strings.EqualFold(v, "true")
}

func (p *pointing) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// writePrivate makes a file that only its owner can read: copies of settings have keys
// in them.
func (p *pointing) writePrivate(name string, data []byte) (string, error) {
	path := filepath.Join(p.dirs[0], name)
	return path, os.WriteFile(path, data, 0o600)
}

// flagValue returns the value of an argument of the agent's, and where it stands.
func (p *pointing) flagValue(name string) (value string, at int) {
	for i, arg := range p.args {
		if v, ok := strings.CutPrefix(arg, name+"="); ok {
			return v, i
		}
		if arg == name && i+1 < len(p.args) {
			return p.args[i+1], i
		}
	}
	return "", -1
}

// firstArgIs reports whether the agent's first argument is one of its commands that
// talk to no model.
func (p *pointing) firstArgIs(names ...string) bool {
	return len(p.args) > 0 && slices.Contains(names, p.args[0])
}

func pointClaude(p *pointing) error {
	if p.app.getenv("ANTHROPIC_BASE_URL") == "" {
		// It takes another address for a provider that cannot search for tools, and
		// sends all of them with every request. What it sends passes, so it can.
		p.setUnless("ENABLE_TOOL_SEARCH", "true")
	}
	p.off = p.switchOn("DISABLE_AUTO_COMPACT")
	for _, v := range []string{"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		if p.app.getenv(v) != "" {
			p.note("%s is set: its requests bypass the gateway", v)
		}
	}
	return nil
}

func pointCodex(p *pointing) error {
	exec := p.firstArgIs("exec", "e")
	p.args = append([]string{"-c", fmt.Sprintf("openai_base_url=%q", p.url+"/v1")}, p.args...)
	home := cmp.Or(p.app.getenv("CODEX_HOME"), filepath.Join(p.home, ".codex"))
	settings := filepath.Join(home, "config.toml")
	text, _ := os.ReadFile(settings) // the agent complains about it
	if exec && p.app.getenv("RUST_LOG") == "" && !strings.Contains(string(text), "shell_environment_policy") {
		// It asks for a WebSocket first, and reports the refusal as an error before it
		// goes on over HTTP, where every request holds the whole conversation. Programs
		// that it runs must not see the variable that silences this.
		p.setEnv("RUST_LOG", "error,codex_api::endpoint::responses_websocket=off")
		p.args = append([]string{"-c", `shell_environment_policy.exclude=["RUST_LOG"]`}, p.args...)
	}
	if readSetting(settings, "model_provider") != "" {
		p.note("its config.toml names another model_provider, whose requests bypass the gateway; set the base_url of that provider to %s/v1", p.url)
	}
	return nil
}

// geminiSettings is what winnow reads of the user's settings of Gemini CLI.
type geminiSettings struct {
	Security struct {
		Auth struct{ SelectedType string }
	}
	Model struct{ CompressionThreshold float64 }
}

func pointGemini(p *pointing) error {
	var settings geminiSettings
	if data, err := os.ReadFile(filepath.Join(p.home, ".gemini", "settings.json")); err == nil {
		_ = json.Unmarshal(data, &settings) // the agent complains about it
	}
	// With a Google account its requests go to another place, under a variable of
	// their own: it obeys the one of the two that belongs to its login.
	p.ownAddress("code-assist", p.app.getenv("CODE_ASSIST_ENDPOINT"))
	p.setEnv("CODE_ASSIST_ENDPOINT", p.url)
	switch login := settings.Security.Auth.SelectedType; {
	case login == "vertex-ai" || login == "" && p.app.getenv("GOOGLE_GENAI_USE_VERTEXAI") == "true":
		p.note("it is signed in with Vertex AI, so its requests bypass the gateway; use a Google account or a key (/auth)")
	case strings.HasPrefix(login, "oauth") || login == "" && p.app.getenv("GOOGLE_GENAI_USE_GCA") == "true":
		p.note("it is signed in with a Google account: its requests go through the gateway to the upstream code-assist")
	}
	at := settings.Model.CompressionThreshold
	if p.off = at >= 1; at == 0 {
		p.note("its own compaction stays at half of its window; to raise the point at which it compacts by itself, write {\"model\": {\"compressionThreshold\": 1}} into ~/.gemini/settings.json")
	}
	return nil
}

func pointQwen(p *pointing) error {
	// Everything else in its settings overrides the system's defaults.
	const variable = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
	defaults := map[string]any{"model": map[string]any{"chatCompression": map[string]any{"contextPercentageThreshold": 1}}}
	path := cmp.Or(p.app.getenv(variable), "/etc/qwen-code/system-defaults.json")
	doc := make(map[string]any)
	if there, err := os.ReadFile(path); err == nil {
		if !json.Valid(there) {
			return nil // it has comments, perhaps: it stays as it is
		}
		_ = json.Unmarshal(there, &doc) // what is no object sets nothing
	}
	data, err := json.Marshal(mergeObjects(defaults, doc))
	if err != nil {
		return err
	}
	file, err := p.writePrivate("system-defaults.json", data)
	p.setEnv(variable, file)
	return err
}

// mergeObjects returns base with over laid over it, member by member.
func mergeObjects(base, over map[string]any) map[string]any {
	out := make(map[string]any, len(base)+len(over))
	maps.Copy(out, base)
	for k, v := range over {
		inner, ok := v.(map[string]any)
		was, is := out[k].(map[string]any)
		if ok && is {
			v = mergeObjects(was, inner)
		}
		out[k] = v
	}
	return out
}

// pointOpencode points opencode and Kilo, which was made from it. Their base
// URLs end in the API's version.
func pointOpencode(p *pointing, prefix string) error {
	at := func(suffix string) any {
		return map[string]any{"options": map[string]any{"baseURL": p.url + suffix}}
	}
	providers := map[string]any{"openai": at("/v1"), "anthropic": at("/v1"), "google": at("/v1beta")}
	data := cmp.Or(p.app.getenv("XDG_DATA_HOME"), filepath.Join(p.home, ".local", "share"))
	for _, name := range p.furtherOf(filepath.Join(data, strings.ToLower(prefix), "auth.json"), "openai") {
		providers[name] = map[string]any{"options": map[string]any{"baseURL": p.pointFurther(name)}}
	}
	doc := map[string]any{"provider": providers}
	name := prefix + "_CONFIG_CONTENT"
	if text := p.app.getenv(name); text != "" {
		var own map[string]any
		if err := json.Unmarshal([]byte(text), &own); err != nil {
			return fmt.Errorf("%s is not JSON: %w; fix it, or unset it", name, err)
		}
		doc = mergeObjects(own, doc)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	p.setEnv(name, string(text))
	p.off = p.switchOn(prefix + "_DISABLE_AUTOCOMPACT")
	p.setUnless(prefix+"_DISABLE_PRUNE", "1")
	return nil
}

// piExtension points pi's providers; an extension is the one way that leaves its
// folder alone.
const piExtension = `// Written by winnow wrap for one run of pi.
export default function (pi) {
  for (const [name, baseUrl] of Object.entries(PROVIDERS)) pi.registerProvider(name, { baseUrl });
}
`

func pointPi(p *pointing) error {
	if p.firstArgIs("install", "remove", "uninstall", "update", "list", "config") {
		return nil
	}
	bases := map[string]string{"anthropic": p.url, "openai": p.url + "/v1", "openai-codex": p.url + "/backend-api", "google": p.url + "/v1beta"}
	folder := cmp.Or(p.app.getenv("PI_CODING_AGENT_DIR"), filepath.Join(p.home, ".pi", "agent"))
	for _, name := range p.furtherOf(filepath.Join(folder, "auth.json")) {
		bases[name] = p.pointFurther(name)
	}
	providers, err := json.Marshal(bases)
	if err != nil {
		return err
	}
	file, err := p.writePrivate("winnow.js", []byte(strings.Replace(piExtension, "PROVIDERS", string(providers), 1)))
	p.args = append([]string{"-e", file}, p.args...)
	return err
}

// ownAddress takes note of an address that the user's settings have for an API:
// the gateway sends there. It reports false where another one is taken already.
func (p *pointing) ownAddress(api, address string) bool {
	u, err := url.Parse(address)
	if address == "" || err != nil || u.Host == "" {
		return true
	}
	address = strings.TrimRight(address, "/")
	if was, ok := p.upstreams[api]; ok && was != address {
		return false
	}
	p.upstreams[api] = address
	return true
}

// baseURL returns the base URL for an API, by the names that agents have for it.
func (p *pointing) baseURL(provider string) (api, base string) {
	switch provider {
	case "openai", "openai-native", "openai-compatible":
		return "openai", p.url + "/v1"
	case "anthropic":
		return "anthropic", p.url
	case "gemini", "google":
		return "gemini", p.url
	}
	return "", ""
}

// pointEntry puts the gateway's address for a provider, with the API's suffix, into an
// entry of a copy of the agent's settings. It reports false, and the user is told, where
// the requests bypass the gateway.
func (p *pointing) pointEntry(entry map[string]any, member, provider, what string, suffixes map[string]string) bool {
	own, _ := entry[member].(string)
	api, _ := p.baseURL(provider)
	switch {
	case api == "":
		p.note("its %s bypasses the gateway: the provider is %s", what, provider)
	case !p.ownAddress(api, own):
		p.note("its %s bypasses the gateway: it has its own address, %s", what, own)
	default:
		entry[member] = p.url + suffixes[api]
		return true
	}
	return false
}

func pointContinue(p *pointing) error {
	path, at := p.flagValue("--config")
	path = cmp.Or(path, filepath.Join(p.home, ".continue", "config.yaml"))
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return refuseAgent(&p.known, "its settings are not in a file: there is no "+path)
	}
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	models, _ := doc["models"].([]any)
	for _, m := range models {
		one, _ := m.(map[string]any)
		provider, _ := one["provider"].(string)
		suffixes := map[string]string{"openai": "/v1/", "anthropic": "/v1/", "gemini": "/v1beta/"}
		if p.pointEntry(one, "apiBase", provider, fmt.Sprintf("model %v", one["name"]), suffixes) {
			raiseContinue(one)
		}
	}
	out, err := yaml.Marshal(doc)
	if err != nil {
		return err
	}
	file, err := p.writePrivate("continue.yaml", out)
	if err != nil {
		return err
	}
	if at >= 0 {
		end := at + 2
		if strings.HasPrefix(p.args[at], "--config=") {
			end = at + 1
		}
		p.args = slices.Delete(slices.Clone(p.args), at, end)
	}
	p.args = append([]string{"--config", file}, p.args...)
	return nil
}

// raiseContinue puts Continue's own compaction out of reach. It counts the
// history that it holds, not what providers report, and would compact however
// little is sent.
func raiseContinue(model map[string]any) {
	options, _ := model["defaultCompletionOptions"].(map[string]any)
	if options == nil {
		options = map[string]any{}
		model["defaultCompletionOptions"] = options
	}
	options["contextLength"] = 100_000_000
}

func pointCline(p *pointing) error {
	if p.firstArgIs("auth", "config", "plugin", "skill", "connect", "mcp", "doctor", "history", "h", "hook", "schedule", "hub", "dashboard", "update", "version") {
		return nil
	}
	path := cmp.Or(p.app.getenv("CLINE_PROVIDER_SETTINGS_PATH"), filepath.Join(p.home, ".cline", "data", "settings", "providers.json"))
	data, err := os.ReadFile(path)
	if err != nil {
		return refuseAgent(&p.known, "it has no provider yet, and there is no "+path)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	providers, _ := doc["providers"].(map[string]any)
	pointed := 0
	for name, v := range providers {
		one, _ := v.(map[string]any)
		settings, _ := one["settings"].(map[string]any)
		suffixes := map[string]string{"openai": "/v1", "anthropic": "/v1", "gemini": ""}
		if settings != nil && p.pointEntry(settings, "baseUrl", name, "provider "+name, suffixes) {
			pointed++
		}
	}
	if pointed == 0 {
		return refuseAgent(&p.known, "none of its providers is OpenAI, Anthropic or Gemini with a key")
	}
	if data, err = json.Marshal(doc); err != nil {
		return err
	}
	file, err := p.writePrivate("providers.json", data)
	if err != nil {
		return err
	}
	p.setEnv("CLINE_PROVIDER_SETTINGS_PATH", file)
	// A hub that runs already has settings of its own.
	p.setEnv("CLINE_SESSION_BACKEND_MODE", "local")
	if v, at := p.flagValue("--compaction"); at < 0 {
		p.args = append([]string{"--compaction", "off"}, p.args...)
	} else {
		p.off = v == "off"
	}
	return nil
}
