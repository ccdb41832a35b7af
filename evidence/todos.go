package evidence

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// AboutTodos reports whether a tool of that name keeps a list or a plan.
func AboutTodos(name string) bool {
	return containsAny(strings.ToLower(name), "todo", "plan", "task", "checklist")
}

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

// readTodos reads lists of things to do, and plans, from the calls that keep them.
// Agents name them differently but alike: an array of objects with a text and
// a status replaces the list; a call about one entry names it by its id.
func (e *Evidence) readTodos(call, res *chat.Part) {
	if !AboutTodos(call.Name) {
		return
	}
	var list []Todo
	var one Todo
	found, looks, plan := false, false, ""
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
			looks = slices.Contains([]string{"view", "read", "list", "get"}, work.Text(raw))
		}
		one.member(key, raw)
		return true
	})
	if !found && plan != "" {
		list = checklist(plan)
		found = len(list) > 0
	}
	switch {
	case looks:
	case found:
		e.Todos = list
	case plan != "":
		e.Plan = plan
	case one.Text != "" || one.ID != "" && one.Status != "":
		if number := taskNumber.FindStringSubmatch(res.Text); one.ID == "" && number != nil {
			one.ID = number[1]
		}
		e.mergeTodo(one)
	}
}

// taskNumber is the number that a result gives to a thing to do.
var taskNumber = regexp.MustCompile(`#([0-9A-Za-z_-]{1,80})`)

// mostTodos is how many entries of a list are read.
const mostTodos = 500

// todoList reads an array of entries; ok is false where its objects are none.
func todoList(raw string) (list []Todo, ok bool) {
	work.Elements(raw, func(raw string) bool {
		var t Todo
		if work.IsString(raw) {
			t.Text, t.Status = work.Text(raw), "pending"
		} else {
			work.Members(raw, func(key, raw string) bool { t.member(key, raw); return true })
			ok = ok || t.Status != ""
		}
		if t.Text != "" {
			list = append(list, t)
		}
		return len(list) < mostTodos
	})
	return list, ok && len(list) > 0
}

// member reads one member of an entry.
func (t *Todo) member(key, raw string) {
	text := ""
	if work.IsString(raw) {
		text = oneLine(work.Text(raw), 300)
	}
	switch key {
	case "content", "step", "title", "task", "subject", "todo", "name":
		if text != "" {
			t.Text = text
		}
	case "description", "text":
		if t.Text == "" {
			t.Text = text
		}
	case "status", "state":
		t.Status = todoStatus(text)
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

// checkbox is a line of a list in Markdown: "- [ ] text".
var checkbox = regexp.MustCompile(`(?m)^[ \t*0-9.-]*\[([ xX~/>-])\][ \t]*(.*\S)`)

// checklist reads such lines.
func checklist(s string) (list []Todo) {
	for _, found := range checkbox.FindAllStringSubmatch(s, mostTodos) {
		status := "in_progress"
		switch found[1] {
		case "x", "X":
			status = "completed"
		case " ":
			status = "pending"
		}
		list = append(list, Todo{Text: oneLine(found[2], 300), Status: status})
	}
	return list
}

// mergeTodo adds or changes one entry.
func (e *Evidence) mergeTodo(t Todo) {
	i := slices.IndexFunc(e.Todos, func(old Todo) bool { return t.ID != "" && old.ID == t.ID || t.ID == "" && old.Text == t.Text })
	if i < 0 {
		i = len(e.Todos)
		e.Todos = append(e.Todos, Todo{ID: t.ID, Status: "pending"})
	}
	old := &e.Todos[i]
	if t.Text != "" {
		old.Text = t.Text
	}
	if t.Status != "" {
		old.Status = t.Status
	}
}

// readAgents reads the ids of sub-agents from the calls that start them.
func (e *Evidence) readAgents(call, res *chat.Part) {
	if !StartsAgent(call.Name) {
		return
	}
	s := res.Text
	if len(s) > 2400 {
		s = s[:1200] + "\n" + s[len(s)-1200:] // ids stand at either end
	}
	id := agentID.FindStringSubmatch(s)
	if id == nil || !e.isNew("agents", id[1]) {
		return
	}
	task := ""
	work.Members(call.Args, func(key, raw string) bool {
		if task == "" && work.IsString(raw) && slices.Contains([]string{"description", "title", "task", "name", "tldr", "prompt", "message"}, key) {
			task = oneLine(work.Text(raw), 120)
		}
		return true
	})
	e.Agents = append(e.Agents, Agent{ID: id[1], Task: task})
}

// agentID is an id with the name under which results tell it. It has a digit or
// a mark in it, since a word is none.
var agentID = regexp.MustCompile(`(?i)(?:agent|task|session|thread)[_ ]?id[ :="'` + "`" + `>*)]{1,6}([a-z]*[0-9_-][a-z0-9_-]{2,78}|[a-z0-9]+[0-9_-][a-z0-9_-]{0,78})`)
