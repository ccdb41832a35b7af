package providersim

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A fact that is gone need not be read again where the agent has winnow's
// tools (winnow mcp): the driver then asks for the hidden text, as a model would.
// Where the prompt shows which handle stands for the part, it asks for that; else
// it searches for the fact's name, and asks for the handle that it is told if the
// line itself did not come with it. Where the agent has a shell only, it runs
// winnow recall there, if the prompt says so and [DriveOptions.Recall] is set. Only
// what cannot be had so is printed again. For example, for the fact of part 2:
//
//	[old output of bash(command=sh drive.sh 2) left out: …; original: wk3ptjzmt]
//
//	recall {"handle":"wk3ptjzmt","find":"retry_limit_002"}
//
// Some agents tell their model only the names of such tools, and have one more by
// which it asks for the rest (Claude Code's ToolSearch, Qwen Code's tool_search): the
// driver asks for them when it first needs them.

// A lost is a fact that is gone: what is known of it, and where it was said.
type lost struct {
	key   int    // of its need, in the account
	words string // to search for
	find  string // in an original; "" where a line of it would be the fact itself
	said  string // a marker that has this stands for where it was said
}

// A place is something to ask for: a handle, and the line to read from where one is
// known, or words to search for without a handle.
type place struct {
	handle, words string
	from          int
}

// recallCall is the call by which a fact that is gone is asked for, if the agent has
// the tools, or a shell and a prompt that names the command, and there is something
// left to try.
func (d *Driver) recallCall(a *Ask, t *driven, f lost) (call Block, ok bool) {
	recall, byHandle := a.toolWith("recall", "handle")
	search, byWords := a.toolWith("search_history", "words")
	shell, byShell := Tool{}, false
	if !byHandle {
		if call, ok := a.findTools(t); ok {
			return call, true
		}
		if shell, byShell = shellTool(a); !byShell || !d.work.recalls || a.Find("`winnow recall w") == "" {
			return Block{}, false
		}
	}
	for _, p := range a.placesOf(f) {
		if slices.Contains(t.asked[f.key], p) || p.handle == "" && !byWords && !byShell {
			continue
		}
		t.asked[f.key] = append(t.asked[f.key], p)
		switch {
		case byShell:
			return shell.shellCall(p.command(f.find)), true
		case p.handle == "":
			return search.callWith(object{"words", p.words}), true
		case p.from > 0:
			return recall.callWith(object{"handle", p.handle, "from", p.from, "lines", linesRead}), true
		case f.find == "":
			return recall.callWith(object{"handle", p.handle}), true
		}
		return recall.callWith(object{"handle", p.handle, "find", f.find}), true
	}
	return Block{}, false
}

// Lines that are read around one that a search found.
const (
	linesBefore = 100
	linesRead   = 600
)

// command asks for a place in a shell.
func (p place) command(find string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	switch {
	case p.handle == "":
		return "winnow recall --history " + quote(p.words)
	case p.from > 0:
		return fmt.Sprintf("winnow recall %s --from %d --lines %d", p.handle, p.from, linesRead)
	case find == "":
		return "winnow recall " + p.handle
	}
	return "winnow recall " + p.handle + " --search " + quote(find)
}

// countMarkers takes note of the handles that a prompt shows.
func (t *driven) countMarkers(a *Ask) {
	a.eachText(func(text []byte) {
		for _, m := range markers.FindAllSubmatch(text, -1) {
			t.seen[string(m[1])] = true
		}
	})
	t.Markers = len(t.seen)
}

// countRecalled takes note of a fact that came back, and of the handle that brought it:
// the model asked for it, or a search showed its place.
func (t *driven) countRecalled(a *Ask, f lost) {
	t.Recalled++
	last := t.asked[f.key][len(t.asked[f.key])-1]
	if places := a.placesOf(f); last.handle == "" {
		last = places[len(places)-1]
	}
	if t.seen[last.handle] {
		t.redeemed[last.handle] = true
	}
	t.Redeemed = len(t.redeemed)
}

// recallName is the name of a tool by which originals are had, as agents list it.
var recallName = regexp.MustCompile(`\b\w*winnow\w*recall\b`)

// findTools asks the agent for the tools that it has and did not declare: by their
// names where the prompt tells them, else by words.
func (a *Ask) findTools(t *driven) (call Block, ok bool) {
	at := slices.IndexFunc(a.Tools, func(tool Tool) bool {
		return strings.EqualFold(strings.ReplaceAll(tool.Name, "_", ""), "toolsearch") && tool.schema.path("properties", "query").ok()
	})
	if at < 0 || t.looked == 2 {
		return Block{}, false
	}
	t.looked++
	query := "winnow recall"
	a.eachText(func(text []byte) {
		if name := recallName.FindString(string(text)); name != "" {
			query = "select:" + name + "," + strings.TrimSuffix(name, "recall") + "search_history"
		}
	})
	args := object{"query", query}
	if a.Tools[at].schema.path("properties", "max_results").ok() {
		args = args.set("max_results", 5)
	}
	return a.Tools[at].callWith(args), true
}

var (
	markers = regexp.MustCompile(`original: (w[0-9a-z]{8,})`)
	hits    = regexp.MustCompile(`(?m)^(w[0-9a-z]{8,}) from=([0-9]+) .*`)
)

// placesOf is what may bring a fact back, as far as the prompt tells, best first: the
// last marker that names where it was said, its words, and of what the last search
// found the call by which it was read, or else the best.
func (a *Ask) placesOf(f lost) []place {
	var named string
	var found place
	a.eachText(func(text []byte) {
		for line := range strings.Lines(string(text)) {
			if m := markers.FindStringSubmatch(line); m != nil && strings.Contains(line, f.said) {
				named = m[1]
			}
		}
		all := hits.FindAllSubmatch(text, -1)
		if all == nil {
			return
		}
		read := slices.IndexFunc(all, func(m [][]byte) bool { return strings.Contains(string(m[0]), f.said+`"`) })
		m := all[max(0, read)]
		line, _ := strconv.Atoi(string(m[2])) // it has digits only
		found = place{handle: string(m[1]), from: max(1, line-linesBefore)}
	})
	return slices.DeleteFunc([]place{{handle: named}, {words: f.words}, found}, func(p place) bool { return p == place{} })
}

// toolWith finds a tool by the end of its name, in front of which agents put the
// server's, and a parameter that it must have.
func (a *Ask) toolWith(name, parameter string) (Tool, bool) {
	for _, t := range a.Tools {
		if strings.HasSuffix(t.Name, name) && t.schema.path("properties", parameter).ok() {
			return t, true
		}
	}
	return a.carriedTool(name)
}

// carriedTool finds a tool that the agent showed when it was asked for, and which is
// called by another that it declares (Qwen Code's tool_call).
func (a *Ask) carriedTool(name string) (tool Tool, ok bool) {
	if !slices.ContainsFunc(a.Tools, func(t Tool) bool { return t.Name == "tool_call" && t.schema.path("properties", "arguments").ok() }) {
		return Tool{}, false
	}
	shown := regexp.MustCompile(`<function>\{"name":"(\w+` + name + `)"`)
	a.eachText(func(text []byte) {
		if m := shown.FindSubmatch(text); m != nil {
			tool, ok = Tool{Name: string(m[1]), carrier: "tool_call"}, true
		}
	})
	return tool, ok
}
