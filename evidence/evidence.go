package evidence

import (
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/typed"
)

// Evidence is what a stretch of messages has shown, typed. Each list is in
// order of first appearance and has one entry per key; an entry tells what was
// seen last. At is always the index of a message in the history.
type Evidence struct {
	// From and To are the messages it was drawn from: From to To-1.
	From, To int

	Requests    []Statement // what users asked, word for word
	Constraints []Statement // sentences of users that bind: must, never, instead of
	Plan        Statement   // the last plan handed over as prose
	Todos       []Todo      // the list of things to do, as it stands
	Files       []File
	Commands    []Command
	Errors      []Failure // not those that a later success has settled
	Agents      []Agent   // sub-agents, by the ids they can be reached under
	Places      []Place   // file:line, where users, the agent or an error point
	Symbols     []Symbol  // names that users or the agent wrote, or that stand in errors
	Values      []Value   // numbers, ids, addresses, hashes

	keys    map[key]int    // where the entry of a key stands in its list
	settled map[string]int // by source: the message of its last success
	listed  bool           // Todos were set as a whole
}

// Statement is something said, and where.
type Statement struct {
	At   int
	Text string
}

// Operation is what happened to a file.
type Operation uint8

// The operations on files.
const (
	NotModified Operation = iota // read at most
	Created
	Updated
	Deleted
)

var operationNames = [...]string{"read", "created", "updated", "deleted"}

// String returns the operation's name as it stands in reports.
func (o Operation) String() string {
	if int(o) < len(operationNames) {
		return operationNames[o]
	}
	return "unknown"
}

// Range is a run of lines, counted from 1, both included. To is 0 where the
// end is not known.
type Range struct{ From, To int }

// File is a file that calls have touched.
type File struct {
	Path string

	// Op is what was done to the file last, seen over the whole stretch: one
	// that was created and then updated counts as created.
	Op Operation

	// Read tells that the file's content was shown; Ranges are the lines shown,
	// merged and in order, empty when the whole file was.
	Read   bool
	Whole  bool
	Ranges []Range

	At int

	// guessed marks a file as created only because nothing was known of it.
	guessed bool
}

// Command is a command that was run, by what it does: a leading change of
// folder and trailing filters of its output do not make it another one.
type Command struct {
	Text   string
	Exit   int
	Known  bool // the exit status is known
	Failed bool
	Times  int
	At     int
}

// Failure is a line that says what went wrong.
type Failure struct {
	Line   string
	Source string // the command or call that failed
	At     int
}

// Todo is one thing to do. Status is pending, in_progress, completed,
// cancelled, or what the agent calls it.
type Todo struct {
	ID, Text, Status string
	At               int
}

// Agent is a sub-agent that was started.
type Agent struct {
	ID, Task string
	At       int
}

// Place is a line of a file that something points at.
type Place struct {
	Path string
	Line int
	At   int
}

// Symbol is a name. Times counts the messages that have it, Said those of
// users and the agent.
type Symbol struct {
	Name        string
	Kind        EntityKind
	Times, Said int
	At          int
}

// Value is a number, id, address or hash, with the name it stands under where
// there is one; a new value under the same name replaces the old one.
type Value struct {
	Key, Text string
	Kind      EntityKind
	Times     int
	At        int
}

// key names an entry: its list, and what makes it that entry.
type key struct {
	class Class
	text  string
}

// Class is a kind of evidence.
type Class uint8

// The classes, in the order in which [Evidence.Render] serves them.
const (
	Requests Class = iota
	Constraints
	Todos
	Files
	Errors
	Commands
	Agents
	Places
	Values
	Symbols
	Classes // how many there are
)

var classNames = [...]string{"requests", "constraints", "todos", "files", "errors", "commands", "agents", "places", "values", "symbols"}

// String returns the class's name as it stands in reports.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// Extract draws the evidence from messages from to to-1 of a sequence. It reads
// original messages only: synthetic ones, which hold reminders and earlier
// summaries, are passed over, and so are thinking and what a client put into a
// user's message. A nil Kinds is the default.
func Extract(msgs chat.Sequence, from, to int, k *Kinds) *Evidence {
	from, to = max(from, 0), min(to, msgs.Len())
	x := extractor{e: &Evidence{From: from, To: max(from, to)}, kinds: k, open: make(map[string]*chat.Part)}
	for i := from; i < to; i++ {
		m := msgs.At(i)
		if m.Synthetic {
			continue
		}
		x.at = i
		for _, s := range typed.Split(msgs, i) {
			if s.Kind == typed.Typed {
				x.user(s.Text(m))
			}
		}
		for p := range m.Parts {
			x.part(m.Role, &m.Parts[p])
		}
	}
	x.e.settle()
	return x.e
}

