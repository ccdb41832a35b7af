package evidence

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/internal/work"
)

// Evidence is what a stretch of messages has shown, typed. Each list is in
// order of first appearance and has one entry for each thing.
type Evidence struct {
	Requests    []string // what users asked, word for word
	Constraints []string // sentences of users that bind: must, never, instead of
	Plan        string   // the last plan handed over as prose
	Todos       []Todo   // the list of things to do, as it stands
	Files       []File
	Commands    []string
	Errors      []Failure // not those that a later success has settled
	Agents      []Agent   // sub-agents, by the ids they can be reached under

	seen  map[string]bool  // what stands in a list, by class and text
	files map[string][]int // by path, and by name: where the file stands in Files
}

// File is a file that calls have read, or created, updated or deleted.
type File struct {
	Path           string
	Read, Modified bool
}

// Failure is a line that says what went wrong.
type Failure struct {
	Line   string
	Source string // the command or call that failed
}

// Todo is one thing to do. Status is pending, in_progress, completed,
// cancelled, or what the agent calls it.
type Todo struct{ ID, Text, Status string }

// Agent is a sub-agent that was started.
type Agent struct{ ID, Task string }

// Classes are the names of the kinds of evidence, in the order in which reports
// tell them.
var Classes = []string{"requests", "constraints", "todos", "files", "errors", "commands", "agents"}

// Extract draws the evidence from messages from to to-1 of a sequence. It reads
// original messages only: synthetic ones, which hold reminders and earlier
// summaries, are passed over, and so are thinking and what a client put into a
// user's message. A nil Kinds is the default.
func Extract(msgs chat.Sequence, from, to int, k *Kinds) *Evidence {
	e := &Evidence{seen: map[string]bool{}, files: map[string][]int{}}
	open := map[string]*chat.Part{} // calls without a result yet, by id
	for i := max(from, 0); i < min(to, msgs.Len()); i++ {
		m := msgs.At(i)
		if m.Synthetic {
			continue
		}
		for _, s := range typed.Split(msgs, i) {
			if s.Kind == typed.Typed {
				e.addRequest(s.Text(m))
			}
		}
		for p := range m.Parts {
			switch p := &m.Parts[p]; {
			case p.Kind == chat.ToolCall:
				open[p.ID] = p
			case p.Kind == chat.ToolResult:
				e.addResult(open[p.ID], p, k)
				delete(open, p.ID)
			}
		}
	}
	return e
}

// isNew reports whether something of a class was not there yet, and notes it.
func (e *Evidence) isNew(class, text string) bool {
	key := class + text
	known := e.seen[key]
	e.seen[key] = true
	return !known
}

func (e *Evidence) addRequest(text string) {
	e.Requests = append(e.Requests, text)
	for _, s := range BindingSentences(text) {
		if e.isNew("constraints", strings.TrimRight(strings.ToLower(flat(s)), ".!;。")) {
			e.Constraints = append(e.Constraints, s)
		}
	}
}

// addResult reads a result together with its call, which may be nil.
func (e *Evidence) addResult(call, res *chat.Part, k *Kinds) {
	var a Access
	source, piped := "", false
	if call != nil {
		a = k.Access(call)
		source = sourceOf(call, &a)
		if a.Command != "" {
			source, piped = coreCommand(a.Command)
		}
	}
	failed, exit, known := Status(res)
	if piped && exit == 0 {
		known = false // the status of the filter, not of the command
	}
	if !failed || a.Kind == Shell {
		a.Each(func(o Op) { e.addFile(o, failed) })
	}
	shows := a.Kind == Read || a.Kind == Search
	lines := failures(res, failed, shows || known)
	for _, l := range lines {
		if e.isNew("errors", source+"\x00"+l) {
			e.Errors = append(e.Errors, Failure{Line: l, Source: source})
		}
	}
	if a.Kind == Shell && a.Command != "" && e.isNew("commands", source) {
		e.Commands = append(e.Commands, source)
	}
	if source != "" && !failed && len(lines) == 0 {
		e.settle(source)
	}
	if call != nil {
		e.readTodos(call, res)
		e.readAgents(call, res)
	}
}

// settle takes out the errors of a source that now did what it should.
func (e *Evidence) settle(source string) {
	e.Errors = slices.DeleteFunc(e.Errors, func(f Failure) bool {
		if f.Source == source {
			delete(e.seen, "errors"+source+"\x00"+f.Line)
		}
		return f.Source == source
	})
}

// failures returns the lines of a result that say what went wrong. Where it did
// not fail, they have to be clear; none where an exit status says that all went
// well.
func failures(res *chat.Part, failed, well bool) []string {
	if !failed && well {
		return nil
	}
	text := plainText(work.Body(res.Text))
	if !failed {
		return errorLines(text, 4, 2)
	}
	lines := errorLines(text, 2, 3)
	if first, _, _ := strings.Cut(text, "\n"); len(lines) == 0 && first != "" {
		if _, ok := work.ExitOf(first); !ok {
			lines = []string{quote.ClipLine(first, errorLineMax)}
		}
	}
	return lines
}

// sourceOf names a call by what it is about.
func sourceOf(call *chat.Part, a *Access) string {
	switch {
	case a.Path != "":
		return call.Name + " " + a.Path
	case a.Query != "":
		return call.Name + " " + quote.ClipLine(a.Query, 80)
	}
	return Headline(call, 160)
}

// outputFilters are programs that only choose from what a command prints.
var outputFilters = strings.Fields("tail head grep egrep rg cat sed awk sort uniq wc cut less more tee")

// coreCommand returns a command without a change of folder at its start and
// without filters of its output at its end, on one line, and whether there
// were such filters.
func coreCommand(s string) (core string, piped bool) {
	s = strings.TrimSpace(s)
	if before, after, ok := strings.Cut(s, "<<"); ok {
		line, _, _ := strings.Cut(after, "\n")
		s = before + "<<" + line + " …" // here documents are not part of the name
	}
	for strings.HasPrefix(s, "cd ") {
		folder, rest, ok := strings.Cut(s, "&&")
		if !ok || strings.ContainsAny(folder, "|;\n") {
			break
		}
		s = strings.TrimSpace(rest)
	}
	for {
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "2>&1"))
		i := strings.LastIndexByte(s, '|')
		if i < 0 || strings.HasSuffix(s[:i], "|") || strings.ContainsAny(s[i:], ";&") || strings.Count(s[:i], "'")%2+strings.Count(s[:i], `"`)%2 > 0 {
			break
		}
		filter, _, _ := strings.Cut(strings.TrimSpace(s[i+1:]), " ")
		if !slices.Contains(outputFilters, filter) {
			break
		}
		s, piped = s[:i], true
	}
	return quote.ClipLine(s, 240), piped
}
