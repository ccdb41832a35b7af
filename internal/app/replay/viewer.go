package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// nextOutput is the output reserve at a cut, in tokens.
const nextOutput = 4096

// Viewer makes views of histories whose context is full: the engine under some
// settings, or aiming at a number of tokens, as winnow compact --target does.
type Viewer struct {
	Name     string
	Settings winnow.Settings
	Target   int // tokens; 0 leaves that to the settings
}

// Viewers returns what the board of next edits compares: targets, the preset thrifty,
// and the engine with nothing set, which is the preset default.
func Viewers() []Viewer {
	var out []Viewer
	for _, n := range []int{16000, 22000, 30000} {
		out = append(out, Viewer{Name: fmt.Sprintf("target %d", n), Target: n})
	}
	return append(out, Viewer{Name: "thrifty", Settings: winnow.Settings{Preset: "thrifty"}}, Viewer{Name: "default"})
}

// ViewersByName returns viewers: default (or winnow, or shipped), thrifty, and
// target-N for any number of tokens.
func ViewersByName(names ...string) ([]Viewer, error) {
	var out []Viewer
	for _, name := range names {
		n := strings.TrimPrefix(plainName(name), "winnow-")
		if n == "winnow" || n == "shipped" {
			n = "default"
		}
		if tokens, ok := strings.CutPrefix(n, "target-"); ok {
			if t, err := strconv.Atoi(tokens); err == nil && t >= 500 {
				out = append(out, Viewer{Name: "target " + tokens, Target: t})
				continue
			}
		}
		i := slices.IndexFunc(Viewers(), func(v Viewer) bool { return v.Name == n })
		if i < 0 {
			return nil, fmt.Errorf("replay: there is no view %q; there are default, thrifty and target-N", name)
		}
		out = append(out, Viewers()[i])
	}
	return out, nil
}

// engineFor makes an engine that counts in a vocabulary, for an agent's window.
func engineFor(set winnow.Settings, name string, f token.Family, agent model.Window) (*winnow.Winnow, error) {
	set.Model = name
	override, err := json.Marshal(map[string]any{"models": map[string]any{
		name: map[string]any{"family": f.String()},
	}})
	if err != nil {
		return nil, err
	}
	registry, err := model.Default().WithOverrides(override)
	if err != nil {
		return nil, err
	}
	return winnow.New(&winnow.Options{Settings: set, Registry: registry, Agent: agent})
}

// openPolicy makes the viewer's engine for a window.
func (v Viewer) openPolicy(window int) (FieldPolicy, error) {
	set := v.Settings
	set.Window, set.OutputReserve = window, nextOutput
	w, err := engineFor(set, "unpriced", counting, model.Window{})
	if err != nil {
		return FieldPolicy{}, fmt.Errorf("replay: %s: %w", v.Name, err)
	}
	return compactingPolicy(v.Name, w, v.Target)
}

// compactedView returns what a policy leaves of a session's first messages. There is no
// fixed part: a target is the conversation's.
func (p *FieldPolicy) compactedView(ctx context.Context, s *Session, at int) (msgs []*chat.Message, given int, err error) {
	msgs, given, err = viewOf(ctx, p, chat.Request{History: s.History.Head(at), Rules: Rules()})
	if err != nil {
		err = fmt.Errorf("replay: %s on %s at message %d: %w", p.Name, s.File, at, err)
	}
	return msgs, given, err
}

// viewMessages returns a view's messages: the history's own where they stay as
// they are.
func viewMessages(h chat.History, v plan.View) []*chat.Message {
	msgs := make([]*chat.Message, v.Len())
	for i := range msgs {
		if raw := v.Raw(i); raw >= 0 {
			msgs[i] = h.At(raw)
		} else {
			msgs[i] = v.At(i)
		}
	}
	return msgs
}
