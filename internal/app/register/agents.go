package register

import (
	"os"
	"path/filepath"

	"github.com/winnow-llm/winnow/internal/agents/table"
)

// Agent is a program that MCP servers can be registered with.
type Agent struct {
	table.Agent

	format format
	own    format // of the project's file where it is another
}

// Place is where files are looked for.
type Place struct {
	Home   string
	OS     string // as runtime.GOOS
	Getenv func(string) string
}

// absolute returns a variable that names a place wherever an agent is started.
func (p Place) absolute(name string) string {
	if v := p.Getenv(name); filepath.IsAbs(v) {
		return v
	}
	return ""
}

// Path is the file of an agent: the user's, or that of a project's folder. It is
// "" where the agent has none.
func (a *Agent) Path(p Place, project string) string {
	if project != "" {
		if a.Server.Project == "" {
			return ""
		}
		return filepath.Join(project, filepath.FromSlash(a.Server.Project))
	}
	var paths []string
	for _, f := range a.Server.Files {
		if f.Variable == "XDG_CONFIG_HOME" && p.OS == "darwin" && a.Name == "cline" { // where VS Code has its settings
			f = table.Place{Folder: "Library/Application Support", Path: f.Path}
		}
		paths = append(paths, f.In(p.Home, p.absolute))
	}
	if v := p.absolute("CLINE_MCP_SETTINGS_PATH"); v != "" && a.Name == "cline" {
		return v
	}
	return first(paths...)
}

// ForProject is the agent with the format of a project's file.
func (a *Agent) ForProject() *Agent {
	b := *a
	if a.own != nil {
		b.format = a.own
	}
	return &b
}

// forward are the variables that say where originals are.
var forward = []string{"WINNOW_GATEWAY", "WINNOW_KEY", "WINNOW_PLANS", "WINNOW_OWNER"}

func simple(s Server) []member { return []member{{"command", s.Command}, {"args", s.Args}} }

func servers(entry func(Server) []member) *jsonFile {
	return &jsonFile{path: []string{"mcpServers"}, entry: entry}
}

// formatOf is how an agent writes its file. Most have one form in common.
func formatOf(name string) format {
	switch name {
	case "claude":
		return servers(func(s Server) []member { return append([]member{{"type", "stdio"}}, simple(s)...) })
	case "codex":
		return &tomlFile{forward}
	case "cline":
		return servers(func(s Server) []member { return append(simple(s), member{"disabled", false}) })
	case "continue":
		return &yamlFile{"name: Local Config\nversion: 1.0.0\nschema: v1\n"}
	case "opencode", "kilo":
		return &jsonFile{path: []string{"mcp"}, nested: "servers", entry: func(s Server) []member {
			return []member{{"type", "local"}, {"command", append([]string{s.Command}, s.Args...)}, {"enabled", true}}
		}}
	}
	return servers(simple)
}

// Agents are all that have a file for MCP servers.
func Agents() []Agent {
	var all []Agent
	for _, row := range table.All() {
		if len(row.Server.Files) == 0 {
			continue
		}
		a := Agent{Agent: row, format: formatOf(row.Name)}
		if row.Name == "continue" {
			a.own = &yamlFile{"name: winnow\nversion: 0.0.1\nschema: v1\n"}
		}
		all = append(all, a)
	}
	return all
}

// Find returns an agent by its name.
func Find(name string) (*Agent, bool) {
	row, ok := table.Find(name)
	for _, a := range Agents() {
		if ok && a.Name == row.Name {
			return &a, true
		}
	}
	return nil, false
}

// first is the first of some files that is there, else the last.
func first(paths ...string) string {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return paths[len(paths)-1]
}
