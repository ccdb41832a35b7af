package evidence

import (
	"slices"
	"strings"
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
