package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/recall/mcpserver"
)

func (a *app) mcpCommand() *cobra.Command {
	var f recallFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Run an MCP server that gives a model its originals back",
		Example: `  winnow mcp install claude
  claude mcp add winnow -- winnow mcp
  winnow mcp --gateway http://127.0.0.1:8484`,
		Long: `Serves tools over standard input and output, for agents that speak MCP:

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
name the tool that returns the original.`,
		Args: cobra.NoArgs,
	}
	f.addTo(cmd)
	cmd.AddCommand(a.mcpInstallCommand())
	cmd.RunE = a.asRunE(func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
		defer stop()
		return mcpserver.Run(ctx, thisBuild().Version, &fresh{f: &f, a: a.quietly()}, a.whoseConversation(), a.stdin, unfilteredWriter(a.stdout))
	})
	return cmd
}

// fresh is a source that is looked for anew with every call: stores come to be,
// and gateways are started, while an agent runs. What is wrong is told to the
// model, and the server stays.
type fresh struct {
	f *recallFlags
	a *app
}

// Recall implements [recall.Source].
func (s *fresh) Recall(ctx context.Context, handle string, r recall.Range) (recall.Page, error) {
	source, done, err := s.f.openSource(ctx, s.a)
	if err != nil {
		return recall.Page{}, err
	}
	defer done()
	return source.Recall(ctx, handle, r)
}

