package app

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transport"
)

// eachWindow is the line of a gateway that cannot know the models of its requests.
const eachWindow = "window: that of each request's model, from the registry, or what its agent or a local server uses of it; --window sets another"

// leastConversation is the room for a conversation below which a window is too small,
// leastPrompt the room below which no request fits.
const leastConversation, leastPrompt = 20_000, 500

// windowLine says which window holds for a model, why, and from which size on the
// gateway compacts. agent is the window that the agent is known to use, fixed what
// its own prompt and tools take; 0 where nobody knows.
func windowLine(o *transport.Options, name, from string, agent model.Window, fixed int) (string, error) {
	settings := o.Settings
	settings.Model = name
	w, err := winnow.New(&winnow.Options{Settings: settings, Registry: o.Registry, Agent: agent})
	if err != nil {
		return "", err
	}
	// The reserve of the start holds for the first answers only.
	status, err := w.Check(chat.Request{}, winnow.State{Answers: winnow.Answers{Enough: true}})
	if err != nil {
		return "", err
	}
	window := w.Window()
	if least := max(leastPrompt, fixed/2); status.Limits.Available < least {
		return "", usageErrorf("a window of %s tokens is too small: no request fits into it, since a prompt has at least about %s; write a larger one, such as --window 64k, or leave --window out to have the model's own", number(window.Tokens), number(least))
	}
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
	status.Count.Band = 0 // the first report of usage takes the margin away
	at, due := status.Due()
	line := fmt.Sprintf("window: %s tokens, %s; it compacts from %s tokens on: %s", number(window.Tokens), why, number(at), due)
	if room := status.Limits.Available - fixed; fixed > 0 && (room < leastConversation || room < window.Tokens/5) {
		line += fmt.Sprintf("; this window is too small for the agent, whose own prompt and tools take about %s tokens", number(fixed))
	}
	return line, nil
}

// describeWindow returns the [windowLine] of an agent that is about to be started.
func (p *pointing) describeWindow(o *transport.Options) (string, error) {
	if p.known.Name == "" {
		return windowLine(o, "", "", model.Window{}, 0)
	}
	name, from := p.askedModel()
	var agent model.Window
	if name != "" {
		known := p.known
		if p.off {
			known.Own = known.Own.SwitchedOff()
		}
		agent = known.WindowOf(o.Registry.Lookup(name), p.known.AsksMillion(name))
	}
	return windowLine(o, name, from, agent, p.known.Windows.Fixed)
}

// askedModel returns the model that the agent will ask for and where that is known from;
// "" where only its requests tell.
func (p *pointing) askedModel() (name, from string) {
	asks := &p.known.Model
	for _, flag := range []string{"--model", "-m"} {
		if v, at := p.flagValue(flag); at >= 0 {
			return p.fullName(v), "by " + flag
		}
	}
	if asks.Variable != "" {
		if v := p.app.getenv(asks.Variable); v != "" {
			return p.fullName(v), "by " + asks.Variable
		}
	}
	if asks.Member != "" {
		if v := readSetting(asks.File.In(p.home, p.app.getenv), asks.Member); v != "" {
			return p.fullName(v), "by its settings"
		}
	}
	return asks.Standard, "its default model"
}

// fullName replaces the agent's short name of a model.
func (p *pointing) fullName(name string) string {
	short, ending := name, ""
	if p.known.AsksMillion(name) {
		short, ending = name[:len(name)-len(p.known.Windows.Million)], p.known.Windows.Million
	}
	if long, ok := p.known.Model.Short[short]; ok {
		short = long
	}
	return short + ending
}

// readSetting returns a text at the top of a settings file, which is JSON or TOML; ""
// where it is not there.
func readSetting(path, name string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	if !strings.HasSuffix(path, ".toml") {
		var doc map[string]any
		_ = json.Unmarshal(data, &doc) // the agent complains about it
		text, _ := doc[name].(string)
		return text
	}
	top, _, _ := strings.Cut("\n"+string(data), "\n[") // what follows belongs to a table
	if found := valuesNamed([]byte(top), true, []string{name}); len(found) > 0 {
		return found[0]
	}
	return ""
}

// mostCuts is how many cuts are told one by one.
const mostCuts = 12

// accountLines say what became of an agent's conversations: the window, the cuts
// and their reasons, the re-reads, the cache's share, and the dollars beside those
// of the same requests uncut, whichever are more.
func accountLines(a *transport.Account, s *transport.Stats) []string {
	var windows []string
	for _, w := range a.Windows {
		windows = append(windows, number(w))
	}
	line := "window: " + strings.Join(windows, ", ")
	switch n := len(a.Cuts); n {
	case 0:
		line += "; nothing was cut"
	default:
		line += fmt.Sprintf("; %s; files were read again %s after that", plural(n, "cut"), text.Times(a.Again))
	}
	lines := []string{line}
	for i := max(0, len(a.Cuts)-mostCuts); i < len(a.Cuts); i++ {
		c := &a.Cuts[i]
		line := fmt.Sprintf("cut %d: from %s to %s tokens", i+1, number(c.Before), number(c.After))
		if c.Why != "" {
			line += ": " + c.Why
		}
		lines = append(lines, line)
	}
	if t := &a.Totals; t.CacheShare != nil {
		lines = append(lines, fmt.Sprintf("from the provider's cache: %.0f %% of the prompts", 100**t.CacheShare)+dollarsLine(a))
	}
	if s.SummaryCalls > 0 {
		lines = append(lines, fmt.Sprintf("not in these dollars: %s for summaries, with %s tokens of input and %s of output",
			plural(int(s.SummaryCalls), "call"), number(int(s.SummaryInput)), number(int(s.SummaryOutput))))
	}
	return lines
}

// dollarsLine compares the price with that of the same requests uncut.
func dollarsLine(a *transport.Account) string {
	t := &a.Totals
	if t.Dollars == nil {
		return "; no prices are known for the model"
	}
	line := fmt.Sprintf("; $%.2f at list prices", *t.Dollars)
	if len(a.Cuts) > 0 || t.Saved != 0 {
		line += fmt.Sprintf(", uncut $%.2f", a.Uncut)
		if *t.Dollars > a.Uncut {
			line += fmt.Sprintf(": winnow cost $%.2f more", *t.Dollars-a.Uncut)
		}
		if a.Beyond > 0 {
			line += fmt.Sprintf("; uncut, %s would not have fitted the window", plural(a.Beyond, "request"))
		}
	}
	if n := t.Requests + a.Left - t.Priced; n > 0 {
		line += fmt.Sprintf("; without %s for which nothing was reported or kept", plural(n, "request"))
	}
	return line
}
