package providersim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A fact that is gone need not be read again where the agent has winnow's
// tools (winnow mcp): the driver then asks for what was hidden, as a model would.
// Where the prompt shows which handle stands for the part, it asks for that;
// else it searches for the fact's name, and asks for the handle that it is told
// if the line itself did not come with it. Only what cannot be had so is printed
// again. For example, for the fact of part 2:
//
//	[old output of bash(command=sh drive.sh 2) left out: …; original: wk3ptjzmt]
//
//	recall {"handle":"wk3ptjzmt","find":"retry_limit_002"}
//
// Some agents tell their model only the names of such tools, and have one more by
// which it asks for the rest (Claude Code's ToolSearch, Qwen Code's tool_search): the
// driver asks for them when it first needs them.

// recallCall is the call by which a fact that is gone is asked for, if the
// agent has the tools and there is something left to try.
func (d *Driver) recallCall(a *Ask, t *driven, from int) (call Block, why string, ok bool) {
	recall, byHandle := a.toolWith("recall", "handle")
	search, byWords := a.toolWith("search_history", "words")
	if !byHandle {
		return a.findTools(t)
	}
	name := d.work.name(from)
	handle := handleOf(a, d.work.again(from), name)
	switch tried := t.asked[from]; {
	case handle != "" && !slices.Contains(tried, handle):
		call = recall.callWith(object{"handle", handle, "find", name})
	case byWords && !slices.Contains(tried, name):
		handle = name
		call = search.callWith(object{"words", name})
	default:
		return Block{}, "", false
	}
	t.asked[from] = append(t.asked[from], handle)
	return call, fmt.Sprintf("I need what part %d said of %s, which is hidden, so I ask for it.", from, name), true
}

// recallName is the name of a tool by which originals are had, as agents list it.
var recallName = regexp.MustCompile(`\b\w*winnow\w*recall\b`)

// findTools asks the agent for the tools that it has and did not declare: by their
// names where the prompt tells them, else by words.
func (a *Ask) findTools(t *driven) (call Block, why string, ok bool) {
	at := slices.IndexFunc(a.Tools, func(tool Tool) bool {
		return strings.EqualFold(strings.ReplaceAll(tool.Name, "_", ""), "toolsearch") && tool.schema.path("properties", "query").ok()
	})
	if at < 0 || t.looked == 2 {
		return Block{}, "", false
	}
	t.looked++
	query := "winnow recall"
	a.texts(func(text []byte) {
		if name := recallName.FindString(string(text)); name != "" {
			query = "select:" + name + "," + strings.TrimSuffix(name, "recall") + "search_history"
		}
	})
	args := object{"query", query}
	if a.Tools[at].schema.path("properties", "max_results").ok() {
		args = args.set("max_results", 5)
	}
	return a.Tools[at].callWith(args), "I need what is hidden, so I look for the tool that shows it.", true
}

// handles are what a hidden text is asked for by: in a marker, and in the answer
// to a search.
var handles = regexp.MustCompile(`original: (w[0-9a-z]{8,})|^(w[0-9a-z]{8,}) from=[0-9]+ `)

// handleOf is the handle of the text in which something is said, as far as the
// prompt tells: in a marker that names the command, or in a search's answer that
// names the fact. The last one counts.
func handleOf(a *Ask, command, name string) string {
	run := strings.TrimSuffix(command, " again")
	found := ""
	a.texts(func(text []byte) {
		if !strings.Contains(string(text), "original: w") && !strings.Contains(string(text), " from=") {
			return
		}
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, run+")") && !strings.Contains(line, name) {
				continue
			}
			if m := handles.FindStringSubmatch(line); m != nil {
				found = m[1] + m[2]
			}
		}
	})
	return found
}

// toolWith finds a tool by the end of its name, in front of which agents put the
// server's, and a parameter that it must have.
func (a *Ask) toolWith(name, parameter string) (Tool, bool) {
	for _, t := range a.Tools {
		if strings.HasSuffix(t.Name, name) && t.schema.path("properties", parameter).ok() {
			return t, true
		}
	}
	return Tool{}, false
}

// callWith calls a tool with arguments, and the least for what else it requires.
func (t Tool) callWith(args object) Block {
	given := map[string]bool{}
	for i := 0; i+1 < len(args); i += 2 {
		given[args[i].(string)] = true
	}
	for _, r := range t.schema.get("required").elems {
		if name := r.str(); !given[name] {
			args = args.set(name, least(name, t.schema.path("properties", name), 0))
		}
	}
	return Block{Kind: Call, Name: t.Name, Args: string(encode(args)), namespace: t.namespace}
}