// Search implements [recall.Source].
func (s *fresh) Search(ctx context.Context, q recall.Query) (recall.Results, error) {
	source, done, err := s.f.openSource(ctx, s.a)
	if err != nil {
		return recall.Results{}, err
	}
	defer done()
	return source.Search(ctx, q)
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

// installFlags are the flags of winnow mcp install.
type installFlags struct {
	print, remove, project bool
	recallFlags
}

func (a *app) mcpInstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install AGENT",
		Short: "Register the MCP server with an agent",
		Example: `  winnow mcp install claude
  winnow mcp install codex
  winnow mcp install gemini --gateway http://127.0.0.1:8484
  winnow mcp install qwen --remove`,
		Long: `Registers the server by the command of the agent itself (claude, gemini, qwen, opencode
and kilo have one), or removes it with --remove. Where there is none, and with --print,
it prints the lines for the settings file of the agent and changes nothing.
AGENT is one of ` + strings.Join(registrableNames(), ", ") + `.

--gateway, --plans, --tenant, --session and --store become arguments of the server.
Without them it asks the gateway that WINNOW_GATEWAY names (winnow wrap sets it), or
reads the gateway's file. Keys are never written: set WINNOW_KEY where you start the
agent.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf("mcp install: for which agent? %s; see winnow help mcp install", strings.Join(registrableNames(), ", "))
			}
			return nil
		},
		ValidArgs: registrableNames(),
		RunE:      a.asRunE(func(cmd *cobra.Command, args []string) error { return a.mcpInstall(cmd, args[0], &f) }),
	}
	cmd.Flags().BoolVar(&f.print, "print", false, "print the registration without making it")
	cmd.Flags().BoolVar(&f.remove, "remove", false, "remove the registration")
	cmd.Flags().BoolVar(&f.project, "project", false, "use the settings of the project in the current folder instead of the user's")
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

func (a *app) mcpInstall(cmd *cobra.Command, name string, f *installFlags) error {
	agent, ok := table.Find(name)
	if !ok || len(agent.Server.Files) == 0 {
		if best := spelling.Nearest(name, registrableNames()); best != "" {
			return usageErrorf("mcp install: there is no agent %q here; did you mean %s?", name, best)
		}
		return usageErrorf("mcp install: there is no agent %q here; there are %s; for others register the command winnow with the argument mcp as a stdio server", name, strings.Join(registrableNames(), ", "))
	}
	path, err := a.settingsFile(&agent, f.project)
	if err != nil {
		return err
	}
	server, err := f.serverCommand()
	if err != nil {
		return err
	}
	told := registration{Agent: agent.Name, File: path, Entry: settingsLines(agent.Name, server, f.project)}
	verb := agent.Server.Add
	if f.remove {
		verb = agent.Server.Remove
	}
	own := ownCommand(&agent, verb, f.project, server)
	if f.print || own == nil {
		return a.printLines(&told, &agent, f.remove)
	}
	told.Command, told.Changed = own, true
	out, err := exec.CommandContext(cmd.Context(), own[0], own[1:]...).CombinedOutput()
	if err != nil && !f.remove {
		// Claude Code refuses a name that it has already.
		if again := ownCommand(&agent, agent.Server.Remove, f.project, server); again != nil && exec.CommandContext(cmd.Context(), again[0], again[1:]...).Run() == nil {
			out, err = exec.CommandContext(cmd.Context(), own[0], own[1:]...).CombinedOutput()
		}
	}
	if err != nil {
		return fmt.Errorf("%s failed: %w: %s; winnow mcp install %s --print shows the lines for %s", strings.Join(own, " "), err, strings.TrimSpace(string(out)), agent.Name, a.shortPath(path))
	}
	if f.remove {
		return a.printLine(told, "removed from %s by %s", agent.Title, strings.Join(own, " "))
	}
	return a.printLine(told, "%s has winnow's tools from its next start on; %s", agent.Title, agent.Server.After)
}

// printLines tells what to write into an agent's settings, or what to take out.
func (a *app) printLines(told *registration, agent *table.Agent, remove bool) error {
	switch {
	case a.asJSON:
		return a.printJSON(told)
	case remove:
		fmt.Fprintf(a.stdout, "remove the server winnow from %s; its lines are\n\n", a.shortPath(told.File))
	default:
		a.say("add this to %s; then %s has winnow's tools from its next start on", a.shortPath(told.File), agent.Title)
		if agent.Server.After != "" {
			a.say("%s", agent.Server.After)
		}
	}
	_, err := a.dataWriter().Write([]byte(told.Entry))
	return err
}

// settingsFile returns where an agent reads its MCP servers from.
func (a *app) settingsFile(agent *table.Agent, project bool) (string, error) {
	if project {
		if agent.Server.Project == "" {
			return "", usageErrorf("mcp install: %s has no settings for a project; leave --project out", agent.Title)
		}
		return filepath.Abs(filepath.FromSlash(agent.Server.Project))
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usageErrorf("mcp install: there is no home folder: %v; use --project", err)
	}
	path := ""
	for _, f := range agent.Server.Files {
		path = f.In(home, a.getenv)
		if _, err := os.Stat(path); err == nil {
			break
		}
	}
	return path, nil
}

// ownCommand returns how the agent itself registers the server; nil where it
// cannot, or is not on this machine.
func ownCommand(agent *table.Agent, verb string, project bool, server []string) []string {
	program := onPath(agent.Program)
	if verb == "" || project && !strings.Contains(verb, "SCOPE") || program == "" {
		return nil
	}
	scope := "user"
	if project {
		scope = "project"
	}
	own := []string{program}
	for _, word := range strings.Fields(verb) {
		switch word {
		case "SCOPE":
			own = append(own, scope)
		case "COMMAND":
			own = append(own, server...)
		default:
			own = append(own, word)
		}
	}
	return own
}

// serverCommand returns how the agent starts this program: by its name where that
// leads here, else by its path.
func (f *installFlags) serverCommand() ([]string, error) {
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
func settingsLines(agent string, server []string, project bool) string {
	quoted := func(v any) string { return strings.TrimSpace(string(indentedJSON(v, ""))) } // JSON's strings and lists are TOML's and YAML's too
	command, args := server[0], server[1:]
	switch agent {
	case "codex":
		// Codex starts servers with an environment of its own, and its mcp add cannot say
		// which variables to hand on.
		return fmt.Sprintf("[mcp_servers.winnow]\ncommand = %s\nargs = %s\nenv_vars = %s\n", quoted(command), quoted(args), quoted(variablesOfRecall))
	case "continue":
		head := "" // a project's servers have files of their own
		if project {
			head = "name: winnow\nversion: 0.0.1\nschema: v1\n"
		}
		return head + fmt.Sprintf("mcpServers:\n  - name: winnow\n    command: %s\n    args: %s\n", quoted(command), quoted(args))
	case "opencode", "kilo":
		return string(indentedJSON(map[string]any{"mcp": map[string]any{"winnow": map[string]any{"type": "local", "command": server, "enabled": true}}}, "  "))
	}
	return string(indentedJSON(map[string]any{"mcpServers": map[string]any{"winnow": map[string]any{"command": command, "args": args}}}, "  "))
}

func indentedJSON(v any, by string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", by)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and lists of them always can be written
	}
	return []byte(b.String())
}
