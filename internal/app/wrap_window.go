package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transport"
)

// eachWindow is the line of a gateway that cannot know the models of its requests.
const eachWindow = "window: that of each request's model, from the registry, or what Claude Code and Codex use of it; --window sets another"

// windowLine says which window holds for a model, why, and from which size on the
// gateway compacts. agent is the window that the agent is known to use.
func windowLine(o *transport.Options, name, from string, agent model.Window) (string, error) {
	settings := o.Settings
	settings.Model = name
	w, err := winnow.New(&winnow.Options{Settings: settings, Registry: o.Registry, Agent: agent})
	if err != nil {
		return "", err
	}
	status, err := w.Check(chat.Request{}, winnow.State{})
	if err != nil {
		return "", err
	}
	window := w.Window()
	why := ""
	switch {
	case window.Source == model.WindowSet:
		why = "as --window or the settings say"
	case name == "":
		return eachWindow, nil
	case window.Source == model.WindowAgent:
		why = fmt.Sprintf("%s: %s (%s)", window.Why, name, from)
	case w.Guessed():
		why = fmt.Sprintf("assumed, as the registry does not know %s (%s)", name, from)
	default:
		why = fmt.Sprintf("what %s has (%s)", name, from)
	}
	at, due := status.Due()
	return fmt.Sprintf("window: %s tokens, %s; it compacts from %s tokens on: %s", number(window.Tokens), why, number(at), due), nil
}

// window is the [windowLine] of an agent that is about to be started.
func (p *pointing) window(o *transport.Options) (string, error) {
	if p.known.Name == "" {
		return windowLine(o, "", "", model.Window{})
	}
	name, from := p.known.asks.find(p)
	var agent model.Window
	if p.known.window != nil && name != "" {
		agent = p.known.window(o.Registry.Lookup(name), model.AsksMillion(name))
	}
	return windowLine(o, name, from, agent)
}

// agentModel says which model an agent asks for.
type agentModel struct {
	variable string            // that names it
	setting  func(*app) string // reads its name from the agent's settings; nil for none
	standard string            // what is asked for where nothing names one; "" where nobody knows
	aliases  map[string]string
}

// claudeModels are Claude Code's short names as of its version 2.1.325.
var claudeModels = map[string]string{
	"default": "claude-opus-5-5", "best": "claude-opus-5-5", "opus": "claude-opus-5-5", "opusplan": "claude-opus-5-5",
	"sonnet": "claude-sonnet-5-5", "haiku": "claude-haiku-5-5", "fable": "claude-fable-5",
}

// find returns the model that the agent will ask for and where that is known from;
// "" where only its requests tell.
func (m *agentModel) find(p *pointing) (name, from string) {
	for _, flag := range []string{"--model", "-m"} {
		if v, at := p.flag(flag); at >= 0 {
			return m.full(v), "by " + flag
		}
	}
	if v := p.app.getenv(m.variable); m.variable != "" && v != "" {
		return m.full(v), "by " + m.variable
	}
	if m.setting != nil {
		if v := m.setting(p.app); v != "" {
			return m.full(v), "by its settings"
		}
	}
	return m.standard, "its default model"
}

// full replaces a short name of a model.
func (m *agentModel) full(name string) string {
	short, million := strings.CutSuffix(name, "[1m]")
	if long, ok := m.aliases[short]; ok {
		short = long
	}
	if million {
		short += "[1m]"
	}
	return short
}

// claudeSetting is the model in Claude Code's settings.
func claudeSetting(a *app) string {
	var settings struct {
		Model string `json:"model"`
	}
	data, err := os.ReadFile(filepath.Join(a.homeOf("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"))
	if err != nil || json.Unmarshal(data, &settings) != nil {
		return ""
	}
	return settings.Model
}

// codexSetting is the model in Codex's settings.
func codexSetting(a *app) string {
	data, err := os.ReadFile(filepath.Join(a.homeOf("CODEX_HOME", ".codex"), "config.toml"))
	if err != nil {
		return ""
	}
	if top, _, ok := strings.Cut("\n"+string(data), "\n["); ok {
		data = []byte(top) // what follows belongs to a table
	}
	for _, m := range tomlLine.FindAllSubmatch(data, -1) {
		if string(m[1]) == "model" {
			return string(m[2])
		}
	}
	return ""
}
