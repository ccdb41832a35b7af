package register

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var server = Server{Command: "winnow", Args: []string{"mcp"}}

func find1(t *testing.T, name string) *Agent {
	t.Helper()
	a, ok := Find(name)
	if !ok {
		t.Fatalf("there is no agent %s", name)
	}
	return a
}

// TestFixtures edits settings files as people have them. Each file
// testdata/AGENT/NAME.in has what comes out beside it, as NAME.out; the entry is
// then taken out again, which gives back the file, or NAME.removed.
func TestFixtures(t *testing.T) {
	ins, err := filepath.Glob("testdata/*/*.in")
	if err != nil || len(ins) < 12 {
		t.Fatal(len(ins), err)
	}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, path := range ins {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(path, "testdata/"), ".in"), func(t *testing.T) {
			a := find1(t, filepath.Base(filepath.Dir(path)))
			base := strings.TrimSuffix(path, ".in")
			in := read(path)
			out, err := a.Add([]byte(in), server)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(read(base+".out"), string(out)); diff != "" {
				t.Errorf("added (-want +got):\n%s", diff)
			}
			again, err := a.Add(out, server)
			if err != nil || string(again) != string(out) {
				t.Errorf("adding it again: %v\n%s", err, cmp.Diff(string(out), string(again)))
			}
			want := in
			if _, err := os.Stat(base + ".removed"); err == nil {
				want = read(base + ".removed")
			}
			gone, err := a.Remove(out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(gone)); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
			if none, err := a.Remove(gone); err != nil || string(none) != string(gone) {
				t.Errorf("removing it again: %v", err)
			}
			// The same file with the line ends of Windows.
			if !strings.Contains(in, "\n") {
				return
			}
			windows := strings.ReplaceAll(in, "\n", "\r\n")
			if out, err := a.Add([]byte(windows), server); err != nil || string(out) != strings.ReplaceAll(read(base+".out"), "\n", "\r\n") {
				t.Errorf("with CRLF: %v\n%q", err, out)
			}
		})
	}
}

// TestChange: another command replaces the one that is there, and what somebody
// added to the entry stays.
func TestChange(t *testing.T) {
	other := Server{Command: `C:\Program Files\winnow "x".exe`, Args: []string{"mcp", "--gateway", "http://127.0.0.1:8484"}}
	for _, a := range Agents() {
		t.Run(a.Name, func(t *testing.T) {
			doc, err := a.Entry(server)
			if err != nil {
				t.Fatal(err)
			}
			added := map[string]string{
				"codex":    string(doc) + "startup_timeout_sec = 20 # slow disk\n\n[mcp_servers.winnow.env]\nX = \"1\"\n\n[other]\na = 1\n",
				"continue": string(doc) + "    env:\n      X: \"1\"\n",
			}[a.Name]
			if added == "" {
				added = strings.Replace(string(doc), `"command"`, "/* mine */ \"timeout\": 20,\n      \"command\"", 1)
			}
			out, err := a.Add([]byte(added), other)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{`C:\\Program Files\\winnow \"x\".exe`, "http://127.0.0.1:8484"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("no %s in\n%s", want, out)
				}
			}
			for _, want := range []string{"timeout", "mine", "X", "slow disk"} {
				if strings.Contains(added, want) && !strings.Contains(string(out), want) {
					t.Errorf("%s is gone:\n%s", want, out)
				}
			}
			back, err := a.Add(out, server)
			if err != nil {
				t.Fatal(err)
			}
			if _, entry, err := a.format.read(back); err != nil || entry == nil || strings.Contains(string(back), "Program") {
				t.Errorf("%v\n%s", err, back)
			}
		})
	}
}

