//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("TASKS_TEST_AGENT") != "" {
		if err := workAsAgent(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// message is one of chat completions.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	ID      string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// workAsAgent is an agent that runs the commands it is told. Its conversation is a file,
// written after each step, so that it can be resumed.
func workAsAgent() error {
	file := filepath.Join(os.Getenv("STATE"), "conversation.json")
	conversation := []message{{Role: "user", Content: os.Getenv("INSTRUCTION")}}
	if data, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(data, &conversation); err != nil {
			return err
		}
	}
	for {
		last := conversation[len(conversation)-1]
		switch {
		case len(last.Calls) > 0:
			var args struct{ Command string }
			if err := json.Unmarshal([]byte(last.Calls[0].Function.Arguments), &args); err != nil {
				return err
			}
			out, _ := exec.Command("sh", "-c", args.Command).CombinedOutput()
			conversation = append(conversation, message{Role: "tool", Content: string(out), ID: last.Calls[0].ID})
		case last.Role == "assistant" && len(conversation[1].Calls) > 0:
			return nil
		case last.Role == "assistant":
			// A model that cannot call tools is shown file after file; its last words are
			// its answer.
			next := fmt.Sprintf("notes-%d.txt", len(conversation)/2-1)
			text, err := os.ReadFile(next)
			if err != nil {
				return os.WriteFile("answer", []byte(last.Content), 0o600)
			}
			conversation = append(conversation, message{Role: "user", Content: next + ":\n" + string(text) + "Which port does the server listen on?"})
		default:
			ask := map[string]any{"model": "gpt-4.1", "messages": conversation}
			if most, err := strconv.Atoi(os.Getenv("TASKS_TEST_AGENT")); err == nil {
				ask["max_tokens"] = most
			}
			body, err := json.Marshal(ask)
			if err != nil {
				return err
			}
			r, err := http.NewRequest(http.MethodPost, os.Getenv("BASE")+"/v1/chat/completions", bytes.NewReader(body))
			if err != nil {
				return err
			}
			r.Header.Set("Authorization", "Bearer "+filepath.Base(filepath.Dir(os.Getenv("STATE"))))
			r.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			var answer struct{ Choices []struct{ Message message } }
			err = json.NewDecoder(resp.Body).Decode(&answer)
			resp.Body.Close()
			if err != nil || len(answer.Choices) == 0 {
				return fmt.Errorf("%s %w", resp.Status, err)
			}
			conversation = append(conversation, answer.Choices[0].Message)
		}
		data, err := json.Marshal(conversation)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
	}
}

// scripted is a model: it reads eight files, of which the first says the port, then
// writes the port down if it still knows it.
type scripted struct {
	mu       sync.Mutex
	steps    map[string]int // by key
	requests int
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	step := s.steps[r.Header.Get("Authorization")]
	s.steps[r.Header.Get("Authorization")]++
	s.requests++
	s.mu.Unlock()
	m := message{Role: "assistant", Content: "It is done."}
	if step < 9 {
		command := fmt.Sprintf("cat notes-%d.txt", step)
		if step == 8 {
			command = "echo unknown > answer"
			if bytes.Contains(body, []byte("listens on port 4711")) {
				command = "echo 4711 > answer"
			}
		}
		c := call{ID: fmt.Sprintf("call_%d", step), Type: "function"}
		c.Function.Name, c.Function.Arguments = "shell", fmt.Sprintf(`{"command":%q}`, command)
		m = message{Role: "assistant", Calls: []call{c}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "1", "model": "gpt-4.1", "choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": "stop"}},
		"usage": map[string]int{"prompt_tokens": len(body) / 4, "completion_tokens": 20},
	})
}

