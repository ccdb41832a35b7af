package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/recall/mcpserver"
)

func (a *app) mcpCommand() *cobra.Command {
	var f recallFlags
	cmd := newCommand("mcp", "Run an MCP server that gives a model its originals back", `
  winnow mcp install claude
  claude mcp add winnow -- winnow mcp
  winnow mcp --gateway http://127.0.0.1:8484

Serves tools over standard input and output, for agents that speak MCP:

  recall          show the original behind a handle, by page or by words
  search_history  search what is hidden from the most recent conversation
  context_status  show how full the context is, and when it will be compacted
  pin, unpin      keep a message from being edited, by handle or by number
  compact_now     compact now, with what to keep in detail, from 60 % of the room on
  note            write something down that outlives every compaction

They look where winnow recall HANDLE looks: in the gateway that --gateway or
WINNOW_GATEWAY names, else in the gateway's file, and in the store of sessions.
Behind winnow wrap you need not name anything. For a gateway with keys, put the
tenant's key into WINNOW_KEY. winnow serve offers the same tools at /mcp.

Views show handles as [original: HANDLE]. With the setting recall_tool they also
name the tool that returns the original.`, cobra.NoArgs, nil)
	f.addTo(cmd)
	cmd.AddCommand(a.mcpInstallCommand())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
		defer stop()
		return mcpserver.Run(ctx, thisBuild().Version, a.quietly().freshTools(&f), a.stdin, unfilteredWriter(a.stdout))
	}
	return cmd
}

// freshTools returns the tools over what is opened anew with every call: stores come to
// be, and gateways are started, while an agent runs. What is wrong is told to the
// model, and the server stays.
func (a *app) freshTools(f *recallFlags) []recall.Tool {
	whose := a.whoseConversation()
	reading := fresh(a, f.openSource, recall.Tools)
	steering := fresh(a, f.openSteering, func(s control.Steering) []recall.Tool { return control.Tools(s, whose) })
	return append(reading, steering...)
}

// fresh returns the tools over an S, each of which opens one for every call.
func fresh[S any](a *app, open func(context.Context, *app) (S, func(), error), tools func(S) []recall.Tool) []recall.Tool {
	var none S
	all := tools(none)
	for i := range all {
		all[i].Call = func(ctx context.Context, args string) (string, bool) {
			s, done, err := open(ctx, a)
			defer done()
			if err != nil {
				return "error: " + err.Error(), true
			}
			return tools(s)[i].Call(ctx, args)
		}
	}
	return all
}

func registrableNames() []string {
	var names []string
	for _, g := range table.All() {
		if len(g.Server.Files) > 0 {
			names = append(names, g.Name)
		}
	}
	return names
}

func (a *app) mcpInstallCommand() *cobra.Command {
	var f recallFlags
	var printed bool
	cmd := newCommand("install AGENT", "Register the MCP server with an agent", `
  winnow mcp install claude
  winnow mcp install codex
  winnow mcp install gemini --gateway http://127.0.0.1:8484

Registers the server by the command of the agent itself (claude, gemini, qwen, opencode
and kilo have one). Where there is none, and with --print, it prints the lines for the
settings file of the agent and changes nothing. To remove it, use the agent's own
command, such as claude mcp remove winnow, or take the lines out.
AGENT is one of `+strings.Join(registrableNames(), ", ")+`.

--gateway, --plans, --tenant, --session and --store become arguments of the server.
Without them it asks the gateway that WINNOW_GATEWAY names (winnow wrap sets it), or
reads the gateway's file. Keys are never written: set WINNOW_KEY where you start the
agent.`, func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageErrorf("mcp install: for which agent? %s; see winnow help mcp install", strings.Join(registrableNames(), ", "))
		}
		return nil
	}, func(cmd *cobra.Command, args []string) error { return a.mcpInstall(cmd, args[0], &f, printed) })
	cmd.ValidArgs = registrableNames()
	cmd.Flags().BoolVar(&printed, "print", false, "print the registration without making it")
	f.addTo(cmd)
	return cmd
}

// registration is the JSON document of winnow mcp install.
type registration struct {
	Agent   string   `json:"agent"`
	File    string   `json:"file"`
	Changed bool     `json:"changed"`
	Entry   string   `json:"entry,omitempty"`
	Command []string `json:"command,omitempty"` // of the agent, that was run
}

