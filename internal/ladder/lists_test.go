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
		{readSteps(ranTool("1", "TaskCreate", `{"subject":"A"}`, "Task #1 created successfully: A"),
			ranTool("2", "TaskUpdate", `{"taskId":"1","description":"It was not enough.","status":"in_progress"}`, "Updated task #1")), "1|A|in_progress"},
		{readSteps(ranTool("1", "todo_add", `{"id":"1","description":"A"}`, "ok")), "1|A|pending"},
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
	want := "Edit a.go: String to replace not found in file.; make lint: make: *** [lint] Error 2; go test ./...: --- FAIL: TestA (0.00s)"
	if got := told(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	steps = append(steps, ranTool("7", "Edit", `{"file_path":"a.go"}`, "The file a.go has been updated."))
	if got := told(); strings.Contains(got, "a.go:") {
		t.Errorf("an edit that succeeded later leaves its error: %s", got)
	}
	for name, settled := range map[string]bool{"TestOther": false, "TestA": true} {
		steps = append(steps, ranTool(name, "bash", `{"command":"cd /w && go test ./... -run `+name+`"}`, "Exit code: 0\nOutput:\nok"))
		if got := told(); strings.Contains(got, "go test") == settled {
			t.Errorf("after %s alone passed: %s", name, got)
		}
		steps = steps[:len(steps)-1]
	}
}

// A command is told with its folder where that is another than the usual one, and
// neither merged with its like in another folder nor mended by it. A refusal is told with
// the user's words, not as a failure, and no more where it was done later.
func TestFoldersAndRefusals(t *testing.T) {
	run := func(id, command string) chat.Message {
		return chat.CallMessage("", chat.Call(id, "Bash", `{"command":"`+command+`"}`))
	}
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "Build all."),
		run("0", `git commit -qm \"$(cat <<'EOF'\nqueue: keep order\n\nIt was lost.\nEOF\n)\" && make`), chat.ResultMessage("0", "built"),
		run("1", "cd /w && make"), chat.ResultMessage("1", "built"),
		run("2", "cd /w && git status"), chat.ResultMessage("2", "On branch queue\nYour branch is ahead of 'origin/queue' by 2 commits.\n\nnothing to commit, working tree clean"),
		run("3", "cd /w/web && make"), chat.ResultMessage("3", "Exit code 2\nmake: *** [web] Error 2"),
		run("4", "cd /w && make"), chat.ResultMessage("4", "built"),
		run("5", "cd /w && git push"), chat.ResultMessage("5", "Exit code 1\nThe user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nwait for the review"),
		run("6", "source .secrets/env"), chat.ResultMessage("6", `Blocked: command references protected directory ".secrets"`),
		chat.TextMessage(chat.User, "Go on."),
	)
	form := fold(Read(h, counter, nil), 2000)
	text := form.Fold + form.State
	for _, want := range []string{
		"- ran `git commit -qm \"queue: keep order\" && make`", "- ran `make` 2 times", "- ran `make` in /w/web, exit 2: make: *** [web] Error 2\n", "- ran `git push`, refused by the user, who said: wait for the review\n",
		"refused: Blocked: command references protected directory", "refused, not to be tried again as it was: ran `git push`",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "failing: `git push`") {
		t.Errorf("a refusal is told as a failure:\n%s", text)
	}
	h = h.Append(run("7", "cd /w && git push"), chat.ResultMessage("7", "queue -> queue"), chat.TextMessage(chat.User, "Good."))
	if form := fold(Read(h, counter, nil), 2000); strings.Contains(form.State, "again as it was: ran `git push`") || !strings.Contains(form.State, "again as it was: ran `source") {
		t.Errorf("what was done later is told as refused, or another one is not:\n%s", form.State)
	}
}

