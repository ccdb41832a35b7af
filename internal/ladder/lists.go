package ladder

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/work"
)

// lists are what an agent keeps beside the work: things to do, or a plan, and
// sub-agents by the ids under which they are known.
type lists struct {
	todos  []todo
	plan   string
	told   int // the message that changed todos or plan last
	agents []agent
}

// todo is one thing to do. Its status is pending, in_progress, completed,
// cancelled, or what the agent calls it. What it is about also stands for a text that is
// missing.
type todo struct{ id, text, about, status string }

type agent struct{ id, task string }

// mostKeepers is how many calls are read that keep lists or start sub-agents: few
// enough where the history is huge.
const mostKeepers = 64

// readLists reads the newest calls that keep lists or start sub-agents.
func (r *Reading) readLists() *lists {
	var at []int
	for k := len(r.steps) - 1; k >= 0 && len(at) < mostKeepers; k-- {
		if d := r.steps[k].deed; d != nil && len(d.call.Args) < 1<<16 && (work.AboutTodos(d.call.Name) || work.StartsAgent(d.call.Name)) {
			at = append(at, k)
		}
	}
	l := &lists{}
	for _, k := range slices.Backward(at) {
		s := &r.steps[k]
		result := ""
		if s.result != nil {
			result = s.result.Text
			if len(result) > 2400 {
				result = result[:1200] + "\n" + result[len(result)-1200:] // ids stand at either end
			}
		}
		if work.StartsAgent(s.call.Name) {
			l.readAgent(s.call, result)
		} else {
			l.readTodos(s.call, result)
			l.told = int(s.msg)
		}
	}
	return l
}

// readTodos reads lists of things to do, and plans, from the calls that keep them.
// Agents name them differently but alike: an array of objects with a text and
// a status replaces the list; a call about one entry names it by its id.
func (l *lists) readTodos(call *chat.Part, result string) {
	var list []todo
	var one todo
	found, looks, plan := false, false, ""
	work.Members(call.Args, func(key, raw string) bool {
		if raw[0] == '[' {
			if all, ok := todoList(raw); ok || raw == "[]" {
				list, found = all, true
			}
			return true
		}
		switch key {
		case "plan", "todos", "tasks", "todolist", "markdown":
			if work.IsString(raw) {
				plan = work.Text(raw)
			}
		case "command", "action", "operation":
			looks = slices.Contains([]string{"view", "read", "list", "get"}, work.Text(raw))
		}
		one.readMember(key, raw)
		return true
	})
	if !found && plan != "" {
		list = readChecklist(plan)
		found = len(list) > 0
	}
	switch {
	case looks:
	case found:
		l.todos = list
	case plan != "":
		l.plan = plan
	case one.text+one.about != "" || one.id != "" && one.status != "":
		if number := taskNumber.FindStringSubmatch(result); one.id == "" && number != nil {
			one.id = number[1]
		}
		l.mergeTodo(one)
	}
}

// taskNumber is the number that a result gives to a thing to do.
var taskNumber = regexp.MustCompile(`#([0-9A-Za-z_-]{1,80})`)

// mostTodos is how many entries of a list are read.
const mostTodos = 500

// todoList reads an array of entries; ok is false where its objects are none.
func todoList(raw string) (list []todo, ok bool) {
	work.Elements(raw, func(raw string) bool {
		var t todo
		if work.IsString(raw) {
			t.text, t.status = work.Text(raw), "pending"
		} else {
			work.Members(raw, func(key, raw string) bool { t.readMember(key, raw); return true })
			ok = ok || t.status != ""
		}
		if t.text = cmp.Or(t.text, t.about); t.text != "" {
			list = append(list, t)
		}
		return len(list) < mostTodos
	})
	return list, ok && len(list) > 0
}

// readMember reads one member of an entry.
func (t *todo) readMember(key, raw string) {
	text := ""
	if work.IsString(raw) {
		text = quote.ClipLine(work.Text(raw), 300)
	}
	switch key {
	case "content", "step", "title", "task", "subject", "todo", "name":
		if text != "" {
			t.text = text
		}
	case "description", "text":
		t.about = text
	case "status", "state":
		t.status = todoStatus(text)
	case "done", "completed", "checked":
		t.status = "pending"
		if raw == "true" {
			t.status = "completed"
		}
	case "id", "taskid", "todoid":
		t.id = quote.ClipLine(work.Text(raw), 60)
	}
}

// statuses are the beginnings of the words that agents use for a status.
var statuses = map[string]*regexp.Regexp{
	"completed":   regexp.MustCompile(`^(?:done|complete|finished|closed)`),
	"pending":     regexp.MustCompile(`^(?:todo|open|not_started|pending)?$`),
	"in_progress": regexp.MustCompile(`^(?:doing|in_?progress|active|started)`),
	"cancelled":   regexp.MustCompile(`^(?:cancel|deleted|dropped|skipped)`),
}

// todoStatus maps those words to one set.
func todoStatus(s string) string {
	s = strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(s))
	for status, words := range statuses {
		if words.MatchString(s) {
			return status
		}
	}
	return quote.ClipLine(s, 24)
}

// checkbox is a line of a list in Markdown: "- [ ] text".
var checkbox = regexp.MustCompile(`(?m)^[ \t*0-9.-]*\[([ xX~/>-])\][ \t]*(.*\S)`)

// readChecklist reads such lines.
func readChecklist(s string) (list []todo) {
	for _, found := range checkbox.FindAllStringSubmatch(s, mostTodos) {
		status := cmp.Or(map[string]string{"x": "completed", "X": "completed", " ": "pending"}[found[1]], "in_progress")
		list = append(list, todo{text: quote.ClipLine(found[2], 300), status: status})
	}
	return list
}

// mergeTodo adds or changes one entry.
func (l *lists) mergeTodo(t todo) {
	i := slices.IndexFunc(l.todos, func(old todo) bool {
		return t.id != "" && old.id == t.id || t.id == "" && old.text == cmp.Or(t.text, t.about)
	})
	if i < 0 {
		i = len(l.todos)
		l.todos = append(l.todos, todo{id: t.id, text: t.about, status: "pending"})
	}
	old := &l.todos[i]
	old.text, old.about, old.status = cmp.Or(t.text, old.text), cmp.Or(t.about, old.about), cmp.Or(t.status, old.status)
}

// readAgent reads the id of a sub-agent from the call that starts it.
func (l *lists) readAgent(call *chat.Part, result string) {
	id := work.AgentID(result)
	if id == "" || slices.ContainsFunc(l.agents, func(a agent) bool { return a.id == id }) {
		return
	}
	task := ""
	work.Members(call.Args, func(key, raw string) bool {
		if task == "" && work.IsString(raw) && slices.Contains([]string{"description", "title", "task", "name", "tldr", "prompt", "message"}, key) {
			task = quote.ClipLine(work.Text(raw), 120)
		}
		return true
	})
	l.agents = append(l.agents, agent{id, task})
}
