package app

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/app/insights"
	"github.com/winnow-llm/winnow/internal/app/journal"
)

func (a *app) initCommand() *cobra.Command {
	var yes, undo bool
	cmd := newCommand("init", "Set winnow up for the agents on this machine, and take that back", `
  winnow init
  winnow init --yes
  winnow init --undo

Finds the agents on this machine, shows what compaction cost in their sessions of the
last 30 days, and offers one by one:

  - an alias for each agent, so that its name starts it behind winnow (winnow wrap)
  - the MCP server (winnow help mcp), registered by the agent's own command
  - the status line in Claude Code
  - the gateway as a service of yours (systemd, launchd), for programs that are not
    wrapped

Without a terminal it says what it would do, and changes nothing unless --yes is given.

--undo takes all of it back: it restores every byte of a file that nothing else has
changed since, and removes from other files what init added.`,
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return a.runInit(cmd, yes, undo) })
	cmd.Flags().BoolVar(&yes, "yes", false, "do everything that is offered, without asking")
	cmd.Flags().BoolVar(&undo, "undo", false, "take back everything that was set up")
	return cmd
}

// step is one thing that is offered, in the JSON document too.
type step struct {
	What  string `json:"what"`
	File  string `json:"file"`
	State string `json:"state"` // would, done, there, declined, failed or undone
	Error string `json:"error,omitempty"`
}

func (a *app) runInit(cmd *cobra.Command, yes, undo bool) error {
	dir, err := os.UserConfigDir()
	if err != nil {
		return fmt.Errorf("there is no configuration folder: %w; set HOME", err)
	}
	j, err := journal.Open(filepath.Join(dir, "winnow", "init.json"))
	if err != nil {
		return err
	}
	if undo {
		return a.undoSetup(cmd, j)
	}
	present := slices.DeleteFunc(table.All(), func(g table.Agent) bool { return onPath(g.Program) == "" })
	if len(present) == 0 {
		a.say("none of the agents that winnow knows is on the PATH (winnow wrap --list); only the service is offered")
	}
	doc := struct {
		Agents []string `json:"agents"`
		Cost   []string `json:"cost"`
		Steps  []step   `json:"steps"`
	}{Agents: []string{}, Cost: a.compactionCost(cmd), Steps: []step{}}
	for i := range present {
		doc.Agents = append(doc.Agents, present[i].Name)
	}
	if !a.asJSON {
		st := a.styleFor(a.stdout)
		if len(present) > 0 {
			st.Prose(a.stdout, "", "found: "+strings.Join(doc.Agents, ", "), st.Bold)
		}
		for _, line := range doc.Cost {
			st.Prose(a.stdout, "", line, nil)
		}
	}
	changes, err := a.offeredChanges(present)
	if err != nil {
		return err
	}
	ask := a.newAsker(a.stdout)
	if yes {
		ask = func(string) bool { return true }
	}
	failed := false
	for _, c := range changes {
		s := step{What: c.What, File: c.File, State: "would"}
		switch answer := ask; {
		case j.Has(c.What):
			s.State = "there"
		case answer == nil:
		case !answer(fmt.Sprintf("%s (%s)", c.What, a.shortPath(c.File))):
			s.State = "declined"
		default:
			done, err := j.Make(cmd.Context(), c)
			s.State = map[bool]string{true: "done", false: "there"}[done]
			if err != nil {
				s.State, s.Error, failed = "failed", err.Error(), true
			}
		}
		doc.Steps = append(doc.Steps, s)
		a.showStep(&s)
	}
	err = a.printResult(doc, func() {
		if ask == nil {
			a.say("nothing was changed: there is no terminal to ask on; winnow init --yes does all of this")
		} else if len(j.Changes) > 0 {
			a.say("aliases work in new shells; winnow init --undo takes everything back")
		}
	})
	if failed && err == nil {
		err = errors.New("not everything could be set up; the lines above say why; the rest is in place")
	}
	return err
}