// A file is in doubt where a command names it or changes files without naming them; of
// other commands nothing is said.
func TestDoubtNote(t *testing.T) {
	for command, want := range map[string]string{"python3 build.py": "", "git checkout main": ", may have changed since: `git checkout main` ran", "goimports -w a.go": ", may have changed since: `goimports -w a.go` ran"} {
		h := chat.NewHistory(
			chat.TextMessage(chat.User, "Mend it."),
			chat.CallMessage("", chat.Call("1", "Read", `{"file_path":"/w/a.go"}`)),
			chat.ResultMessage("1", "1\tpackage a\n2\t\n3\tfunc A() {}\n4\t\n5\tfunc B() {}\n6\t\n7\tfunc C() {}\n"),
			chat.CallMessage("", chat.Call("2", "Bash", `{"command":"`+command+`"}`)), chat.ResultMessage("2", "done"),
			chat.TextMessage(chat.User, "Go on."),
		)
		if form := fold(Read(h, counter, nil), 2000); !strings.Contains(form.State, "### /w/a.go"+want+"\n") {
			t.Errorf("%s: want %q in\n%s", command, want, form.State)
		}
	}
}

// Of commits the newest says where the work stands; a file whose original was changed since
// is no copy, and one that was read otherwise is doubted for that.
func TestWhatIsSuperseded(t *testing.T) {
	h := chat.NewHistory(chat.TextMessage(chat.User, "Mend it."))
	h = h.Append(ran("1", "gh pr create --fill", "https://h/app/pull/7")...)
	h = h.Append(ran("2", "go test ./a && git commit -am x", "[main 3f2a9b1] x")...)
	h = h.Append(ran("3", "go vet && git commit --amend --no-edit", "[main 1c2d3e4] x")...)
	h = h.Append(ranTool("4", "Write", `{"file_path":"/w/a.md","content":"one\ntwo\nthree\n"}`, "File created successfully")...)
	h = h.Append(ranTool("4b", "Write", `{"file_path":"/home/anna/.app/own.json","content":"one\ntwo\nthree\n"}`, "File created successfully")...)
	h = h.Append(ran("5", "cp /w/a.md /w/b.md && cp /w/a.md /w/c.md", "")...)
	h = h.Append(ranTool("6", "Edit", `{"file_path":"/w/b.md","old_string":"one","new_string":"uno"}`, "The file has been updated.")...)
	state := fold(Read(h, counter, nil), 3000).State
	for want, n := range map[string]int{"pull/7": 1, "1c2d3e4": 1, "3f2a9b1": 0, "b.md (a copy": 0, "own.json,": 0, "c.md (a copy of": 1} {
		if strings.Count(state, want) != n {
			t.Errorf("%q is told %d times in\n%s", want, strings.Count(state, want), state)
		}
	}
	h = h.Append(ranTool("7", "Edit", `{"file_path":"/w/a.md","old_string":"two","new_string":"dos"}`, "The file has been updated.")...)
	h = h.Append(ranTool("8", "Read", `{"file_path":"/w/d.md"}`, "     1→first of all\n     2→b\n     3→c\n     4→d\n     5→e\n     6→and secondly\n     7→thirdly")...)
	h = h.Append(ranTool("9", "Read", `{"file_path":"/w/d.md","offset":6}`, "     6→and secondly\n     7→in the end")...)
	state = fold(Read(h, counter, nil), 3000).State
	if strings.Contains(state, "(a copy") || !strings.Contains(state, "since: what was read of it later does not fit") {
		t.Errorf("in\n%s", state)
	}
}

// What is to be done is told by its id, and where it is listed unless that stands below.
func TestStandingOfTodos(t *testing.T) {
	for shown, want := range map[bool]string{
		false: standsHead + "\n- to do: #1 A\n- done: 0 of 1 thing to do, as listed in message 1\n",
		true:  standsHead + "\n- to do: #1 A\n- done: 0 of 1 thing to do\n",
	} {
		r := readSteps(ranTool("1", "TaskCreate", `{"subject":"A"}`, "Task #1 created successfully: A"))
		form := r.Fill(Room{Tokens: 2000, From: 0, To: 1, Turn: -1, Shown: []bool{shown, true}})
		if !strings.Contains(form.State, want) {
			t.Errorf("shown %v: want %q in\n%s", shown, want, form.State)
		}
		r = readSteps(ranTool("1", "TaskCreate", `{"subject":"A"}`, "Task #1 created successfully: A"),
			[]chat.Message{chat.TextMessage(chat.User, "One."), chat.TextMessage(chat.User, "Two."), chat.TextMessage(chat.User, "Three.")})
		if form := r.Fill(Room{Tokens: 2000, From: 0, To: 1, Turn: -1, Shown: make([]bool, 5)}); strings.Contains(form.State, "#1 A") {
			t.Errorf("a list of three requests ago is told: %s", form.State)
		}
	}
}
