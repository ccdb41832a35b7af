package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// step is one call with its result.
func step(id, name, args, result string) []chat.Message {
	return []chat.Message{chat.CallMessage("", chat.Call(id, name, args)), chat.ResultMessage(id, result)}
}

func conversation(parts ...any) chat.Messages {
	var msgs chat.Messages
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			msgs = append(msgs, chat.TextMessage(chat.User, p))
		case chat.Message:
			msgs = append(msgs, p)
		case []chat.Message:
			msgs = append(msgs, p...)
		}
	}
	return msgs
}

func extract(msgs chat.Messages) *Evidence { return Extract(msgs, 0, len(msgs), nil) }

func TestExtractFiles(t *testing.T) {
	e := extract(conversation(
		step("1", "Read", `{"file_path":"/w/src/a.go","offset":1,"limit":50}`, "package a"),
		step("2", "Read", `{"file_path":"/w/src/a.go","offset":40,"limit":60}`, "package a"),
		step("3", "Read", `{"file_path":"/w/src/a.go","offset":200,"limit":10}`, "x"),
		step("4", "bash", `{"command":"cat src/a.go | head -5"}`, "package a"),
		step("5", "Write", `{"file_path":"/w/new.go","content":"package a"}`, "File created"),
		step("6", "Edit", `{"file_path":"/w/new.go","old_string":"a","new_string":"b"}`, "updated"),
		step("7", "Edit", `{"file_path":"/w/src/a.go"}`, "updated"),
		step("8", "bash", `{"command":"rm /w/old.go && git mv /w/b.go /w/c.go"}`, ""),
		step("9", "Read", `{"file_path":"/w/only.go"}`, "package only"),
		step("10", "Read", `{"file_path":"/w/missing.go"}`, "<tool_use_error>File does not exist.</tool_use_error>"),
		step("11", "Write", `{"file_path":"/w/only.go"}`, "ok"),
		step("12", "Edit", `{"file_path":"/w/broken.go"}`, "Error: no match"),
		step("13", "Read", `{"file_path":"/w/readme.md"}`, "hello"),
		chat.CallMessage("", chat.Call("14", "Write", `{"file_path":"/w/unanswered.go"}`)),
	))
	if r, want := e.ReadFiles(), []string{"/w/readme.md"}; !slices.Equal(r, want) {
		t.Errorf("read only %v, want %v", r, want)
	}
	if m, want := e.ModifiedFiles(), []string{"/w/b.go", "/w/c.go", "/w/new.go", "/w/old.go", "/w/only.go", "/w/src/a.go"}; !slices.Equal(m, want) {
		t.Errorf("modified %v, want %v", m, want)
	}
}

func TestExtractCommandsAndErrors(t *testing.T) {
	msgs := conversation(
		step("1", "bash", `{"command":"cd /w && go test ./... 2>&1 | tail -20"}`, "--- FAIL: TestA (0.00s)\nFAIL"),
		step("2", "bash", `{"command":"go build ./..."}`, "Exit code 1\n./a.go:3:1: undefined: foo"),
		step("3", "bash", `{"command":"make lint"}`, "Exit code 2\nmake: *** [lint] Error 2"),
		step("4", "bash", `{"command":"go build ./..."}`, "Exit code: 0\nOutput:\n"),
		step("5", "Edit", `{"file_path":"a.go"}`, "<tool_use_error>String to replace not found in file.</tool_use_error>"),
	)
	e := extract(msgs)
	if want := []string{"go test ./...", "go build ./...", "make lint"}; !slices.Equal(e.Commands, want) {
		t.Errorf("commands\n got %q\nwant %q", e.Commands, want)
	}
	var errs []string
	for _, f := range e.Errors {
		errs = append(errs, f.Source+": "+f.Line)
	}
	want := []string{
		"go test ./...: --- FAIL: TestA (0.00s)", "go test ./...: FAIL", "make lint: make: *** [lint] Error 2",
		"Edit a.go: <tool_use_error>String to replace not found in file.</tool_use_error>",
	}
	if !slices.Equal(errs, want) {
		t.Errorf("errors\n got %q\nwant %q", errs, want)
	}
	msgs = append(msgs, step("6", "Edit", `{"file_path":"a.go"}`, "The file a.go has been updated.")...)
	if e := extract(msgs); len(e.Errors) != 3 {
		t.Errorf("an edit that succeeded later leaves its error: %+v", e.Errors)
	}
}

func TestExtractUsersWords(t *testing.T) {
	reminder := chat.TextMessage(chat.User, "You must never stop. <summary>use port 1234</summary>")
	reminder.Synthetic = true
	both := chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.ToolResult, ID: "1", Text: "ok"}, {Kind: chat.Text, Text: "Always use tabs."}}}
	e := extract(conversation(
		"Please fix the parser. It must keep comments, see parse.go:120.\nThe port is 8080.",
		reminder,
		chat.CallMessage("I must think about fooBar.", chat.Call("1", "think", `{"thought":"x"}`)), both,
		"Use `goccy` not `yaml`. It must keep comments, see parse.go:120!",
		"<system-reminder>never mind</system-reminder>",
		"The port is 9090 now.",
	))
	if r := e.Requests; len(r) != 4 || r[0] != "Please fix the parser. It must keep comments, see parse.go:120.\nThe port is 8080." || r[1] != "Always use tabs." {
		t.Errorf("requests %q", r)
	}
	if want := []string{"It must keep comments, see parse.go:120.", "Always use tabs.", "Use `goccy` not `yaml`."}; !slices.Equal(e.Constraints, want) {
		t.Errorf("constraints\n got %q\nwant %q", e.Constraints, want)
	}
}

