package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/register"
	"github.com/winnow-llm/winnow/internal/app/spelling"
)

func registrableNames() []string {
	var names []string
	for _, g := range register.Agents() {
		names = append(names, g.Name)
	}
	return names
}

// installFlags are the flags of winnow mcp install.
type installFlags struct {
	print, remove, project bool
	file                   string
	recallFlags
}

func (a *app) mcpInstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install AGENT",
		Short: "Register the MCP server with an agent",
		Example: `  winnow mcp install claude
  winnow mcp install codex --print
  winnow mcp install gemini --gateway http://127.0.0.1:8484
  winnow mcp install opencode --remove`,
		Long: `Adds the server to the agent's own settings, or removes it with --remove.
AGENT is one of ` + strings.Join(registrableNames(), ", ") + `.
Everything else in the file stays as it is, comments included. A file that cannot be
edited this way is left alone, and --print shows what to add by hand. Running it
again changes nothing.

--gateway, --plans, --tenant, --session and --store become arguments of the server.
Without them it asks the gateway that WINNOW_GATEWAY names (winnow wrap sets it), or
reads the gateway's file. Keys are never written: set WINNOW_KEY where you start the
agent.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("mcp install: for which agent? %s; see winnow help mcp install", strings.Join(registrableNames(), ", "))
			}
			return nil
		},
		ValidArgs: registrableNames(),
		RunE:      a.work(func(_ *cobra.Command, args []string) error { return a.mcpInstall(args[0], &f) }),
	}
	cmd.Flags().BoolVar(&f.print, "print", false, "print the registration without writing it")
	cmd.Flags().BoolVar(&f.remove, "remove", false, "remove the registration")
	cmd.Flags().BoolVar(&f.project, "project", false, "use the settings file of the project in the current folder instead of the user's")
	cmd.Flags().StringVar(&f.file, "file", "", "another settings `FILE` of the agent")
	f.add(cmd)
	return cmd
}

// registration is the JSON document of winnow mcp install.
type registration struct {
	Agent   string `json:"agent"`
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Entry   string `json:"entry,omitempty"`
}

func (a *app) mcpInstall(name string, f *installFlags) error {
	agent, ok := register.Find(name)
	if !ok {
		if best := spelling.Nearest(name, registrableNames()); best != "" {
			return usagef("mcp install: there is no agent %q here; did you mean %s?", name, best)
		}
		return usagef("mcp install: there is no agent %q here; there are %s; for others register the command winnow with the argument mcp as a stdio server", name, strings.Join(registrableNames(), ", "))
	}
	path, agent, err := a.installPath(agent, f)
	if err != nil {
		return err
	}
	server, err := f.server()
	if err != nil {
		return err
	}
	entry, err := agent.Entry(server)
	if err != nil {
		return err
	}
	if f.print {
		if a.asJSON {
			return a.print(registration{Agent: agent.Name, File: path, Entry: string(entry)})
		}
		a.say("for %s", path)
		_, err := a.data().Write(entry)
		return err
	}
	doc, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s cannot be read: %s", path, cause(err))
	}
	var out []byte
	if f.remove {
		out, err = agent.Remove(doc)
	} else {
		out, err = agent.Add(doc, server)
	}
	if err != nil {
		return fmt.Errorf("%s was left as it is: %w; winnow mcp install %s --print shows what belongs there", path, err, agent.Name)
	}
	changed := string(out) != string(doc)
	if changed {
		if err := replaceFile(path, out); err != nil {
			return fmt.Errorf("%s cannot be written: %s; winnow mcp install %s --print shows what belongs there", path, cause(err), agent.Name)
		}
	}
	if a.asJSON {
		return a.print(registration{Agent: agent.Name, File: path, Changed: changed, Entry: string(entry)})
	}
	switch {
	case !changed && f.remove:
		fmt.Fprintf(a.stdout, "%s has no server called winnow; nothing was changed\n", a.shortPath(path))
	case !changed:
		fmt.Fprintf(a.stdout, "%s has it already; nothing was changed\n", a.shortPath(path))
	case f.remove:
		fmt.Fprintf(a.stdout, "removed from %s\n", a.shortPath(path))
	default:
		after := ""
		if agent.Server.After != "" {
			after = "; " + agent.Server.After
		}
		fmt.Fprintf(a.stdout, "%s has the tools recall and search_history from its next start on: %s%s\n", agent.Title, a.shortPath(path), after)
	}
	return nil
}

// installPath is the file that is edited, and the agent with that file's format.
func (a *app) installPath(agent *register.Agent, f *installFlags) (string, *register.Agent, error) {
	if f.project {
		agent = agent.ForProject()
	}
	if f.file != "" {
		return f.file, agent, nil
	}
	if f.project {
		dir, err := os.Getwd()
		if err != nil {
			return "", nil, err
		}
		path := agent.Path(a.place(""), dir)
		if path == "" {
			return "", nil, usagef("mcp install: %s has no settings for a project; leave --project out", agent.Title)
		}
		return path, agent, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", nil, usagef("mcp install: there is no home folder: %v; name the file with --file", err)
	}
	return agent.Path(a.place(home), ""), agent, nil
}

func (a *app) place(home string) register.Place {
	return register.Place{Home: home, OS: runtime.GOOS, Getenv: a.getenv}
}

// server is how the agent starts this program: by its name where that leads
// here, else by its path.
func (f *installFlags) server() (register.Server, error) {
	s := register.Server{Command: "winnow", Args: []string{"mcp"}}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	if found, err := exec.LookPath("winnow"); err != nil || !sameFile(found, self) {
		s.Command = self
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
				return s, err
			}
		}
		s.Args = append(s.Args, flag.name, flag.value)
	}
	return s, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// replaceFile writes a file whole or not at all. A link to it stays a link, and
// who may read it stays the same.
func replaceFile(path string, data []byte) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".winnow-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	if _, err = tmp.Write(data); err == nil {
		err = tmp.Chmod(mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if closing := tmp.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
