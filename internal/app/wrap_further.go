package app

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
)

// further are providers beside OpenAI, Anthropic and Google, by the names that agents
// have for them, and where they are. An agent that lets the address be set asks the
// gateway under /NAME/v1, which has an upstream of that name.
var further = map[string]string{
	"cerebras": "https://api.cerebras.ai/v1", "deepseek": "https://api.deepseek.com/v1", "groq": "https://api.groq.com/openai/v1",
	"openrouter": "https://openrouter.ai/api/v1", "xai": "https://api.x.ai/v1",
}

// pointFurther gives the gateway an upstream for a further provider, and returns
// the address for the agent.
func (p *pointing) pointFurther(name string) string {
	p.ownAddress(name, further[name])
	return p.url + "/" + name + "/v1"
}

// readLogins returns the accounts and keys that an agent keeps in a file, each with
// its kind: "api" for a key, "oauth" for a plan.
func readLogins(path string) map[string]string {
	var doc map[string]struct{ Type string }
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &doc) != nil {
		return nil // the agent complains about it
	}
	out := make(map[string]string, len(doc))
	for name, login := range doc {
		out[name] = login.Type
	}
	return out
}

// furtherOf returns the further providers for which the user has a key, in a file
// of logins or in the environment, and says which logins bypass the gateway: those
// of providers whose address the agent does not let anybody set, and those that
// past names, with the kind "oauth".
func (p *pointing) furtherOf(file string, past ...string) []string {
	has := readLogins(file)
	var found []string
	for _, name := range slices.Sorted(maps.Keys(further)) {
		if has[name] != "" || p.app.getenv(strings.ToUpper(name)+"_API_KEY") != "" {
			found = append(found, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		own := slices.Contains([]string{"openai", "anthropic", "google", "openai-codex"}, name) || further[name] != ""
		if !own || has[name] == "oauth" && slices.Contains(past, name) {
			p.note("its login %s bypasses the gateway: the address of that provider is its own", name)
		}
	}
	return found
}

// pointCopilot points Copilot CLI at the gateway where the user has a provider of
// their own. What a GitHub plan pays for goes to GitHub, and no setting moves it.
func pointCopilot(p *pointing) error {
	if p.firstArgIs("help", "login", "logout", "update", "version", "mcp", "plugin", "completion") {
		return nil
	}
	own := false
	for _, name := range []string{"BASE_URL", "API_KEY", "API_KEY_COMMAND", "BEARER_TOKEN"} {
		own = own || p.app.getenv("COPILOT_PROVIDER_"+name) != ""
	}
	if !own {
		return refuseAgent(&p.known, "with a GitHub plan its requests go to GitHub, and no setting moves them")
	}
	api, base := p.baseURL(p.app.getenv("COPILOT_PROVIDER_TYPE"))
	switch kind := p.app.getenv("COPILOT_PROVIDER_TYPE"); {
	case kind == "":
		api, base = p.baseURL("openai")
	case api == "":
		return refuseAgent(&p.known, "COPILOT_PROVIDER_TYPE is "+kind+", whose requests it cannot send through a gateway")
	}
	p.ownAddress(api, p.app.getenv("COPILOT_PROVIDER_BASE_URL"))
	p.setEnv("COPILOT_PROVIDER_BASE_URL", base)
	p.setEnv("COPILOT_PROVIDER_TRANSPORT", "http")
	// It compacts at 80 % of the prompt that it believes in, by its own count.
	p.setUnless("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "100000000")
	p.off = p.app.getenv("COPILOT_PROVIDER_MAX_PROMPT_TOKENS") == ""
	return nil
}

// pointDsh points DeepSeek's harness, which knows one provider by itself.
func pointDsh(p *pointing) error {
	p.ownAddress("deepseek", p.app.getenv("DEEPSEEK_BASE_URL"))
	p.setEnv("DEEPSEEK_BASE_URL", p.pointFurther("deepseek"))
	return nil
}