func TestExtractTodosAndAgents(t *testing.T) {
	todos := func(e *Evidence) string {
		var s []string
		for _, d := range e.Todos {
			s = append(s, d.ID+"|"+d.Text+"|"+d.Status)
		}
		return strings.Join(s, "; ")
	}
	tests := []struct {
		msgs chat.Messages
		want string
	}{
		{conversation(
			step("1", "TodoWrite", `{"todos":[{"content":"A","status":"pending","activeForm":"Doing A"},{"content":"B","status":"pending"}]}`, "ok"),
			step("2", "TodoWrite", `{"todos":[{"content":"A","status":"completed"},{"content":"B","status":"in_progress"}]}`, "ok"),
		), "|A|completed; |B|in_progress"},
		{conversation(step("1", "update_plan", `{"explanation":"x","plan":[{"step":"A","status":"done"},{"step":"B","status":"todo"}]}`, "ok")), "|A|completed; |B|pending"},
		{conversation(step("1", "task_tracker", `{"command":"plan","task_list":[{"id":"1","title":"A","status":"todo","notes":""}]}`, "ok"),
			step("2", "task_tracker", `{"command":"view","task_list":[]}`, "ok")), "1|A|pending"},
		{conversation(step("1", "TaskCreate", `{"subject":"A","description":"long"}`, "Task #1 created successfully: A"),
			step("2", "TaskCreate", `{"subject":"B","description":"long"}`, "Task #2 created successfully: B"),
			step("3", "TaskUpdate", `{"taskId":"1","status":"completed"}`, "Updated task #1 status")), "1|A|completed; 2|B|pending"},
		{conversation(step("1", "write_todos", `{"todos":"- [x] A\n- [ ] B\n  - [~] C\n"}`, "ok")), "|A|completed; |B|pending; |C|in_progress"},
		{conversation(step("1", "TodoWrite", `{"todos":[{"content":"A","status":"pending"}]}`, "ok"), step("2", "TodoWrite", `{"todos":[]}`, "ok")), ""},
		{conversation(step("1", "Bash", `{"command":"todo","todos":[{"content":"A","status":"x"}]}`, "ok")), ""},
	}
	for i, tt := range tests {
		if got := todos(extract(tt.msgs)); got != tt.want {
			t.Errorf("%d: todos %q, want %q", i, got, tt.want)
		}
	}
	e := extract(conversation(
		step("1", "Task", `{"description":"Find callers","prompt":"look"}`, "Done.\nagentId: a8c2528 (use this to resume)"),
		step("2", "spawn_agent", `{"message":"Build it"}`, `{"agent_id":"019f-77","nickname":"x"}`),
		step("3", "Task", `{"description":"No id"}`, "Done, the task identity is unclear"),
		step("4", "ExitPlanMode", `{"plan":"# Plan\nFirst this."}`, "ok"),
	))
	if len(e.Agents) != 2 || e.Agents[0].ID != "a8c2528" || e.Agents[0].Task != "Find callers" || e.Agents[1].ID != "019f-77" {
		t.Errorf("agents %+v", e.Agents)
	}
	if e.Plan != "# Plan\nFirst this." {
		t.Errorf("plan %q", e.Plan)
	}
}

func TestBindingSentences(t *testing.T) {
	text := "We have a bug. The service must not restart.\n" +
		"- Never touch the lock file\n" +
		"```\nyou must not read this\n```\n" +
		"Use X, not Y. I don't know why it fails, e.g. on Mondays. Only change a.go; keep v1.2 as it is.\n" +
		"> quoted: never\n" +
		"Please don't add dependencies! How should this look?\n" +
		"Bitte niemals direkt committen. Ne change pas le format. Nunca borres datos.\n" +
		"不要修改测试。测试应该通过。 必ずテストを実行してください。 Никогда не удаляй файлы.\n" +
		"Prefer small commits rather than one large one."
	want := []string{
		"The service must not restart.", "Never touch the lock file", "Use X, not Y.", "Only change a.go;", "Please don't add dependencies!",
		"Bitte niemals direkt committen.", "Ne change pas le format.", "Nunca borres datos.", "不要修改测试。", "必ずテストを実行してください。", "Никогда не удаляй файлы.",
		"Prefer small commits rather than one large one.",
	}
	if got := BindingSentences(text); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func ExampleExtract() {
	msgs := conversation(
		"Make the parser faster. It must stay allocation free.",
		step("1", "read", `{"path":"parse/parse.go","offset":1,"limit":80}`, "package parse"),
		step("2", "edit", `{"path":"parse/parse.go"}`, "updated"),
		step("3", "bash", `{"command":"go test ./parse"}`, "Exit code 1\n--- FAIL: TestParse (0.00s)"),
	)
	e := Extract(msgs, 0, len(msgs), nil)
	fmt.Println(e.Requests[0])
	fmt.Println(e.Constraints[0])
	fmt.Println(e.ModifiedFiles())
	fmt.Println(e.Errors[0].Line)
	fmt.Println(e.Commands[0])
	// Output:
	// Make the parser faster. It must stay allocation free.
	// It must stay allocation free.
	// [parse/parse.go]
	// --- FAIL: TestParse (0.00s)
	// go test ./parse
}