// entry finds the place of a key's entry in its list, or notes that it comes
// next, at place n.
func (e *Evidence) entry(class Class, text string, n int) (int, bool) {
	if e.keys == nil {
		e.index()
	}
	k := key{class, text}
	if i, ok := e.keys[k]; ok {
		return i, true
	}
	e.keys[k] = n
	return n, false
}

// index notes the entries of evidence that was not extracted here but, say,
// read from a file.
func (e *Evidence) index() {
	e.keys = make(map[key]int)
	for i := range e.Constraints {
		e.keys[key{Constraints, plainWords(e.Constraints[i].Text)}] = i
	}
	files := e.Files
	e.Files = nil
	for _, f := range files {
		e.addFile(f)
	}
	for i := range e.Commands {
		e.keys[key{Commands, e.Commands[i].Text}] = i
	}
	for i := range e.Errors {
		e.keys[key{Errors, e.Errors[i].name()}] = i
	}
	for i := range e.Agents {
		e.keys[key{Agents, e.Agents[i].ID}] = i
	}
	for i := range e.Places {
		e.keys[key{Places, placeText(e.Places[i])}] = i
	}
	for i := range e.Symbols {
		e.keys[key{Symbols, e.Symbols[i].Name}] = i
	}
	for i := range e.Values {
		e.keys[key{Values, e.Values[i].name()}] = i
	}
}

func (e *Evidence) addRequest(s Statement) { e.Requests = append(e.Requests, s) }

func (e *Evidence) addConstraint(s Statement) {
	if i, ok := e.entry(Constraints, plainWords(s.Text), len(e.Constraints)); ok {
		e.Constraints[i] = s
		return
	}
	e.Constraints = append(e.Constraints, s)
}

func (e *Evidence) addCommand(c Command) {
	if i, ok := e.entry(Commands, c.Text, len(e.Commands)); ok {
		c.Times += e.Commands[i].Times
		e.Commands[i] = c
		return
	}
	e.Commands = append(e.Commands, c)
}

func (e *Evidence) addError(f Failure) {
	if i, ok := e.entry(Errors, f.name(), len(e.Errors)); ok {
		if !e.isSettled(&e.Errors[i]) {
			e.Errors[i] = f
			return
		}
		e.Errors[i].Line = "" // it comes again, as a new one
		e.keys[key{Errors, f.name()}] = len(e.Errors)
	}
	e.Errors = append(e.Errors, f)
}

func (e *Evidence) isSettled(f *Failure) bool {
	at, ok := e.settled[f.Source]
	return ok && at > f.At
}

// succeeded notes that a source did what it should.
func (e *Evidence) succeeded(source string, at int) {
	if e.settled == nil {
		e.settled = make(map[string]int)
	}
	e.settled[source] = max(at, e.settled[source])
}

// settle removes the errors whose source succeeded later.
func (e *Evidence) settle() {
	if len(e.Errors) == 0 {
		return
	}
	if e.keys == nil {
		e.index()
	}
	kept := e.Errors[:0]
	for _, f := range e.Errors {
		k := key{Errors, f.name()}
		if f.Line == "" {
			continue
		}
		if e.isSettled(&f) {
			delete(e.keys, k)
			continue
		}
		e.keys[k] = len(kept)
		kept = append(kept, f)
	}
	e.Errors = kept
}

func (e *Evidence) addAgent(a Agent) {
	if i, ok := e.entry(Agents, a.ID, len(e.Agents)); ok {
		if a.Task == "" {
			a.Task = e.Agents[i].Task
		}
		e.Agents[i] = a
		return
	}
	e.Agents = append(e.Agents, a)
}

func (e *Evidence) addPlace(p Place) {
	if i, ok := e.entry(Places, placeText(p), len(e.Places)); ok {
		e.Places[i].At = p.At
		return
	}
	e.Places = append(e.Places, p)
}

func (e *Evidence) addSymbol(s Symbol) {
	if i, ok := e.entry(Symbols, s.Name, len(e.Symbols)); ok {
		old := &e.Symbols[i]
		if s.At == old.At { // the same message again
			old.Said = max(old.Said, min(old.Said+s.Said, old.Times))
			return
		}
		old.Times += s.Times
		old.Said += s.Said
		old.At = s.At
		return
	}
	e.Symbols = append(e.Symbols, s)
}

func (e *Evidence) addValue(v Value) {
	if i, ok := e.entry(Values, v.name(), len(e.Values)); ok {
		v.Times += e.Values[i].Times
		e.Values[i] = v
		return
	}
	e.Values = append(e.Values, v)
}

// name is what makes a failure this failure.
func (f *Failure) name() string { return f.Source + "\x00" + f.Line }

// name is what makes a value this value.
func (v *Value) name() string {
	if v.Key != "" {
		return v.Key
	}
	return "=" + v.Text
}
