package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/app/show"
)

// pointFuncs say what is done to an agent before it is started, beside the variables
// that every program gets.
func pointFuncs() map[string]func(*pointing) error {
	return map[string]func(*pointing) error{
		"claude": pointClaude, "codex": pointCodex, "gemini": pointGemini, "qwen": pointQwen, "pi": pointPi,
		"continue": pointContinue, "cline": pointCline, "copilot": pointCopilot, "dsh": pointDsh,
		"opencode": func(p *pointing) error { return pointOpencode(p, "OPENCODE") },
		"kilo":     func(p *pointing) error { return pointOpencode(p, "KILO") },
	}
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
