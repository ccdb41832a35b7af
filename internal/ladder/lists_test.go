package ladder

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

func ranTool(id, name, args, result string) []chat.Message {
	return []chat.Message{chat.CallMessage("", chat.Call(id, name, args)), chat.ResultMessage(id, result)}
}

func readSteps(steps ...[]chat.Message) *Reading {
	var msgs []chat.Message
	for _, s := range steps {
		msgs = append(msgs, s...)
	}
	return Read(chat.NewHistory(msgs...), token.New(token.O200K, nil), nil)
}

func TestLists(t *testing.T) {
	todos := func(l *lists) string {
		var s []string
		for _, d := range l.todos {
			s = append(s, d.id+"|"+d.text+"|"+d.status)
		}
		return strings.Join(s, "; ")
	}
	tests := []struct {
		r    *Reading
		want string
	}{
		{readSteps(
			ranTool("1", "TodoWrite", `{"todos":[{"content":"A","status":"pending","activeForm":"Doing A"},{"content":"B","status":"pending"}]}`, "ok"),
			ranTool("2", "TodoWrite", `{"todos":[{"content":"A","status":"completed"},{"content":"B","status":"in_progress"}]}`, "ok"),
		), "|A|completed; |B|in_progress"},
		{readSteps(ranTool("1", "update_plan", `{"explanation":"x","plan":[{"step":"A","status":"done"},{"step":"B","status":"todo"}]}`, "ok")), "|A|completed; |B|pending"},
		{readSteps(ranTool("1", "task_tracker", `{"command":"plan","task_list":[{"id":"1","title":"A","status":"todo","notes":""}]}`, "ok"),
			ranTool("2", "task_tracker", `{"command":"view","task_list":[]}`, "ok")), "1|A|pending"},
		{readSteps(ranTool("1", "TaskCreate", `{"subject":"A","description":"long"}`, "Task #1 created successfully: A"),
			ranTool("2", "TaskCreate", `{"subject":"B","description":"long"}`, "Task #2 created successfully: B"),
			ranTool("3", "TaskUpdate", `{"taskId":"1","status":"completed"}`, "Updated task #1 status")), "1|A|completed; 2|B|pending"},
		{readSteps(ranTool("1", "write_todos", `{"todos":"- [x] A\n- [ ] B\n  - [~] C\n"}`, "ok")), "|A|completed; |B|pending; |C|in_progress"},
		{readSteps(ranTool("1", "TodoWrite", `{"todos":[{"content":"A","status":"pending"}]}`, "ok"), ranTool("2", "TodoWrite", `{"todos":[]}`, "ok")), ""},
		{readSteps(ranTool("1", "Bash", `{"command":"todo","todos":[{"content":"A","status":"x"}]}`, "ok")), ""},
	}
	for i, tt := range tests {
		if got := todos(tt.r.readLists()); got != tt.want {
			t.Errorf("%d: todos %q, want %q", i, got, tt.want)
		}
	}
	e := readSteps(
		ranTool("1", "Task", `{"description":"Find callers","prompt":"look"}`, "Done.\nagentId: a8c2528 (use this to resume)"),
		ranTool("2", "spawn_agent", `{"message":"Build it"}`, `{"agent_id":"019f-77","nickname":"x"}`),
		ranTool("3", "Task", `{"description":"No id"}`, "Done, the task identity is unclear"),
		ranTool("4", "ExitPlanMode", `{"plan":"# Plan\nFirst this."}`, "ok"),
	).readLists()
	if len(e.agents) != 2 || e.agents[0].id != "a8c2528" || e.agents[0].task != "Find callers" || e.agents[1].id != "019f-77" {
		t.Errorf("agents %+v", e.agents)
	}
	if e.plan != "# Plan\nFirst this." {
		t.Errorf("plan %q", e.plan)
	}
}

// A failure is told until the same call succeeds; reads and searches only looked.
func TestUnsettled(t *testing.T) {
	steps := [][]chat.Message{
		ranTool("1", "bash", `{"command":"cd /w && go test ./... 2>&1 | tail -20"}`, "--- FAIL: TestA (0.00s)\nFAIL"),
		ranTool("2", "bash", `{"command":"go build ./..."}`, "Exit code 1\n./a.go:3:1: undefined: foo"),
		ranTool("3", "bash", `{"command":"make lint"}`, "Exit code 2\nmake: *** [lint] Error 2"),
		ranTool("4", "bash", `{"command":"go build ./..."}`, "Exit code: 0\nOutput:\n"),
		ranTool("5", "Edit", `{"file_path":"a.go"}`, "<tool_use_error>String to replace not found in file.</tool_use_error>"),
		ranTool("6", "bash", `{"command":"cat missing.go"}`, "Exit code 1\ncat: missing.go: No such file or directory"),
	}
	told := func() string {
		var list []string
		for _, f := range readSteps(steps...).unsettledFailures(9) {
			list = append(list, f.source+": "+f.line)
		}
		return strings.Join(list, "; ")
	}
	want := "Edit a.go: <tool_use_error>String to replace not found in file.</tool_use_error>; make lint: make: *** [lint] Error 2; go test ./...: --- FAIL: TestA (0.00s)"
	if got := told(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	steps = append(steps, ranTool("7", "Edit", `{"file_path":"a.go"}`, "The file a.go has been updated."))
	if got := told(); strings.Contains(got, "a.go:") {
		t.Errorf("an edit that succeeded later leaves its error: %s", got)
	}
	steps = append(steps,
		ranTool("8", "bash", `{"command":"python /w/try_it.py"}`, "Exit code 1\nImportError: no module named app"),
		ranTool("9", "bash", `{"command":"rm /w/try_*.py"}`, "Exit code: 0\nOutput:\n"))
	steps = append([][]chat.Message{ranTool("0", "Write", `{"file_path":"/w/try_it.py","content":"import app"}`, "File created")}, steps...)
	if got := told(); strings.Contains(got, "try_it") {
		t.Errorf("what failed is gone, and told as failing: %s", got)
	}
}
