package evidence

import (
	"maps"
	"strings"
)

// # What does a tool do?
//
// There is no standard for tools. One agent reads a file with Read, another with
// read_file, view, mcp__fs__readFile or a shell's cat. But much depends on
// knowing: a file that was read again makes the older read superfluous, an edit
// changes the working set, and a summary says "edited pool.go", not "called
// str_replace_editor". So each tool is sorted into one of seven kinds, by its name
// alone. What a call then does to which file is told by its arguments
// ([Kinds.Access]), where a shell's command gets its kind from the programs that
// it runs: cat reads, rg searches.
//
// The name is looked up three times, and the first answer counts:
//
//  1. In the table, without regard to case, underscores and dashes. The settings
//     of the caller ([Kinds.With]) stand in the same table and win.
//  2. In the table without the namespace in front of it.
//  3. By its words, from left to right: the first one that names an action
//     decides. If that was a search, a later word that edits or deletes wins.
//     A word of the agent's own bookkeeping (todo, plan, task, memory) anywhere
//     makes it Other: create_task creates nothing in the project.
//
// Some names, and how each gets its kind:
//
//	Read                      table: read                         Read
//	str_replace_editor        table: strreplaceeditor             Edit
//	mcp__fs__read_file        table without mcp__fs__             Read
//	runTests                  words: run                          Shell
//	search_replace_in_files   words: search, then replace         Edit
//	create_task               words: create, but task             Other
//	cancel_reservation        no word that is known               Other
//
// The table holds what the words would get wrong (write_stdin writes no file, it
// talks to a shell) and the commonest names, to find them at once.
//
// What is deliberately not done: descriptions and schemas are not read, because
// they are other people's prose and change the verdict from one version to the
// next; nothing is learned from results; and a name is never guessed to be
// harmless. Other promises nothing: its results are treated like any text, and
// no file is believed to be read or changed by it unless its arguments say so:
// with a patch, a command, or the name of an action ("command": "view").

// ToolKind says what a tool does. It is about effects, not about files alone: a
// tool that looks up a booking is of kind Read though it names no path.
type ToolKind uint8

// The kinds of tools.
const (
	Other  ToolKind = iota // none of these, or unknown
	Read                   // shows one thing whole or in part
	Write                  // creates or replaces
	Edit                   // changes in place
	Delete                 // removes
	Search                 // finds or lists
	Shell                  // runs commands
)

var toolKindNames = [...]string{"other", "read", "write", "edit", "delete", "search", "shell"}

// ParseToolKind returns the kind with a name, and whether there is one.
func ParseToolKind(name string) (ToolKind, bool) {
	for k, n := range toolKindNames {
		if n == name {
			return ToolKind(k), true
		}
	}
	return Other, false
}

// String returns the kind's name as it stands in reports and settings.
func (k ToolKind) String() string {
	if int(k) < len(toolKindNames) {
		return toolKindNames[k]
	}
	return "unknown"
}

// Kinds says of which kind a tool is, by its name. Names are compared without
// regard to case, underscores and dashes. A name that is not in the table is
// looked up again without its namespace (mcp__server__name, functions.name,
// default_api:name) and is then judged by its words: read_page reads,
// runTests runs. Kinds is immutable and safe for concurrent use.
type Kinds struct{ table map[string]ToolKind }

// DefaultKinds returns the table of tool names known from agents in the field.
func DefaultKinds() *Kinds { return defaultKinds }

// With returns a copy in which these names have these kinds, whatever the table
// or the words of the name say.
func (k *Kinds) With(names map[string]ToolKind) *Kinds {
	next := &Kinds{table: maps.Clone(k.table)}
	if next.table == nil {
		next.table = make(map[string]ToolKind, len(names))
	}
	for name, kind := range names {
		var buf [nameSize]byte
		next.table[string(plainName(&buf, name))] = kind
	}
	return next
}

// Of returns the kind of the tool with that name. A nil Kinds is the default.
func (k *Kinds) Of(name string) ToolKind {
	if k == nil {
		k = defaultKinds
	}
	var buf [nameSize]byte
	if kind, ok := k.table[string(plainName(&buf, name))]; ok {
		return kind
	}
	bare := bareName(name)
	if len(bare) != len(name) {
		if kind, ok := k.table[string(plainName(&buf, bare))]; ok {
			return kind
		}
	}
	return kindByWords(bare)
}

const nameSize = 64

