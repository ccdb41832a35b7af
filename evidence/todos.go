package evidence

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// todos reads lists of things to do, and plans, from the calls that keep them.
// Agents name them differently but alike: an array of objects with a text and
// a status replaces the list; a call about one entry names it by its id.
func (x *extractor) todos(call, res *chat.Part) {
	if !AboutTodos(call.Name) {
		return
	}
	var list []Todo
	found := false
	var one Todo
	plan, looks := "", false
	members(call.Args, func(key, raw string) bool {
		if raw[0] == '[' {
			if l, ok := x.todoList(raw); ok || raw == "[]" {
				list, found = l, true
			}
			return true
		}
		var buf [32]byte
		switch string(plainKey(&buf, key)) {
		case "plan", "todos", "tasks", "todolist", "markdown":
			if isString(raw) {
				plan = text(raw)
			}
		case "command", "action", "operation":
			switch text(raw) {
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
		x.e.setTodos(list)
	case plan != "":
		if l := checklist(plan, x.at); len(l) > 0 {
			x.e.setTodos(l)
		} else {
			x.e.Plan = Statement{x.at, plan}
		}
	case one.Text != "" || one.ID != "" && one.Status != "":
		if one.ID == "" {
			one.ID = idAfter(res.Text, '#')
		}
		one.At = x.at
		x.e.mergeTodo(one)
	}
}

// AboutTodos reports whether a tool of that name keeps a list or a plan.
func AboutTodos(name string) bool {
	for _, w := range [...]string{"todo", "plan", "task", "checklist"} {
		if indexFold(name, w) >= 0 {
			return true
		}
	}
	return false
}

// todoList reads an array of entries; ok is false where its objects are none.
func (x *extractor) todoList(raw string) (list []Todo, ok bool) {
	elements(raw, func(raw string) bool {
		t := Todo{At: x.at}
		if isString(raw) {
			t.Text, t.Status = text(raw), "pending"
		} else {
			members(raw, func(key, raw string) bool {
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
	var buf [32]byte
	switch k := plainKey(&buf, key); string(k) {
	case "content", "step", "title", "task", "subject", "todo", "name":
		if isString(raw) {
			t.Text = oneLine(text(raw), 300)
		}
	case "description", "text":
		if isString(raw) && t.Text == "" {
			t.Text = oneLine(text(raw), 300)
		}
	case "status", "state":
		if isString(raw) {
			t.Status = todoStatus(text(raw))
		}
	case "done", "completed", "checked":
		t.Status = "pending"
		if raw == "true" {
			t.Status = "completed"
		}
	case "id", "taskid", "todoid":
		t.ID = oneLine(text(raw), 60)
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
func checklist(s string, at int) []Todo {
	var list []Todo
	for rest := s; rest != ""; {
		var line string
		line, rest = cutLine(rest)
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
			list = append(list, Todo{Text: oneLine(strings.TrimSpace(t[3:]), 300), Status: status, At: at})
		}
	}
	return list
}

// setTodos replaces the list.
func (e *Evidence) setTodos(list []Todo) { e.Todos, e.listed = list, true }

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

// agents reads the ids of sub-agents from the calls that start them.
func (x *extractor) agents(call, res *chat.Part) {
	if !StartsAgent(call.Name) {
		return
	}
	task := ""
	members(call.Args, func(key, raw string) bool {
		var buf [32]byte
		switch string(plainKey(&buf, key)) {
		case "description", "title", "task", "name", "tldr":
			if task == "" && isString(raw) {
				task = oneLine(text(raw), 120)
			}
		case "prompt", "message":
			if task == "" && isString(raw) {
				task = oneLine(text(raw), 80)
			}
		}
		return true
	})
	s := res.Text
	if len(s) > 2400 {
		s = s[:1200] + "\n" + s[len(s)-1200:] // ids stand at either end
	}
	for _, w := range [...]string{"agentid", "agent_id", "agent id", "taskid", "task_id", "task id", "session_id", "sessionid", "session id", "thread_id", "threadid"} {
		i := indexFold(s, w)
		if i < 0 {
			continue
		}
		if id := idAfter(s[i+len(w):], ':'); id != "" {
			x.e.addAgent(Agent{ID: id, Task: task, At: x.at})
			return
		}
	}
}

// StartsAgent reports whether a tool of that name hands work to another agent.
func StartsAgent(name string) bool {
	bare := bareName(name)
	switch strings.ToLower(bare) {
	case "task", "agent", "subtask", "delegate", "dispatch_agent", "spawn_agent", "spawn_task", "new_task", "run_agent", "sessions_spawn":
		return true
	}
	return indexFold(bare, "subagent") >= 0 || indexFold(bare, "agent") >= 0 && (indexFold(bare, "spawn") >= 0 || indexFold(bare, "start") >= 0 || indexFold(bare, "launch") >= 0 || indexFold(bare, "create") >= 0)
}

// idAfter reads an id that follows a mark, at most a few characters away.
func idAfter(s string, mark byte) string {
	i := 0
	if mark == '#' {
		if i = strings.IndexByte(s, '#'); i < 0 {
			return ""
		}
		i++
	}
	for n := 0; i < len(s) && n < 6 && strings.IndexByte(" :=\"'`>*)", s[i]) >= 0; n++ {
		i++
	}
	start := i
	for i < len(s) && class[s[i]]&(cLetters|cDigit|cUnder|cDash) != 0 {
		i++
	}
	id := strings.Trim(s[start:i], "-_")
	if mark != '#' && (len(id) < 4 || maskOf(id)&(cDigit|cUnder|cDash) == 0) || len(id) > 80 {
		return ""
	}
	return id
}
