package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// knownAgent is what wrap knows of an agent: how it is pointed at a gateway, the
// window that it works in, and how its own compaction is kept out of the way.
type knownAgent struct {
	Name  string `json:"name"` // of its program
	Title string `json:"title"`

	Pointed    string `json:"pointed"`
	Window     string `json:"window"`
	Compaction string `json:"compaction"`

	// Settings are lines for its settings, for those who start a gateway
	// themselves. GATEWAY stands for its address.
	Settings string `json:"settings"`

	// Refused says why wrap cannot start it; the settings are all there is then.
	Refused string `json:"refused,omitempty"`

	point func(*pointing) error
}

// knownAgents are the agents that wrap knows. e2e/agents runs each of those that
// are pointed; docs/agents has a page for each.
func knownAgents() []knownAgent {
	return []knownAgent{
		{
			Name: "claude", Title: "Claude Code", Pointed: "ANTHROPIC_BASE_URL",
			Window:     "200,000 tokens, or a million if the name of its model ends in [1m]",
			Compaction: "switched off by DISABLE_AUTO_COMPACT",
			Settings:   "ANTHROPIC_BASE_URL=GATEWAY ENABLE_TOOL_SEARCH=true DISABLE_AUTO_COMPACT=1 claude",
			point:      pointClaude,
		},
		{
			Name: "codex", Title: "Codex", Pointed: "-c openai_base_url",
			Window:     "95 % of the input that it allows its model, 258,400 tokens for most",
			Compaction: "forestalled: the gateway compacts before Codex does",
			Settings:   `codex -c openai_base_url='"GATEWAY/v1"'`,
			point:      pointCodex,
		},
		{
			Name: "gemini", Title: "Gemini CLI", Pointed: "GOOGLE_GEMINI_BASE_URL",
			Window:     "its model's",
			Compaction: "raised to the whole window, by system defaults, unless its settings say otherwise",
			Settings:   "GOOGLE_GEMINI_BASE_URL=GATEWAY gemini\n~/.gemini/settings.json: {\"model\": {\"compressionThreshold\": 1}}",
			point:      pointGemini,
		},
		{
			Name: "opencode", Title: "opencode", Pointed: "baseURL of its providers, by OPENCODE_CONFIG_CONTENT",
			Window:     "its model's",
			Compaction: "switched off by OPENCODE_DISABLE_AUTOCOMPACT and OPENCODE_DISABLE_PRUNE",
			Settings:   "opencode.json: {\"provider\": {\"anthropic\": {\"options\": {\"baseURL\": \"GATEWAY/v1\"}}}, \"compaction\": {\"auto\": false, \"prune\": false}}",
			point:      func(p *pointing) error { return pointOpencode(p, "OPENCODE") },
		},
		{
			Name: "pi", Title: "pi", Pointed: "baseUrl of its providers, by an extension (-e)",
			Window:     "its model's",
			Compaction: "forestalled: pi goes by what providers report, and compacts 16,384 tokens before the end of the window",
			Settings:   "~/.pi/agent/models.json: {\"providers\": {\"anthropic\": {\"baseUrl\": \"GATEWAY\"}, \"openai\": {\"baseUrl\": \"GATEWAY/v1\"}}}",
			point:      pointPi,
		},
		{
			Name: "qwen", Title: "Qwen Code", Pointed: "OPENAI_BASE_URL",
			Window:     "its model's",
			Compaction: "raised to the whole window, by system defaults, unless its settings say otherwise",
			Settings:   "OPENAI_BASE_URL=GATEWAY/v1 qwen\n~/.qwen/settings.json: {\"model\": {\"chatCompression\": {\"contextPercentageThreshold\": 1}}}",
			point:      pointQwen,
		},
		{
			Name: "cn", Title: "Continue", Pointed: "apiBase of the models, in a copy of its config file",
			Window:     "its model's",
			Compaction: "put out of reach: contextLength is raised in the copy, since cn counts its own history",
			Settings:   "config.yaml, for each model: apiBase: GATEWAY/v1/\nand below it defaultCompletionOptions: {contextLength: 100000000, maxTokens: 64000}",
			point:      pointContinue,
		},
		{
			Name: "cline", Title: "Cline", Pointed: "baseUrl of its providers, in a copy of its provider settings",
			Window:     "its model's",
			Compaction: "switched off by --compaction off",
			Settings:   "cline auth -p openai-native -k KEY -m MODEL -b GATEWAY/v1\ncline --compaction off",
			point:      pointCline,
		},
		{
			Name: "kilo", Title: "Kilo", Pointed: "baseURL of its providers, by KILO_CONFIG_CONTENT",
			Window:     "its model's",
			Compaction: "switched off by KILO_DISABLE_AUTOCOMPACT and KILO_DISABLE_PRUNE",
			Settings:   "kilo.json: {\"provider\": {\"anthropic\": {\"options\": {\"baseURL\": \"GATEWAY/v1\"}}}, \"compaction\": {\"auto\": false, \"prune\": false}}",
			point:      func(p *pointing) error { return pointOpencode(p, "KILO") },
		},
		{
			Name: "cursor", Title: "Cursor", Refused: "its own servers send the requests, so the gateway must be reachable from the internet",
			Settings: "winnow serve --listen 0.0.0.0:8484 --keys FILE --tls-cert FILE --tls-key FILE\nCursor settings, Models, Override OpenAI Base URL: https://YOUR-HOST:8484/v1",
		},
		{
			Name: "crush", Title: "Crush", Refused: "it reads the address of a provider only from its config file",
			Settings: "crush.json: {\"providers\": {\"anthropic\": {\"base_url\": \"GATEWAY\"}, \"openai\": {\"base_url\": \"GATEWAY/v1\"}}}",
		},
		{
			Name: "code", Title: "agents in VS Code (Cline, Roo, Kilo, Continue)", Refused: "they run inside the editor, with settings of their own",
			Settings: "winnow serve\nin the agent's provider settings, custom base URL: GATEWAY for Anthropic, GATEWAY/v1 for OpenAI",
		},
	}
}

