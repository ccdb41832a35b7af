package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/app/show"
)

// pointFuncs say what is done to an agent before it is started, beside the variables
// that every program gets.
var pointFuncs = map[string]func(*pointing) error{
	"claude": pointClaude, "codex": pointCodex, "gemini": pointGemini, "qwen": pointQwen, "pi": pointPi,
	"continue": pointContinue, "cline": pointCline, "copilot": pointCopilot, "dsh": pointDsh,
	"opencode": func(p *pointing) error { return pointOpencode(p, "OPENCODE") },
	"kilo":     func(p *pointing) error { return pointOpencode(p, "KILO") },
}

// settingLines returns an agent's settings with the address that winnow serve has.
func settingLines(k *table.Agent) string {
	return strings.ReplaceAll(k.Settings, "GATEWAY", defaultGateway)
}

// agentHelp returns the settings of all agents that can be pointed at a gateway,
// for the help.
func agentHelp() string {
	var b strings.Builder
	for _, k := range table.All() {
		if k.Refused != "" {
			continue
		}
		name := k.Title
		for line := range strings.SplitSeq(strings.ReplaceAll(k.Settings, "GATEWAY", "http://127.0.0.1:PORT"), "\n") {
			for _, part := range show.Wrap(line, 67) {
				fmt.Fprintf(&b, "  %-14s %s\n", name, part)
				name = ""
			}
		}
	}
	return b.String()
}

// refusedAgent is the error for an agent that wrap cannot start. The lines for its
// settings stand below the error's own, each as it is to be written.
type refusedAgent struct{ title, why, settings string }

// Error says why.
func (r *refusedAgent) Error() string {
	return fmt.Sprintf("%s cannot be wrapped: %s; start winnow serve, and put into its settings what follows", r.title, r.why)
}

// refuseAgent makes the error for an agent that wrap cannot start.
func refuseAgent(k *table.Agent, why string) error {
	return &refusedAgent{k.Title, why, settingLines(k)}
}

// indent puts two blanks in front of every line.
func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// listAgents prints what wrap knows.
func (a *app) listAgents(cmd *cobra.Command) error {
	all := table.All()
	if a.asJSON {
		return a.printJSON(map[string]any{"agents": all})
	}
	out := cmd.OutOrStdout()
	for i := range all {
		k := &all[i]
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s  (%s)\n", k.Name, k.Title)
		if k.Refused != "" {
			fmt.Fprintf(out, "  cannot be wrapped: %s\n", k.Refused)
		} else {
			fmt.Fprintf(out, "  pointed by  %s\n  window      %s\n  compaction  %s\n", k.Pointed, k.Window, k.Compaction)
		}
		fmt.Fprintf(out, "  by hand     %s\n", strings.ReplaceAll(settingLines(k), "\n", "\n              "))
	}
	fmt.Fprint(out, "\nAny other program gets the variables that most agents read: OPENAI_BASE_URL,\nOPENAI_API_BASE, ANTHROPIC_BASE_URL, ANTHROPIC_API_BASE and GOOGLE_GEMINI_BASE_URL.\n")
	return nil
}

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
