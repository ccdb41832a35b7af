package work

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
)

// # What does a tool do?
//
// Tools have no standard names: one agent reads a file with Read, another with
// read_file, view, mcp__fs__readFile or a shell's cat. So each tool is sorted into one
// of seven kinds, by its name alone. What a call then does to which file is told by its
// arguments ([Kinds.Access]), where a shell's command gets its kind from the programs
// that it runs: cat reads, rg searches.
//
// The name is looked up three times, and the first answer counts:
//
//  1. In the table, without regard to case, underscores and dashes. The settings
//     of the caller ([Kinds.With]) stand in the same table and win.
//  2. In the table without the namespace in front of it.
//  3. By its words, from left to right: the first one that names an action
//     decides. If that was a search, a later word that edits or deletes wins.
//     A word of the agent's own bookkeeping (todo, plan, task, memory) anywhere
//     makes it ToolOther: create_task creates nothing in the project.
//
// Some names, and how each gets its kind:
//
//	Read                      table: read                         ToolRead
//	str_replace_editor        table: strreplaceeditor             ToolEdit
//	mcp__fs__read_file        table without mcp__fs__             ToolRead
//	runTests                  words: run                          ToolShell
//	search_replace_in_files   words: search, then replace         ToolEdit
//	create_task               words: create, but task             ToolOther
//	cancel_reservation        no word that is known               ToolOther
//
// The table holds what the words would get wrong (write_stdin writes no file, it
// talks to a shell) and the commonest names, to find them at once.
//
// What is deliberately not done: descriptions and schemas are not read, because
// they are other people's prose and change the verdict from one version to the
// next; nothing is learned from results; and a name is never guessed to be
// harmless. ToolOther promises nothing: its results are treated like any text, and
// no file is believed to be read or changed by it unless its arguments say so:
// with a patch, a command, or the name of an action ("command": "view").

// Tool says what a tool does. It is about effects, not about files alone: a
// tool that looks up a booking is of kind ToolRead though it names no path.
type Tool uint8

// The kinds of tools.
const (
	ToolOther  Tool = iota // none of these, or unknown
	ToolRead               // shows one thing whole or in part
	ToolWrite              // creates or replaces
	ToolEdit               // changes in place
	ToolDelete             // removes
	ToolSearch             // finds or lists
	ToolShell              // runs commands
)

var toolNames = [...]string{"other", "read", "write", "edit", "delete", "search", "shell"}

// ParseTool returns the kind with a name, and whether there is one.
func ParseTool(name string) (Tool, bool) {
	k := slices.Index(toolNames[:], name)
	return Tool(max(k, 0)), k >= 0
}

// String returns the kind's name as it stands in reports and settings.
func (k Tool) String() string {
	if int(k) < len(toolNames) {
		return toolNames[k]
	}
	return "unknown"
}

// Kinds says of which kind a tool is, by its name. It is immutable and safe for
// concurrent use.
type Kinds struct{ table map[string]Tool }

// DefaultKinds returns the table of tool names known from agents in the field.
func DefaultKinds() *Kinds { return defaultKinds }

// With returns a copy in which these names have these kinds, whatever the table
// or the words of the name say.
func (k *Kinds) With(names map[string]Tool) *Kinds {
	next := &Kinds{table: map[string]Tool{}}
	maps.Copy(next.table, k.table)
	for name, kind := range names {
		next.table[Plain(name)] = kind
	}
	return next
}

// Of returns the kind of the tool with that name. A nil Kinds is the default.
func (k *Kinds) Of(name string) Tool {
	if k == nil {
		k = defaultKinds
	}
	bare := bareName(name)
	for _, n := range [...]string{name, bare} {
		if kind, ok := k.table[Plain(n)]; ok {
			return kind
		}
	}
	return kindByWords(bare)
}

// bareName returns a tool's name without the namespace in front of it.
func bareName(name string) string {
	for _, sep := range [...]string{"__", ".", ":", "/"} {
		if i := strings.LastIndex(name, sep); i >= 0 && i+len(sep) < len(name) {
			name = name[i+len(sep):]
		}
	}
	return name
}