func (a *app) showStep(s *step) {
	if a.asJSON {
		return
	}
	line := fmt.Sprintf("%-8s  %s (%s)", s.State, s.What, a.shortPath(s.File))
	if s.Error != "" {
		line += ": " + s.Error
	}
	fmt.Fprintln(a.stdout, line)
}

// undoSetup takes everything back, the newest first.
func (a *app) undoSetup(cmd *cobra.Command, j *journal.Journal) error {
	steps, failed := []step{}, false
	for n := len(j.Changes); n > 0; n = len(j.Changes) {
		c, err := j.Undo(cmd.Context())
		s := step{What: c.What, File: c.File, State: "undone"}
		if err != nil {
			s.State, s.Error, failed = "failed", err.Error(), true
		}
		steps = append(steps, s)
		a.showStep(&s)
		if len(j.Changes) == n {
			break // it is still there, and what is older may stand below it
		}
	}
	err := a.printResult(map[string]any{"steps": steps}, func() {
		if len(steps) == 0 {
			a.say("there is nothing to take back")
		}
	})
	if failed && err == nil {
		err = errors.New("not everything could be taken back; the lines above say what is left")
	}
	return err
}

// newAsker returns what asks a person for a yes; nil where there is none.
func (a *app) newAsker(out io.Writer) func(question string) bool {
	in := a.terminalInput()
	if in == nil || a.asJSON {
		return nil
	}
	lines := bufio.NewReader(in)
	return func(question string) bool {
		fmt.Fprintf(out, "%s? [y/N] ", question)
		answer, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(out)
		}
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes"
	}
}

// compactionCost returns what winnow insights finds, in short.
func (a *app) compactionCost(cmd *cobra.Command) []string {
	places, err := a.sessionPlaces(nil)
	if err != nil {
		return []string{}
	}
	report, err := awaitShown(cmd.Context(), a, "looking for sessions", func(p *progress) (*insights.Report, error) {
		return insights.Run(cmd.Context(), insights.Options{
			Agents: places, Since: time.Now().AddDate(0, 0, -30), Worst: 1,
			Progress: func(done, total int) { p.set(done, total, "reading sessions") },
		})
	})
	switch {
	case err != nil:
		return []string{"What compaction cost is not known: " + err.Error()}
	case report.Sessions == 0:
		return []string{"There are no sessions of the last 30 days to tell from."}
	case report.Compacted == 0:
		return []string{fmt.Sprintf("No agent compacted any of the %s of the last 30 days.", plural(report.Sessions, "session"))}
	}
	return report.Lines()
}

// offeredChanges returns the changes that init offers.
func (a *app) offeredChanges(present []table.Agent) ([]journal.Change, error) {
	server, err := (&recallFlags{}).serverCommand()
	if err != nil {
		return nil, err
	}
	var all []journal.Change
	rc, alias := a.shellFile()
	for i := range present {
		if g := &present[i]; g.Refused == "" && rc != "" {
			line := fmt.Sprintf(alias, g.Program, shellWord(server[0])+" wrap "+g.Program+" --")
			all = append(all, journal.Change{What: "start " + g.Title + " behind winnow by an alias", File: rc, Edit: appendLine(line)})
		}
	}
	for i := range present {
		g := &present[i]
		add, remove := ownCommand(g, g.Server.Add, server), ownCommand(g, g.Server.Remove, server)
		if add == nil || remove == nil {
			continue // winnow mcp install prints the lines
		}
		all = append(all, journal.Change{What: "give " + g.Title + " winnow's tools (MCP)", File: a.settingsFile(g), Run: add, Back: remove})
	}
	for i := range present {
		if g := &present[i]; g.Name == "claude" {
			file := g.Model.File.In(a.homeDir(), a.getenv)
			all = append(all, journal.Change{What: "show how full the window is in " + g.Title + "'s status line", File: file, Edit: addStatusLine(shellWord(server[0]) + " watch --statusline")})
		}
	}
	return append(all, a.serviceChanges()...), nil
}