func plainName(buf *[nameSize]byte, name string) []byte {
	n := 0
	for i := 0; i < len(name) && n < len(buf); i++ {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == ' ':
			continue
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		buf[n] = c
		n++
	}
	return buf[:n]
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
func kindByWords(name string) ToolKind {
	found := Other
	for i := 0; i < len(name); {
		var w [16]byte
		n := 0
		start := i
		for ; i < len(name); i++ {
			c := name[i]
			upper := 'A' <= c && c <= 'Z'
			if !upper && (c < 'a' || c > 'z') {
				break
			}
			if upper && i > start && name[i-1] >= 'a' {
				break
			}
			if n < len(w) {
				w[n] = c | 0x20
				n++
			}
		}
		if i == start {
			i++
			continue
		}
		kind, about := kindOfWord(string(w[:n]))
		switch {
		case about:
			return Other
		case found == Other:
			found = kind
		case found == Search && (kind == Edit || kind == Delete):
			return kind
		}
	}
	return found
}

// kindOfWord returns the kind a word stands for. About is true for words that
// make the whole name one about the agent's own bookkeeping.
func kindOfWord(w string) (kind ToolKind, about bool) {
	switch w {
	case "todo", "todos", "plan", "think", "thought", "task", "tasks", "agent", "agents", "subagent", "memory", "skill", "question", "chapter":
		return Other, true
	case "read", "view", "open", "cat", "show", "get", "load", "fetch", "peek", "print", "display", "head", "tail", "download", "inspect":
		return Read, false
	case "write", "create", "save", "put", "new", "touch", "generate", "scaffold", "upload", "copy":
		return Write, false
	case "edit", "replace", "update", "modify", "patch", "insert", "apply", "append", "change", "rename", "move", "refactor", "fix", "set", "undo", "format":
		return Edit, false
	case "delete", "remove", "rm", "unlink", "erase", "trash":
		return Delete, false
	case "search", "grep", "find", "glob", "list", "ls", "query", "lookup", "tree", "rg", "ripgrep", "locate", "browse", "scan":
		return Search, false
	case "shell", "bash", "sh", "zsh", "exec", "execute", "run", "command", "cmd", "terminal", "powershell", "pwsh", "console", "python", "ipython", "script", "process", "repl", "eval":
		return Shell, false
	}
	return Other, false
}

// The table holds names that their words would judge wrongly or not at all,
// and the commonest names so that they are found at once.
var defaultKinds = &Kinds{table: map[string]ToolKind{
	"read": Read, "readfile": Read, "readmanyfiles": Read, "readfiles": Read, "view": Read, "viewfile": Read,
	"open": Read, "openfile": Read, "cat": Read, "viewimage": Read, "notebookread": Read, "getfilecontents": Read,
	"webfetch": Read, "fetch": Read, "fetchurl": Read, "goto": Read, "scrolldown": Read, "scrollup": Read,
	"readresource": Read, "getdiagnostics": Read, "urlcontext": Read,

	"write": Write, "writefile": Write, "writetofile": Write, "create": Write, "createfile": Write, "savefile": Write,
	"artifact": Write,

	"edit": Edit, "editfile": Edit, "multiedit": Edit, "multieditfile": Edit, "strreplace": Edit, "strreplaceeditor": Edit,
	"strreplacebasededittool": Edit, "texteditor": Edit, "fileeditor": Edit, "replace": Edit, "replaceinfile": Edit,
	"applydiff": Edit, "applypatch": Edit, "patch": Edit, "notebookedit": Edit, "insert": Edit, "insertcontent": Edit,
	"searchreplace": Edit, "searchandreplace": Edit, "findandreplace": Edit, "undoedit": Edit, "movefile": Edit,
	"renamefile": Edit,

	"deletefile": Delete, "removefile": Delete, "delete": Delete, "rm": Delete,

	"grep": Search, "glob": Search, "ls": Search, "list": Search, "listdir": Search, "listdirectory": Search, "listfiles": Search,
	"listcodedefinitionnames": Search, "find": Search, "findfile": Search, "searchfile": Search, "searchdir": Search,
	"searchfiles": Search, "searchfilecontent": Search, "filesearch": Search, "codebasesearch": Search, "grepsearch": Search,
	"websearch": Search, "googlewebsearch": Search, "toolsearch": Search, "multigrep": Search, "codesearch": Search, "rg": Search,

	"bash": Shell, "shell": Shell, "shellcommand": Shell, "execcommand": Shell, "exec": Shell, "writestdin": Shell,
	"runshellcommand": Shell, "executebash": Shell, "executecommand": Shell, "runcommand": Shell, "runterminalcmd": Shell,
	"runinterminal": Shell, "localshell": Shell, "containerexec": Shell, "bashoutput": Shell, "killshell": Shell, "killbash": Shell,
	"terminal": Shell, "executeipythoncell": Shell, "runipython": Shell, "codeinterpreter": Shell, "powershell": Shell,

	"todowrite": Other, "todoread": Other, "updateplan": Other, "tasktracker": Other, "taskcreate": Other, "taskupdate": Other,
	"taskoutput": Other, "tasklist": Other, "taskget": Other, "taskstop": Other, "task": Other, "agent": Other, "think": Other,
	"finish": Other, "submit": Other, "exitplanmode": Other, "enterplanmode": Other, "askuserquestion": Other, "skill": Other,
	"sendmessage": Other, "savememory": Other,
}}