// kindByWords judges a name by its first word that says what is done. Where
// that word is a search, a later word that changes something wins
// (search_and_replace).
func kindByWords(name string) Tool {
	found := ToolOther
	for start := 0; start < len(name); {
		end := start
		for end < len(name) && isLetter(name[end]) && (end == start || name[end] >= 'a' || name[end-1] < 'a') {
			end++
		}
		kind, known := kindsOfWords[strings.ToLower(name[start:end])]
		switch {
		case known && kind == ToolOther:
			return ToolOther
		case found == ToolOther:
			found = kind
		case found == ToolSearch && (kind == ToolEdit || kind == ToolDelete):
			return kind
		}
		start = max(end, start+1)
	}
	return found
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// kindsOfWords are the kinds that words of a name stand for. Those of the agent's
// own bookkeeping make the whole name ToolOther.
var kindsOfWords = tableOf(map[Tool]string{
	ToolOther:  "todo todos plan think thought task tasks agent agents subagent memory skill question chapter",
	ToolRead:   "read view open cat show get load fetch peek print display head tail download inspect",
	ToolWrite:  "write create save put new touch generate scaffold upload copy",
	ToolEdit:   "edit replace update modify patch insert apply append change rename move refactor fix set undo format",
	ToolDelete: "delete remove rm unlink erase trash",
	ToolSearch: "search grep find glob list ls query lookup tree rg ripgrep locate browse scan",
	ToolShell:  "shell bash sh zsh exec execute run command cmd terminal powershell pwsh console python ipython script process repl eval",
})

// The table holds names that their words would judge wrongly or not at all,
// and the commonest names so that they are found at once.
var defaultKinds = &Kinds{table: tableOf(map[Tool]string{
	ToolRead: `read readfile readmanyfiles readfiles view viewfile open openfile cat viewimage notebookread getfilecontents webfetch fetch
		fetchurl goto scrolldown scrollup readresource getdiagnostics urlcontext`,
	ToolWrite: "write writefile writetofile create createfile savefile",
	ToolEdit: `edit editfile multiedit multieditfile strreplace strreplaceeditor strreplacebasededittool texteditor fileeditor replace
		replaceinfile applydiff applypatch patch notebookedit insert insertcontent searchreplace searchandreplace findandreplace
		undoedit movefile renamefile`,
	ToolDelete: "deletefile removefile delete rm",
	ToolSearch: `grep glob ls list listdir listdirectory listfiles listcodedefinitionnames find findfile searchfile searchdir searchfiles
		searchfilecontent filesearch codebasesearch grepsearch websearch googlewebsearch multigrep codesearch rg`,
	ToolShell: `bash shell shellcommand execcommand exec writestdin runshellcommand executebash executecommand runcommand runterminalcmd
		runinterminal localshell containerexec bashoutput killshell killbash terminal executeipythoncell runipython codeinterpreter
		powershell`,
	ToolOther: `todowrite todoread updateplan tasktracker taskcreate taskupdate taskoutput tasklist taskget taskstop task agent think finish
		artifact submit toolsearch exitplanmode enterplanmode askuserquestion skill sendmessage savememory`,
})}

// tableOf gives each word of a row the row's key.
func tableOf[K comparable](rows map[K]string) map[string]K {
	table := map[string]K{}
	for key, words := range rows {
		for w := range strings.FieldsSeq(words) {
			table[w] = key
		}
	}
	return table
}

// AboutTodos reports whether a tool of that name keeps a list or a plan.
func AboutTodos(name string) bool {
	return find.Any(strings.ToLower(name), "todo", "plan", "task", "checklist")
}

// AsksUser reports whether a call asks the user, whose answer it returns. Services have
// tools with such names too.
func AsksUser(call *chat.Part) bool {
	bare := Plain(bareName(call.Name))
	return bare == "question" || find.Any(bare, "askuser", "askfollowup", "requestuserinput") ||
		strings.Contains(bare, "askquestion") && find.Any(call.Args, `"questions"`, `"options"`)
}

// OnlyExplores reports whether a call starts an agent that only looks around.
func OnlyExplores(call *chat.Part) (found bool) {
	Members(call.Args, func(key, raw string) bool {
		if key == "subagenttype" || key == "agenttype" {
			found = slices.Contains([]string{"explore", "plan", "search"}, strings.ToLower(Text(raw)))
		}
		return !found
	})
	return found
}

// AgentID returns the id under which a result says that an agent works; "" where it names
// none.
func AgentID(result string) string {
	if m := agentID.FindStringSubmatch(result); m != nil {
		return m[1]
	}
	return ""
}

// agentID is an id with the name under which results tell it. It has a digit or
// a mark in it, since a word is none.
var agentID = regexp.MustCompile(`(?i)(?:agent|task|session|thread)[_ ]?id[ :="'` + "`" + `>*)]{1,6}([a-z]*[0-9_-][a-z0-9_-]{2,78}|[a-z0-9]+[0-9_-][a-z0-9_-]{0,78})`)

// StartsAgent reports whether a tool of that name hands work to another agent.
func StartsAgent(name string) bool {
	bare := Plain(bareName(name))
	return slices.Contains([]string{"task", "agent", "subtask", "delegate", "newtask", "sessionsspawn"}, bare) ||
		strings.Contains(bare, "agent") && find.Any(bare, "subagent", "spawn", "start", "launch", "create", "run", "dispatch")
}
