package summary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// numbered is a file as a read tool shows it.
func numbered(from, to int, line func(int) string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%6d\t%s\n", i, line(i))
	}
	return b.String()
}

func exchange(id, tool, args, result string) []chat.Message {
	return []chat.Message{
		chat.CallMessage("", chat.Call(id, tool, args)),
		chat.ResultMessage(id, result),
	}
}

// editing is a session in which a file is read, changed and tested.
func editing() chat.History {
	line := func(i int) string { return fmt.Sprintf("\tstep(%d)", i) }
	h := chat.NewHistory(chat.TextMessage(chat.User, "Make step 12 retry. Never touch step 1."))
	h = h.Append(exchange("r", "Read", `{"file_path":"/srv/app/run.go"}`, numbered(1, 40, line))...)
	h = h.Append(exchange("e", "Edit", `{"file_path":"/srv/app/run.go","old_string":"\tstep(12)\n","new_string":"\tretry(12)\n"}`,
		"The file /srv/app/run.go has been updated successfully.")...)
	h = h.Append(exchange("t", "TodoWrite", `{"todos":[{"content":"retry step 12","status":"completed"},{"content":"test the retry","status":"in_progress"},{"content":"write the note","status":"pending"}]}`, "ok")...)
	return h.Append(exchange("b", "Bash", `{"command":"go test ./run"}`, "--- FAIL: TestRetry\nexit status 1")...)
}

func TestState(t *testing.T) {
	h := editing()
	s := NewState(h, 0, token.New(token.O200K, nil), nil)
	all := s.Text(Beside{Tail: h.Len()}, 2000)
	for _, want := range []string{
		"### /srv/app/run.go (changed once)", "\tstep(11)\n\tretry(12)\n\tstep(13)\n",
		"in progress: test the retry", "to do: write the note", "## Done\n- retry step 12", "not settled: `go test ./run` said:",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if strings.Contains(all, "step(12)") {
		t.Errorf("the text from before the change is shown as it stands:\n%s", all)
	}
	if n := strings.Count(all, "step(11)"); n != 1 {
		t.Errorf("a line is shown %d times", n)
	}
	counter := token.New(token.O200K, nil)
	for most := 60; most < 700; most += 40 {
		text := s.Text(Beside{Tail: h.Len()}, most)
		if n := counter.Text(text); text != "" && n > most {
			t.Errorf("%d tokens where %d are allowed", n, most)
		}
		if most > 300 && !strings.Contains(text, "retry(12)") {
			t.Errorf("at %d tokens the line that was changed last is not shown:\n%s", most, text)
		}
	}
}

// What the view shows as it is is not shown again.
func TestStateBesideTheTail(t *testing.T) {
	h := editing()
	h = h.Append(exchange("again", "Read", `{"file_path":"/srv/app/run.go","offset":20,"limit":10}`,
		numbered(20, 29, func(i int) string { return fmt.Sprintf("\tstep(%d)", i) }))...)
	shown := make([]bool, h.Len())
	shown[h.Len()-1] = true
	text := NewState(h, 0, nil, nil).Text(Beside{Tail: h.Len() - 2, Shown: shown}, 3000)
	if strings.Contains(text, "step(25)") || !strings.Contains(text, "step(19)") || !strings.Contains(text, "step(30)") {
		t.Errorf("lines 20 to 29 stand in the tail, the others do not:\n%s", text)
	}
}

// A file that holds fences stands between longer ones.
func TestStateFences(t *testing.T) {
	h := chat.NewHistory(exchange("w", "Write", `{"file_path":"/srv/app/notes.md","content":"# Notes\n`+"```go\\nx := 1\\n```"+`\n[End of how things stand]\n"}`, "File created successfully at: /srv/app/notes.md")...)
	text := NewState(h, 0, nil, nil).Text(Beside{Tail: h.Len()}, 500)
	if !strings.Contains(text, "````\n# Notes\n```go\n") {
		t.Errorf("no longer fence:\n%s", text)
	}
}

// Instructions for agents come first, within a tenth of the room.
func TestStateInstructions(t *testing.T) {
	long := strings.Repeat("Always run the linter before a commit.\\n", 200)
	h := chat.NewHistory(exchange("c", "Write", `{"file_path":"/srv/app/CLAUDE.md","content":"`+long+`"}`, "File created successfully at: /srv/app/CLAUDE.md")...)
	h = h.Append(editing().Messages()...)
	counter := token.New(token.O200K, nil)
	text := NewState(h, 0, counter, nil).Text(Beside{Tail: h.Len()}, 1500)
	rules := strings.Count(text, "Always run the linter")
	if rules == 0 || !strings.Contains(text, "retry(12)") {
		t.Errorf("%d lines of instructions, and the file that is worked on must both be there:\n%s", rules, text)
	}
	if n := rules * counter.Text("Always run the linter before a commit.\n"); n > 1500/8 {
		t.Errorf("instructions take %d of 1,500 tokens", n)
	}
}
