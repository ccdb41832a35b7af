package evidence

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// readTodos reads lists of things to do, and plans, from the calls that keep them.
// Agents name them differently but alike: an array of objects with a text and
// a status replaces the list; a call about one entry names it by its id.
func (e *Evidence) readTodos(call, res *chat.Part) {
	if !AboutTodos(call.Name) {
		return
	}
	var list []Todo
	found := false
	var one Todo
	plan, looks := "", false
	work.Members(call.Args, func(key, raw string) bool {
		if raw[0] == '[' {
			if l, ok := todoList(raw); ok || raw == "[]" {
				list, found = l, true
			}
			return true
		}
		switch key {
		case "plan", "todos", "tasks", "todolist", "markdown":
			if work.IsString(raw) {
				plan = work.Text(raw)
			}
		case "command", "action", "operation":
			switch work.Text(raw) {
			case "view", "read", "list", "get":
				looks = true
			}
		}
		one.member(key, raw)
		return true
	})
	switch {
	case looks:
	case found:
		e.Todos = list
	case plan != "":
		if l := checklist(plan); len(l) > 0 {
			e.Todos = l
		} else {
			e.Plan = plan
		}
	case one.Text != "" || one.ID != "" && one.Status != "":
		if one.ID == "" {
			if found := taskNumber.FindStringSubmatch(res.Text); found != nil {
				one.ID = found[1]
			}
		}
		e.mergeTodo(one)
	}
}

// AboutTodos reports whether a tool of that name keeps a list or a plan.
func AboutTodos(name string) bool {
	return containsAny(strings.ToLower(name), "todo", "plan", "task", "checklist")
}

// todoList reads an array of entries; ok is false where its objects are none.
func todoList(raw string) (list []Todo, ok bool) {
	work.Elements(raw, func(raw string) bool {
		var t Todo
		if work.IsString(raw) {
			t.Text, t.Status = work.Text(raw), "pending"
		} else {
			work.Members(raw, func(key, raw string) bool {
				t.member(key, raw)
				return true
			})
			ok = ok || t.Status != ""
		}
		if t.Text != "" && len(list) < 500 {
			list = append(list, t)
		}
		return true
	})
	return list, ok && len(list) > 0
}

// member reads one member of an entry.
func (t *Todo) member(key, raw string) {
	switch key {
	case "content", "step", "title", "task", "subject", "todo", "name":
		if work.IsString(raw) {
			t.Text = oneLine(work.Text(raw), 300)
		}
	case "description", "text":
		if work.IsString(raw) && t.Text == "" {
			t.Text = oneLine(work.Text(raw), 300)
		}
	case "status", "state":
		if work.IsString(raw) {
			t.Status = todoStatus(work.Text(raw))
		}
	case "done", "completed", "checked":
		t.Status = "pending"
		if raw == "true" {
			t.Status = "completed"
		}
	case "id", "taskid", "todoid":
		t.ID = oneLine(work.Text(raw), 60)
	}
}

// todoStatus maps the words that agents use to one set.
func todoStatus(s string) string {
	switch s = strings.ToLower(strings.NewReplacer("-", "_", " ", "_").Replace(s)); s {
	case "done", "complete", "completed", "finished", "closed":
		return "completed"
	case "todo", "open", "not_started", "pending", "":
		return "pending"
	case "doing", "in_progress", "active", "started", "inprogress":
		return "in_progress"
	case "canceled", "cancelled", "deleted", "dropped", "skipped":
		return "cancelled"
	}
	return oneLine(s, 24)
}

// checklist reads "- [ ] text" lines.
func checklist(s string) []Todo {
	var list []Todo
	for line := range strings.Lines(s) {
		t := strings.TrimLeft(line, " \t-*0123456789.")
		if len(t) < 5 || t[0] != '[' || t[2] != ']' {
			continue
		}
		status := "pending"
		switch t[1] {
		case 'x', 'X':
			status = "completed"
		case '~', '/', '-', '>':
			status = "in_progress"
		case ' ':
		default:
			continue
		}
		if len(list) < 500 {
			list = append(list, Todo{Text: oneLine(strings.TrimSpace(t[3:]), 300), Status: status})
		}
	}
	return list
}

// mergeTodo adds or changes one entry.
func (e *Evidence) mergeTodo(t Todo) {
	for i := range e.Todos {
		old := &e.Todos[i]
		if t.ID != "" && old.ID == t.ID || t.ID == "" && old.Text == t.Text {
			if t.Text == "" {
				t.Text = old.Text
			}
			if t.Status == "" {
				t.Status = old.Status
			}
			*old = t
			return
		}
	}
	if t.Status == "" {
		t.Status = "pending"
	}
	e.Todos = append(e.Todos, t)
}

// readAgents reads the ids of sub-agents from the calls that start them.
func (e *Evidence) readAgents(call, res *chat.Part) {
	if !StartsAgent(call.Name) {
		return
	}
	task := ""
	work.Members(call.Args, func(key, raw string) bool {
		switch key {
		case "description", "title", "task", "name", "tldr":
			if task == "" && work.IsString(raw) {
				task = oneLine(work.Text(raw), 120)
			}
		case "prompt", "message":
			if task == "" && work.IsString(raw) {
				task = oneLine(work.Text(raw), 80)
			}
		}
		return true
	})
	s := res.Text
	if len(s) > 2400 {
		s = s[:1200] + "\n" + s[len(s)-1200:] // ids stand at either end
	}
	if found := agentID.FindStringSubmatch(s); found != nil && e.isNew(Agents, found[1]) {
		e.Agents = append(e.Agents, Agent{ID: found[1], Task: task})
	}
}

// agentID is an id with the name under which results tell it. It has a digit or
// a mark in it, since a word is none.
var agentID = regexp.MustCompile(`(?i)(?:agent|task|session|thread)[_ ]?id[ :="'` + "`" + `>*)]{1,6}([a-z]*[0-9_-][a-z0-9_-]{2,78}|[a-z0-9]+[0-9_-][a-z0-9_-]{0,78})`)

// StartsAgent reports whether a tool of that name hands work to another agent.
func StartsAgent(name string) bool {
	bare := strings.ToLower(bareName(name))
	switch bare {
	case "task", "agent", "subtask", "delegate", "dispatch_agent", "spawn_agent", "spawn_task", "new_task", "run_agent", "sessions_spawn":
		return true
	}
	return strings.Contains(bare, "subagent") || strings.Contains(bare, "agent") && containsAny(bare, "spawn", "start", "launch", "create")
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// taskNumber is the number that a result gives to a thing to do.
var taskNumber = regexp.MustCompile(`#([0-9A-Za-z_-]{1,80})`)