func (a *app) mcpInstall(cmd *cobra.Command, name string, f *recallFlags, printed bool) error {
	agent, ok := table.Find(name)
	if !ok || len(agent.Server.Files) == 0 {
		if best := spelling.Nearest(name, registrableNames()); best != "" {
			return usageErrorf("mcp install: there is no agent %q here; did you mean %s?", name, best)
		}
		return usageErrorf("mcp install: there is no agent %q here; there are %s; for others register the command winnow with the argument mcp as a stdio server", name, strings.Join(registrableNames(), ", "))
	}
	path := a.settingsFile(&agent)
	server, err := f.serverCommand()
	if err != nil {
		return err
	}
	told := registration{Agent: agent.Name, File: path, Entry: settingsLines(agent.Name, server)}
	own := ownCommand(&agent, agent.Server.Add, server)
	if printed || own == nil {
		if a.asJSON {
			return a.printJSON(told)
		}
		a.say("add this to %s; then %s has winnow's tools from its next start on", a.shortPath(path), agent.Title)
		if agent.Server.After != "" {
			a.say("%s", agent.Server.After)
		}
		_, err := a.dataWriter().Write([]byte(told.Entry))
		return err
	}
	told.Command, told.Changed = own, true
	out, err := exec.CommandContext(cmd.Context(), own[0], own[1:]...).CombinedOutput()
	if err != nil {
		// Claude Code refuses a name that it has already.
		if remove := ownCommand(&agent, agent.Server.Remove, server); remove != nil && exec.CommandContext(cmd.Context(), remove[0], remove[1:]...).Run() == nil {
			out, err = exec.CommandContext(cmd.Context(), own[0], own[1:]...).CombinedOutput()
		}
	}
	if err != nil {
		return fmt.Errorf("%s failed: %w: %s; winnow mcp install %s --print shows the lines for %s", strings.Join(own, " "), err, strings.TrimSpace(string(out)), agent.Name, a.shortPath(path))
	}
	return a.printLine(told, "%s has winnow's tools from its next start on; %s", agent.Title, agent.Server.After)
}

// settingsFile returns where an agent reads the user's MCP servers from.
func (a *app) settingsFile(agent *table.Agent) (path string) {
	for _, f := range agent.Server.Files {
		path = f.In(a.homeDir(), a.getenv)
		if _, err := os.Stat(path); err == nil {
			break
		}
	}
	return path
}

// ownCommand returns how the agent itself registers the server, or removes it; nil
// where it cannot, or is not on this machine.
func ownCommand(agent *table.Agent, verb string, server []string) []string {
	program := onPath(agent.Program)
	if verb == "" || program == "" {
		return nil
	}
	own := append([]string{program}, strings.Fields(verb)...)
	if at := slices.Index(own, "COMMAND"); at >= 0 {
		own = slices.Replace(own, at, at+1, server...)
	}
	return own
}

// serverCommand returns how the agent starts this program: by its name where that
// leads here, else by its path.
func (f *recallFlags) serverCommand() ([]string, error) {
	server := []string{"winnow", "mcp"}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if !sameFile(onPath("winnow"), self) {
		server[0] = self
	}
	for _, flag := range []struct {
		name, value string
		path        bool
	}{{"--gateway", f.gateway, false}, {"--plans", f.plans, true}, {"--tenant", f.tenant, false}, {"--session", f.session, false}, {"--store", f.store.path, true}} {
		if flag.value == "" {
			continue
		}
		if flag.path { // the agent may start it anywhere
			if flag.value, err = filepath.Abs(flag.value); err != nil {
				return nil, err
			}
		}
		server = append(server, flag.name, flag.value)
	}
	return server, nil
}

func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// settingsLines returns the server as an agent's settings file has it.
func settingsLines(agent string, server []string) string {
	quoted := func(v any) string { return strings.TrimSpace(indentedJSON(v, "")) } // JSON's strings and lists are TOML's and YAML's too
	command, args := server[0], server[1:]
	switch agent {
	case "codex":
		// Codex starts servers with an environment of its own, and its mcp add cannot say
		// which variables to hand on.
		return fmt.Sprintf("[mcp_servers.winnow]\ncommand = %s\nargs = %s\nenv_vars = %s\n", quoted(command), quoted(args), quoted(variablesOfRecall))
	case "continue":
		return fmt.Sprintf("mcpServers:\n  - name: winnow\n    command: %s\n    args: %s\n", quoted(command), quoted(args))
	case "opencode", "kilo":
		return indentedJSON(map[string]any{"mcp": map[string]any{"winnow": map[string]any{"type": "local", "command": server, "enabled": true}}}, "  ")
	}
	return indentedJSON(map[string]any{"mcpServers": map[string]any{"winnow": map[string]any{"command": command, "args": args}}}, "  ")
}

func indentedJSON(v any, by string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", by)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and lists of them always can be written
	}
	return b.String()
}