// findAgent returns what is known of a program; false where nothing is.
func findAgent(program string) (knownAgent, bool) {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	switch name {
	case "cursor-agent":
		name = "cursor"
	case "kilocode":
		name = "kilo"
	}
	all := knownAgents()
	at := slices.IndexFunc(all, func(k knownAgent) bool { return k.Name == name })
	if at < 0 {
		return knownAgent{}, false
	}
	return all[at], true
}

// lines are an agent's settings with the address that winnow serve has.
func (k knownAgent) lines() string {
	return strings.ReplaceAll(k.Settings, "GATEWAY", "http://127.0.0.1:8484")
}

// refusedAgent is the error for an agent that wrap cannot start. The lines for its
// settings stand below the error's own, each as it is to be written.
type refusedAgent struct{ title, why, settings string }

// Error says why.
func (r *refusedAgent) Error() string {
	return fmt.Sprintf("%s cannot be wrapped: %s; start winnow serve, and put into its settings what follows", r.title, r.why)
}

// refusal is the error for an agent that wrap cannot start.
func (k knownAgent) refusal() error { return &refusedAgent{k.Title, k.Refused, k.lines()} }

// indent puts two blanks in front of every line.
func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// listAgents prints what wrap knows.
func (a *app) listAgents(cmd *cobra.Command) error {
	all := knownAgents()
	if a.asJSON {
		return a.print(map[string]any{"agents": all})
	}
	out := cmd.OutOrStdout()
	for i, k := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s  (%s)\n", k.Name, k.Title)
		if k.Refused != "" {
			fmt.Fprintf(out, "  cannot be wrapped: %s\n", k.Refused)
		} else {
			fmt.Fprintf(out, "  pointed by  %s\n  window      %s\n  compaction  %s\n", k.Pointed, k.Window, k.Compaction)
		}
		fmt.Fprintf(out, "  by hand     %s\n", strings.ReplaceAll(k.lines(), "\n", "\n              "))
	}
	fmt.Fprint(out, "\nAny other program gets the variables that most agents read: OPENAI_BASE_URL,\nOPENAI_API_BASE, ANTHROPIC_BASE_URL, ANTHROPIC_API_BASE and GOOGLE_GEMINI_BASE_URL.\n")
	return nil
}