// shellFile returns where the user's shell reads aliases, and how it writes one. On
// Windows only a shell that names itself, such as Git Bash, has such a file.
func (a *app) shellFile() (file, alias string) {
	home, shell := a.homeDir(), a.getenv("SHELL")
	if shell == "" && runtime.GOOS == "windows" {
		return "", ""
	}
	switch filepath.Base(shell) {
	case "fish":
		return filepath.Join(table.Place{Variable: "XDG_CONFIG_HOME", Folder: ".config", Path: "fish/conf.d/winnow.fish"}.In(home, a.getenv)), "alias %s \"%s\" # winnow init"
	case "zsh":
		return table.Place{Variable: "ZDOTDIR", Path: ".zshrc"}.In(home, a.getenv), "alias %s=\"%s\" # winnow init"
	}
	return filepath.Join(home, ".bashrc"), "alias %s=\"%s\" # winnow init"
}

// appendLine puts a line at the end of a text, unless it is there.
func appendLine(line string) func(string) (string, error) {
	return func(text string) (string, error) {
		if strings.Contains(text, line) {
			return text, nil
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text + line + "\n", nil
	}
}

// addStatusLine puts the status line into Claude Code's settings, and leaves every other
// byte as it is.
func addStatusLine(command string) func(string) (string, error) {
	return func(text string) (string, error) {
		value, err := json.Marshal(map[string]string{"type": "command", "command": command})
		if err != nil {
			return "", err
		}
		member := `"statusLine": ` + string(value)
		if strings.TrimSpace(text) == "" {
			return "{\n  " + member + "\n}\n", nil
		}
		var settings map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &settings); err != nil {
			return "", fmt.Errorf("it is not JSON (%w); add this by hand: %s", err, member)
		}
		if old, has := settings["statusLine"]; has {
			if strings.Contains(string(old), "watch --statusline") {
				return text, nil
			}
			return "", fmt.Errorf("it has another status line; to replace that, write %s", member)
		}
		if len(settings) > 0 {
			member += ","
		}
		start := strings.Index(text, "{") + 1
		return text[:start] + "\n  " + member + text[start:], nil
	}
}

// serviceChanges returns the changes that make the gateway a service of the user's;
// none where the machine has no service manager that winnow knows.
func (a *app) serviceChanges() []journal.Change {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	c := journal.Change{What: "run the gateway on " + defaultGateway + " as a service of yours"}
	text := ""
	switch {
	case runtime.GOOS == "darwin" && onPath("launchctl") != "":
		c.File = filepath.Join(a.homeDir(), "Library", "LaunchAgents", "llm.winnow.gateway.plist")
		c.Run, c.Stop = []string{"launchctl", "load", "-w", c.File}, []string{"launchctl", "unload", "-w", c.File}
		text = launchdFile(self)
	case onPath("systemctl") != "" && a.getenv("XDG_RUNTIME_DIR") != "": // without it no manager can be reached
		c.File = table.Place{Variable: "XDG_CONFIG_HOME", Folder: ".config", Path: "systemd/user/winnow.service"}.In(a.homeDir(), a.getenv)
		c.Run, c.Stop = []string{"systemctl", "--user", "enable", "--now", "winnow.service"}, []string{"systemctl", "--user", "disable", "--now", "winnow.service"}
		text = systemdUnit(self)
	default:
		return nil
	}
	c.Edit = func(string) (string, error) { return text, nil }
	return []journal.Change{c}
}

// systemdUnit returns the unit that runs a program's gateway.
func systemdUnit(program string) string {
	return fmt.Sprintf(systemd, strings.ReplaceAll(program, "%", "%%"))
}

// launchdFile returns the same for launchd.
func launchdFile(program string) string { return fmt.Sprintf(launchd, xmlEscaper.Replace(program)) }

const systemd = `[Unit]
Description=winnow, the gateway that keeps agents inside their context window

[Service]
ExecStart="%s" serve
Restart=on-failure

[Install]
WantedBy=default.target
`

const launchd = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key><string>llm.winnow.gateway</string>
	<key>ProgramArguments</key><array><string>%s</string><string>serve</string></array>
	<key>RunAtLoad</key><true/>
	<key>KeepAlive</key><true/>
</dict>
</plist>
`

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
