package transport

import (
	"net/http"
	"strings"

	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/model"
)

// windowOf returns the window that the agent behind a request works in with the
// model of that name. It has no tokens where nothing but the model decides, as for
// every client that is not in the table of agents.
//
// Some agents compact by themselves when their own window fills up, whatever the
// model could still take. Winnow has to act before they do, so their window is the
// one in force. The table of agents says how their requests are recognised and
// which window each uses. The setting window wins over it.
func (t *Transport) windowOf(h http.Header, name string) model.Window {
	agent, ok := table.Of(h.Get("User-Agent"), h.Get("Originator"))
	if !ok {
		agent, ok = table.Find(t.opts.Agent)
	}
	if !ok {
		return model.Window{}
	}
	w := agent.WindowOf(t.opts.Registry.Lookup(name), agent.AsksMillion(name) || sendsBeta(h, agent.Windows.Beta))
	if t.opts.CompactionOff && agent.Name == t.opts.Agent {
		w.Own = 0
	}
	return w
}

// sendsBeta reports whether one of a request's beta headers starts like this.
func sendsBeta(h http.Header, start string) bool {
	for _, line := range h.Values("Anthropic-Beta") {
		for name := range strings.SplitSeq(line, ",") {
			if start != "" && strings.HasPrefix(strings.ToLower(strings.TrimSpace(name)), start) {
				return true
			}
		}
	}
	return false
}
