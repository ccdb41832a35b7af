package register

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Agent is a program that MCP servers can be registered with.
type Agent struct {
	// Name is what people call it here, Title its own name.
	Name, Title string

	// After says what to do after the file was written; "" for nothing.
	After string

	format  format
	user    func(Place) string // the user's file
	project string             // the project's file; "" for none
	own     format             // of the project's file where it is another
}

// Place is where files are looked for.
type Place struct {
	Home   string
	OS     string // as runtime.GOOS
	Getenv func(string) string
}

// under returns a path below the folder that a variable names, or below one of
// the user's.
func (p Place) under(variable, folder string, path ...string) string {
	dir := filepath.Join(p.Home, folder)
	if v := p.Getenv(variable); variable != "" && filepath.IsAbs(v) {
		dir = v
	}
	return filepath.Join(append([]string{dir}, path...)...)
}

// Path is the file of an agent: the user's, or that of a project's folder. It is
// "" where the agent has none.
func (a *Agent) Path(p Place, project string) string {
	if project == "" {
		return a.user(p)
	}
	if a.project == "" {
		return ""
	}
	return filepath.Join(project, filepath.FromSlash(a.project))
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

// Agents are all that are known, by name.
func Agents() []Agent {
	return []Agent{
		{
			Name: "claude-code", Title: "Claude Code", project: ".mcp.json",
			format: servers(func(s Server) []member { return append([]member{{"type", "stdio"}}, simple(s)...) }),
			user: func(p Place) string {
				if dir := p.Getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
					return filepath.Join(dir, ".claude.json")
				}
				return filepath.Join(p.Home, ".claude.json")
			},
			After: "claude mcp list shows it",
		},
		{
			Name: "codex", Title: "Codex", format: &tomlFile{forward}, project: ".codex/config.toml",
			user:  func(p Place) string { return p.under("CODEX_HOME", ".codex", "config.toml") },
			After: "codex mcp list shows it",
		},
		{
			Name: "gemini-cli", Title: "Gemini CLI", format: servers(simple), project: ".gemini/settings.json",
			user:  func(p Place) string { return p.under("", ".gemini", "settings.json") },
			After: "gemini mcp list shows it in a folder that Gemini CLI trusts; elsewhere it starts no server",
		},
		madeFromOpencode("opencode", "opencode"),
		{
			Name: "qwen", Title: "Qwen Code", format: servers(simple), project: ".qwen/settings.json",
			user:  func(p Place) string { return p.under("", ".qwen", "settings.json") },
			After: "qwen mcp list shows it",
		},
		{
			Name: "cline", Title: "Cline",
			format: servers(func(s Server) []member { return append(simple(s), member{"disabled", false}) }),
			user: func(p Place) string {
				if v := p.Getenv("CLINE_MCP_SETTINGS_PATH"); filepath.IsAbs(v) {
					return v
				}
				code := p.under("XDG_CONFIG_HOME", ".config", "Code")
				if p.OS == "darwin" {
					code = filepath.Join(p.Home, "Library", "Application Support", "Code")
				}
				return first(filepath.Join(code, "User", "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"),
					p.under("", ".cline", "data", "settings", "cline_mcp_settings.json"))
			},
		},
		{
			Name: "continue", Title: "Continue", project: ".continue/mcpServers/winnow.yaml",
			format: &yamlFile{"name: Local Config\nversion: 1.0.0\nschema: v1\n"},
			own:    &yamlFile{"name: winnow\nversion: 0.0.1\nschema: v1\n"},
			user:   func(p Place) string { return p.under("", ".continue", "config.yaml") },
		},
		madeFromOpencode("kilo", "Kilo"),
		{
			Name: "cursor", Title: "Cursor", format: servers(simple), project: ".cursor/mcp.json",
			user: func(p Place) string { return p.under("", ".cursor", "mcp.json") },
		},
		{
			Name: "pi", Title: "pi", format: servers(simple), project: ".pi/mcp.json",
			user:  func(p Place) string { return p.under("PI_CODING_AGENT_DIR", ".pi/agent", "mcp.json") },
			After: "pi mcp list shows it; pi before 0.99 has no MCP, but its shell can run winnow recall HANDLE",
		},
	}
}

// madeFromOpencode is opencode, or Kilo, which was made from it and differs in the
// name of its files.
func madeFromOpencode(name, title string) Agent {
	return Agent{
		Name: name, Title: title, project: name + ".json",
		format: &jsonFile{path: []string{"mcp"}, nested: "servers", entry: func(s Server) []member {
			return []member{{"type", "local"}, {"command", append([]string{s.Command}, s.Args...)}, {"enabled", true}}
		}},
		user: func(p Place) string {
			plain := p.under("XDG_CONFIG_HOME", ".config", name, name+".json")
			return first(plain+"c", plain)
		},
		After: name + " mcp list shows it",
	}
}

// aliases are names of the programs themselves.
var aliases = map[string]string{"claude": "claude-code", "gemini": "gemini-cli", "qwen-code": "qwen", "kilocode": "kilo", "cn": "continue"}

// Find returns an agent by its name.
func Find(name string) (*Agent, bool) {
	name = strings.ToLower(name)
	if a, ok := aliases[name]; ok {
		name = a
	}
	all := Agents()
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return nil, false
	}
	return &all[i], true
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