// TestLeftAlone: what cannot be edited safely is not edited.
func TestLeftAlone(t *testing.T) {
	for _, c := range []struct{ agent, doc string }{
		{"claude-code", `{"mcpServers": []}`},
		{"claude-code", `{"mcpServers": {"winnow": "x"}}`},
		{"claude-code", `[1]`},
		{"claude-code", `{"a": `},
		{"claude-code", "{\"a\":\r\n 1,\n\"b\": 2}\n"},
		{"codex", "mcp_servers = { winnow = { command = \"x\" } }\n"},
		{"codex", "mcp_servers = { other = { command = \"x\" } }\n"},
		{"codex", "[mcp_servers]\nwinnow = { command = \"x\" }\n"},
		{"codex", "mcp_servers.winnow.command = \"x\"\n"},
		{"codex", "a = \n"},
		{"continue", "mcpServers: [{name: other, command: x}]\n"},
		{"continue", "mcpServers: {a: 1}\n"},
		{"continue", "- a\n"},
		{"continue", "a: [\n"},
		{"continue", "name: a\n---\nname: b\n"},
	} {
		if out, err := find1(t, c.agent).Add([]byte(c.doc), server); err == nil {
			t.Errorf("%s: %q became\n%s", c.agent, c.doc, out)
		} else if out != nil {
			t.Errorf("%s: %q: an error and a document", c.agent, c.doc)
		}
	}
	if _, err := find1(t, "codex").Remove([]byte("[mcp_servers]\nwinnow = { command = \"x\" }\n")); !errors.Is(err, ErrByHand) {
		t.Error(err)
	}
}

func TestPlaces(t *testing.T) {
	home := t.TempDir()
	env := map[string]string{}
	place := Place{Home: home, OS: "linux", Getenv: func(n string) string { return env[n] }}
	check := func(agent, want string) {
		t.Helper()
		if got := find1(t, agent).Path(place, ""); got != filepath.Join(home, filepath.FromSlash(want)) {
			t.Errorf("%s: %s", agent, got)
		}
	}
	check("claude", ".claude.json")
	check("codex", ".codex/config.toml")
	check("gemini", ".gemini/settings.json")
	check("opencode", ".config/opencode/opencode.json")
	check("kilo", ".config/kilo/kilo.json")
	check("qwen-code", ".qwen/settings.json")
	check("cline", ".cline/data/settings/cline_mcp_settings.json")
	check("Continue", ".continue/config.yaml")
	check("cursor", ".cursor/mcp.json")
	for _, path := range []string{".config/opencode/opencode.jsonc", ".config/kilo/kilo.jsonc", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"} {
		full := filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check("opencode", ".config/opencode/opencode.jsonc")
	check("kilocode", ".config/kilo/kilo.jsonc")
	check("cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
	for name, path := range map[string]string{"CODEX_HOME": "c", "CLAUDE_CONFIG_DIR": "d", "CLINE_MCP_SETTINGS_PATH": "e.json"} {
		env[name] = filepath.Join(home, path)
	}
	check("codex", "c/config.toml")
	check("claude-code", "d/.claude.json")
	check("cline", "e.json")
	if p := find1(t, "claude-code").Path(place, "/project"); p != filepath.FromSlash("/project/.mcp.json") {
		t.Error(p)
	}
}

func FuzzAdd(f *testing.F) {
	f.Add("claude-code", `{"a": 1, // x
 "mcpServers": {"b": {}},}`)
	f.Add("codex", "[mcp_servers.x]\na = '''\n[mcp_servers.winnow]\n'''\n")
	f.Add("continue", "mcpServers:\n- name: x\n# c\nb: 1\n")
	f.Fuzz(func(t *testing.T, name, doc string) {
		a, ok := Find(name)
		if !ok {
			return
		}
		out, err := a.Add([]byte(doc), server)
		if err != nil {
			return
		}
		if again, err := a.Add(out, server); err != nil || string(again) != string(out) {
			t.Errorf("not the same again: %v\n%q\n%q", err, out, again)
		}
		if _, err := a.Remove(out); err != nil && !errors.Is(err, ErrByHand) {
			t.Errorf("%v\n%q", err, out)
		}
	})
}