// writeTask writes a task whose hidden test looks for the port. lines is the length of
// each file.
func writeTask(t *testing.T, folder, name, port string, lines int) {
	t.Helper()
	files := map[string]string{
		"task.json":       `{"instruction": "Write the port down.", "setup": "touch ready", "test": "sh check.sh"}`,
		"hidden/check.sh": "test -f ready && grep -q " + port + " answer",
	}
	for i := range 8 {
		files[fmt.Sprintf("repo/notes-%d.txt", i)] = strings.Repeat(fmt.Sprintf("The harbour of island %d has a crane and a shed.\n", i), lines)
	}
	files["repo/notes-0.txt"] += "The server listens on port 4711.\n"
	for file, text := range files {
		file = filepath.Join(folder, name, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// describeAgent writes the description of the agent that this program is. A number asks for
// answers of at most that many tokens.
func describeAgent(t *testing.T, folder, tokens string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	described := filepath.Join(folder, "agent.json")
	text := fmt.Sprintf(`{"env": {"TASKS_TEST_AGENT": "%s"}, "start": "exec '%s'", "compact": "echo compacted", "resume": "exec '%s'"}`, tokens, self, self)
	if err := os.WriteFile(described, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return described
}

// Two tasks, of which one cannot be solved, are worked on alone and with winnow: agents
// are stopped in the middle and go on, a budget ends the series, the same command goes
// on with it, and nothing is done twice.
func TestTasks(t *testing.T) {
	folder := t.TempDir()
	writeTask(t, folder, "port", "4711", 150)
	writeTask(t, folder, "riddle", "4712", 150)
	described := describeAgent(t, folder, "any")
	model := &scripted{steps: map[string]int{}}
	server := httptest.NewServer(model)
	defer server.Close()
	out := filepath.Join(t.TempDir(), "out")
	run := func(budget string) (string, error) {
		var b bytes.Buffer
		err := tasksCommand(t.Context(), []string{"-tasks", folder, "-agent", described, "-out", out, "-stop", "6", "-budget", budget, "-window", "20000", "-upstream", "openai=" + server.URL}, &b)
		return b.String(), err
	}
	if text, err := run("0.02"); err == nil || !strings.Contains(err.Error(), "budget of $0.02 is spent") {
		t.Fatalf("%v\n%s", err, text)
	}
	model.steps = map[string]int{} // a run that was broken off begins anew
	text, err := run("10")
	if err != nil {
		t.Fatal(err, text)
	}
	for _, want := range []string{"port, alone: solved", "port, winnow: solved", "riddle, winnow: not solved", "| alone | 2 | 1 | 9 to 91 % | 0.", "| winnow | 2 | 1 |", "| 10 (10 to 10) |", "| 2 | 2 |\n", "only alone: 0, only with winnow: 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	before := model.requests
	if again, err := run("10"); err != nil || model.requests != before || !strings.HasSuffix(text, again) {
		t.Errorf("%v: %d requests more\n%s", err, model.requests-before, again)
	}
}

// refuseLongPrompts is a model of 2,048 tokens that calls no tools.
func refuseLongPrompts(w http.ResponseWriter, r *http.Request) {
	var ask struct{ Messages []message }
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		return
	}
	tokens := 0
	for _, m := range ask.Messages {
		tokens += 8 + len(m.Content)*2/7
	}
	w.Header().Set("Content-Type", "application/json")
	if tokens > 2048 {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error": {"message": "This model's maximum context length is 2048 tokens. However, you requested %d tokens.", "code": "context_length_exceeded"}}`, tokens)
		return
	}
	fmt.Fprintf(w, `{"id": "1", "choices": [{"index": 0, "message": {"role": "assistant", "content": "The harbour has a crane."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": %d, "completion_tokens": 8}}`, tokens)
}

// A task has more files than a model of 2,048 tokens can read at once. Alone the agent is
// left alone, so it ends when the model refuses a request; with winnow it is compacted in
// the middle and reads every file. WINNOW_REAL_MODEL names the server of a real model.
func TestTasksInSmallWindow(t *testing.T) {
	url := os.Getenv("WINNOW_REAL_MODEL")
	if url == "" {
		server := httptest.NewServer(http.HandlerFunc(refuseLongPrompts))
		defer server.Close()
		url = server.URL
	}
	folder := t.TempDir()
	writeTask(t, folder, "port", "4711", 24)
	var b bytes.Buffer
	err := tasksCommand(t.Context(), []string{"-tasks", folder, "-agent", describeAgent(t, folder, "16"), "-out", filepath.Join(folder, "out"), "-stop", "5", "-budget", "0", "-window", "2048", "-timeout", "1h", "-upstream", "openai=" + url}, &b)
	t.Logf("%v\n%s", err, &b)
	alone, with, _ := strings.Cut(b.String(), "port, winnow: ")
	if err != nil || strings.Contains(alone, " 9 steps") || !strings.Contains(with, " 9 steps") || !strings.Contains(with, "| 1 | 1 |\n\n") {
		t.Error("alone it was not refused, or with winnow it was not compacted or did not end")
	}
}

// A line of a public file becomes a task, with its tests quoted for the shell.
func TestConvert(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "tasks.jsonl")
	line := `{"instance_id": "a__b-1", "repo": "a/b", "base_commit": "c0ffee", "problem_statement": "Mend it.", "test_patch": "diff", "FAIL_TO_PASS": "[\"t.py::it's\"]", "PASS_TO_PASS": ["t.py::old"]}`
	if err := os.WriteFile(file, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq is not installed")
	}
	if out, err := exec.Command("../../../scripts/tasks", "convert", file, folder, "make").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tasks, err := readTasks(folder)
	if err != nil || len(tasks) != 1 {
		t.Fatalf("%v %+v", err, tasks)
	}
	got := tasks[0]
	if got.name != "a__b-1" || got.Repo != "https://github.com/a/b" || got.Commit != "c0ffee" || got.Setup != "make" || got.Test != `python -m pytest -q 't.py::it'\''s' 't.py::old'` {
		t.Errorf("%+v", got)
	}
	if patch, err := os.ReadFile(filepath.Join(got.folder, "hidden.patch")); err != nil || string(patch) != "diff" {
		t.Errorf("%v %s", err, patch)
	}
}
