package ladder

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// A name that two owners have stands with the second of them, and a reason is told.
func TestValuesHaveOwners(t *testing.T) {
	got := jsonValues(`{"dob":"1982-10-19","saved_passengers":[{"dob":"1992-11-19"},{"dob":"1990-10-11"}],"cards":{"card_29":{"last_four":"7803"}},"note":"`+
		strings.Repeat("word ", 90)+`","graders":[{"passed":false,"reason":"`+strings.Repeat("the answer names no source ", 4)+`"}]}`, "", 240)
	comment := `{"id":2778486622,"userId":"391278df-a833-4c1b-9d6e-0123456789ab","body":"The session may be marked as ended. BUG_ID: 391278df-a833-4c1b-9d6e-0123456789ab"}`
	if got, want := keyLines(comment, "2778486622", 240, false), "body: The session may be marked"; !strings.HasPrefix(got, want) || strings.Contains(got, "userId") {
		t.Errorf("%q, want %q", got, want)
	}
	if got := keyLines("{\n\"id\": 2778486622\n}", "id: 2778486622", 240, false); got != "" {
		t.Errorf("what is told is told again as %q", got)
	}
	if got := keyLines(`{"id":"av-12","status":"open","dependencies":[{"id":"av-11","status":"closed"}]}`, "status: open", 240, false); strings.Contains("\n"+got, "\nstatus:") || !strings.Contains(got, "dependencies.status: closed") {
		t.Errorf("what is told takes a name's owner away:\n%s", got)
	}
	if got := keyLines(`[{"id":"av-12","status":"open","of":{"status":"closed"}},{"id":"av-13","title":"the first","status":"closed"}]`, "", 240, false); got != "{id: av-12; status: open; of.status: closed}\n{id: av-13; title: the first; status: closed}" {
		t.Errorf("records are told as\n%s", got)
	}
	for _, want := range []string{"dob: 1982-10-19\n", "saved_passengers.dob: 1992-11-19, 1990-10-11", "last_four: 7803", "reason: the answer names no source"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A manual is told by its first lines, and what it says of errors is not the command's.
func TestManual(t *testing.T) {
	page := "---\nname: bench\n---\n# Bench\n\nRun evals.\n\n" + strings.Repeat("A line of the manual about graders and their ways.\n", 40) +
		"Error: this is what a run says that failed\nport: 8080\n" + strings.Repeat("More of it.\n", 20)
	h := chat.NewHistory(append([]chat.Message{chat.TextMessage(chat.User, "Load the skill.")}, ran("1", "tool skills get bench", page)...)...)
	got := Read(h, counter, nil).Fill(Room{Tokens: 400, From: 0, To: h.Len(), Turn: -1, Shown: make([]bool, h.Len())}).Fold
	if !strings.Contains(got, "bench`\n  name: bench\n  # Bench\n  Run evals.") || !strings.Contains(got, "more lines)") || strings.Contains(got, "8080") || strings.Contains(got, "Error:") {
		t.Error(got)
	}
}

// Output that was written over is told as a terminal shows it in the end.
func TestWrittenOver(t *testing.T) {
	bar := strings.Repeat("50 %\b\b\b\b", 2000) + "done\r\nfetch 1\rfetch 2\rfetched 3 files\n"
	h := chat.NewHistory(append([]chat.Message{chat.TextMessage(chat.User, "Build.")}, ran("1", "make", bar)...)...)
	if got := fold(Read(h, counter, nil), 2000).Fold; !strings.Contains(got, "ran `make`: done fetched 3 files") {
		t.Error(got)
	}
}

// A skill of a finished turn is data of that turn, and stands whole while it is in use.
func TestSkillOfFinishedTurn(t *testing.T) {
	skill := "Base directory for this skill: /s/review\n\n# Review\n\nYou must read every file.\n" + strings.Repeat("This line describes the review.\n", 60)
	h := chat.NewHistory(chat.TextMessage(chat.User, "Review the branch."), chat.TextMessage(chat.User, skill), chat.TextMessage(chat.Assistant, "The branch is fine."))
	if r := Read(h, counter, nil); !r.steps[1].rules {
		t.Error("a skill in use does not hold")
	}
	if r := Read(h.Append(chat.TextMessage(chat.User, "Now the release.")), counter, nil); r.steps[1].rules {
		t.Error("the skill of a finished turn holds")
	}
}

// A long command keeps its first and last words whole.
func TestClipMiddle(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./internal/ladder ./internal/workset ./summary -count=1 -run TestFirst|TestSecond ./cmd/winnow/replay": "go test ./internal/ladder … ./cmd/winnow/replay",
		"go test -run TestAVeryLongNameOfATestThatHasNoBlankInItAtAllAndGoesOn ./internal/ladder/replay":                "go test -run TestAVeryLongNameOfATes … /internal/ladder/replay",
		"git -C /home/me/projects/one status && git -C /home/me/projects/two status --short":                            "git -C /home/me/projects/one status … /two status --short",
	} {
		if got := clipMiddle(command, 60); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Of remarks on the way the finds are told, without what comes next.
func TestRemarksWithoutPlans(t *testing.T) {
	for text, want := range map[string]string{
		"Now let me update `listCheckpoints()` to fill the fields.": "",
		"Good. Let me check:":                                              "",
		"The `Text` component has no cache. Let me add one:":               "The `Text` component has no cache.",
		"I’m waiting for the hook to finish.":                              "",
		"I'll use the lock because two writers race.":                      "I'll use the lock because two writers race.",
		"I’ll remove it, but I must not push to main.":                     "I’ll remove it, but I must not push to main.",
		"Two findings:\n\n1. Let me be clear\n2. The lease is 47 seconds.": "Two findings:\n\n1. Let me be clear\n2. The lease is 47 seconds.",
	} {
		if got := withoutPlans(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A request that the user took back at once is told so.
func TestInterruptedRequest(t *testing.T) {
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "Commit it."), chat.TextMessage(chat.User, "[Request interrupted by user]"),
		chat.TextMessage(chat.User, "Commit the tests."), chat.TextMessage(chat.Assistant, "They are committed."), chat.TextMessage(chat.User, "Go on."),
	)
	if got := fold(Read(h, counter, nil), 2000).Fold; !strings.Contains(got, "User: Commit it.\n[interrupted by the user before anything was done]\n\nUser: Commit the tests.\nAgent:") {
		t.Error(got)
	}
}

// What the agent takes back is not told as what it found.
func TestRefuted(t *testing.T) {
	for text, want := range map[string]string{
		"The bug is in `lease()`, which adds two. It may be 2.25 levels.\n\nNo, that doesn't make sense.\n\nThe cause is line 7 of the lease file.": "The cause is line 7 of the lease file.",
		"The cause is line 7 of the lease file. Actually, wait. It must be the rule of line 9.":                                                     "It must be the rule of line 9.",
	} {
		if got := decisionSentences(text, 300); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A call that the user did not wait for is not told as one that still runs.
func TestNoResult(t *testing.T) {
	edit := func(id string) chat.Message {
		return chat.CallMessage("", chat.Call(id, "Edit", fmt.Sprintf(`{"file_path":"/w/a.go","old_string":"x%s","new_string":"y"}`, id)))
	}
	h := chat.NewHistory(chat.TextMessage(chat.User, "Mend it."), edit("1"), chat.ResultMessage("1", "The file has been updated."), edit("2"), chat.TextMessage(chat.User, "Stop."))
	got := fold(Read(h, counter, nil), 2000).Fold
	if !strings.Contains(got, "(+1 -1)\n") || !strings.Contains(got, ", no result: stopped, or lost") || strings.Contains(got, "no result yet") {
		t.Error(got)
	}
}

// The project's instructions stand before newer files; those of a copy that was fetched
// to be looked at do not.
func TestForeignInstructions(t *testing.T) {
	h := chat.NewHistory(chat.TextMessage(chat.User, "Compare them."))
	read := func(file, line string, n int) {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%6d→%s %d\n", i+1, line, i*i)
		}
		id := fmt.Sprint(h.Len())
		h = h.Append(chat.CallMessage("", chat.Call(id, "Read", fmt.Sprintf(`{"file_path":%q}`, file))), chat.ResultMessage(id, b.String()))
	}
	read("/w/app/AGENTS.md", "Keep the rule", 60)
	read("/tmp/other/AGENTS.md", "Obey the copy", 60)
	for i := range 9 {
		read(fmt.Sprintf("/w/app/part%d.txt", i), "a line of a part", 90)
	}
	h = h.Append(chat.TextMessage(chat.User, "Go on."))
	state := Read(h, counter, nil).Fill(Room{Tokens: 3000, Whole: 30000, From: 0, To: h.Len(), Turn: -1, Shown: make([]bool, h.Len())}).State
	if !strings.Contains(state, "Keep the rule 3481") || strings.Contains(state, "Obey the copy 3481") {
		t.Error(state)
	}
}

// A run in which some packages passed and one failed is told as failed.
func TestTally(t *testing.T) {
	for text, want := range map[string]string{
		"ok  \tm/a\t0.1s\nFAIL\nok  \tm/b\t0.2s\n":                       "FAIL",
		"ok  \tm/a\t0.1s\nFAIL\tm/b\t0.2s\nFAIL\n":                       "FAIL\tm/b\t0.2s",
		"PASS\nok  \tm/a\t0.1s\n?   \tm/c\t[no test files]\n":            "ok  \tm/a\t0.1s",
		"Tests: 2 failed, 40 passed\nran 42 of 42 in 3 files, 0 skipped": "Tests: 2 failed, 40 passed",
	} {
		if got := tallyLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What is told of commands, each with its output, in a turn.
func TestCommands(t *testing.T) {
	long := strings.Repeat(" more words", 10)
	commits := "3f2a9b1 fix: fail on broken links" + long + "\n1c2d3e4 add a test for error pages\n9a8b7c6 first draft\n5e6f7a8 begin"
	for name, c := range map[string]struct {
		runs      [][2]string
		want, not string
	}{
		"what did not fail":                    {[][2]string{{"watch job", "Process exited with code 0\nERROR: no such module"}, {"watch job", "Process exited with code 0\nready"}}, "watch job`, exit 0: ERROR: no such module\n", "failed"},
		"what failed":                          {[][2]string{{"make", "Exit code 2\nmake: *** Error 2"}, {"make", "built"}}, "make`, failed, later passed: make: *** Error 2\n", ""},
		"the newest commit stands first":       {[][2]string{{"git log --oneline -4", commits}}, "-4`: 3f2a9b1 fix: fail on broken links" + long + "\n  1c2d3e4 add a test for error pages\n  9a8b7c6 first draft\n  5e6f7a8 begin", ""},
		"the new commit and not an echo":       {[][2]string{{"git commit -qam x && git log --oneline -3 && echo '=== clean? ==='", commits + "\n=== clean? ==="}}, ": 3f2a9b1 fix: fail on broken links", "`: === clean"},
		"a commit whose title says fail":       {[][2]string{{"git commit -am x", "[main 3f2a9b1] fix: fail on broken links\n 1 file changed"}}, "x`: [main 3f2a9b1] fix: fail", ""},
		"two ways to list are two":             {[][2]string{{"rg --files", "a.go\nb.go"}, {"ls -la", "a.go\nb.go"}}, "ran `ls -la`", "2 times"},
		"the sum below a list":                 {[][2]string{{"git diff --stat", strings.Repeat(" a/very/long/path/to/a/file/number.go | 7 +++++--\n", 5) + " 5 files changed, 25 insertions(+), 10 deletions(-)"}}, "--stat`: 5 files changed, 25 insertions(+), 10 deletions(-)\n", ""},
		"no sum of the oldest commit":          {[][2]string{{"git log --stat -2", "commit 3f2a9b1c\nAuthor: Anna\n\n    mend it" + long + "\n\n a.go | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\ncommit 1c2d3e4f\n\n    begin\n\n 9 files changed, 9 insertions(+)"}}, "-2`\n  commit 3f2a9b1c\n  Author: Anna\n      mend it", ": 9 files"},
		"a short list after what is done once": {[][2]string{{"git commit -qm x && git status --short", " M a.go\n?? b.go"}}, "--short`: M a.go ?? b.go\n", ""},
		"a list in its order":                  {[][2]string{{"git status --short", strings.Repeat(" M a/very/long/path/to/a/file/number.go\n", 9) + " D error.go"}}, "--short`\n  M a/very", "`: "},
		"a box in a page is no tally":          {[][2]string{{"gh pr view 7", "# Title\n\n- [x] lint: 0 issues\n" + long + long + "\n> 3. done"}}, "view 7`\n", "7`: "},
		"packages that passed":                 {[][2]string{{"go test ./... | tail -2", "ok  \tm/a\t0.1s\nok  \tm/b\t0.1s"}}, ": ok, 2 packages\n", ""},
		"the files of a search":                {[][2]string{{"grep -rn --include='*_test.go' lease src", "Process exited with code 1"}}, "searched for `lease` in src (only `*_test.go`): nothing found", ""},
		"how long a cut output was":            {[][2]string{{"rg -n lease src/a.go src/b.go", "Chunk ID: 7\nProcess exited with code 0\nOutput:\nTotal output lines: 515\n\nsrc/a.go:6:package a\nsrc/a.go:7:var lease = 47 // and more\n" + strings.Repeat("src/b.go:9:more of the words of a lease\n", 9)}}, "src/b.go: 515 lines\n", ""},
		"how many lines follow":                {[][2]string{{"ls -la", strings.Repeat("-rw-r--r-- anna a/very/long/path/to/a/file\n\n", 400)}}, "(… 391 more lines)\n", ""},
		"the hits of a short search":           {[][2]string{{"grep -n lease a.go", "7:var lease = 47\n9:lease++"}}, "in a.go: 7:var lease = 47 9:lease++\n", ""},
		"an edit between two runs":             {[][2]string{{"make", "7 failed"}, {"cat > a.go <<'EOF'\npackage a\nEOF", ""}, {"make", "took 2s, 2 failed"}, {"cat > a.go <<'EOF'\npackage b\nEOF", ""}, {"make", "took 3s, 2 failed"}}, "make`: 7 failed\n", "make` 3 times"},
		"success beside a warning":             {[][2]string{{"npm run build", "(node:7) SomeWarning: storage is not there" + long + "\n\n[SUCCESS] Generated files in build.\n" + long}}, "build`: [SUCCESS] Generated files in build.\n", ""},
		"a read of nothing":                    {[][2]string{{"test -f a.md && cat a.md || true", "Process exited with code 0"}}, "read a.md, printed nothing\n", ""},
		"two reads, one of nothing":            {[][2]string{{"cat a.md", "one\ntwo\nthree"}, {"cat a.md", "Process exited with code 0"}}, "read a.md 2 times\n", ""},
		"the folder of a listing":              {[][2]string{{"cd /w && make", "built"}, {"cd /w && make lint", "built"}, {"cd /w/web && rg --files", "a.ts"}}, "ran `rg --files` in /w/web: a.ts\n", "make` in"},
		"the usual folder":                     {[][2]string{{"cd /w && make", "built"}, {"cd /w && make lint", "built"}, {"cd /w/web && make", "built"}}, " Commands ran in /w where nothing else is said.", "make` in /w\n"},
		"code that no file took":               {[][2]string{{"cat -n a.go && tool b.go", "     1\tpackage a\n" + strings.Repeat("\tx: y,\n", 40)}}, "tool b.go`\n", "x: y"},
		"the end of a very long line":          {[][2]string{{"tool", strings.Repeat("ab 7 ", 2000)}}, "tool`\n  ab 7", ""},
		"the first of ticked lines":            {[][2]string{{"tool auth", "hosts\n  ✓ Logged in as anna\n" + long + "\n  ✓ Logged in as bot\n" + long}}, "auth`: ✓ Logged in as anna\n", ""},
	} {
		h := chat.NewHistory(chat.TextMessage(chat.User, "Mend it."))
		for i, r := range c.runs {
			h = h.Append(ran(fmt.Sprint(i), r[0], r[1])...)
		}
		if got := fold(Read(h, counter, nil), 2000).Fold; !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: want %q and not %q in\n%s", name, c.want, c.not, got)
		}
	}
}

// Other lines of a file are not read again.
func TestReadAgain(t *testing.T) {
	for offset, want := range map[string]string{"61": "read /w/a.go; read /w/a.go, other lines\n", "40": "read /w/a.go; read /w/a.go again\n"} {
		h := chat.NewHistory(chat.TextMessage(chat.User, "Mend it."))
		h = h.Append(ranTool("1", "Read", `{"file_path":"/w/a.go","offset":1,"limit":60}`, "     1→package a\n     2→\n")...)
		h = h.Append(chat.TextMessage(chat.Assistant, "Now the rest of it."))
		h = h.Append(ranTool("2", "Read", `{"file_path":"/w/a.go","offset":`+offset+`,"limit":60}`, "    61→func A() {}\n    62→\n")...)
		if got := fold(Read(h, counter, nil), 2000).Fold; !strings.Contains(got, want) {
			t.Errorf("from line %s: want %q in\n%s", offset, want, got)
		}
	}
}

// A command whose state a shown message asks for again is not told as one that still
// runs, words of the service end no turn, text without a place is doubted as lines are.
func TestWhatGoesOn(t *testing.T) {
	started := func(id string) []chat.Message {
		return []chat.Message{chat.CallMessage("", chat.Call(id, "exec_command", `{"cmd":"./deploy"}`)), chat.ResultMessage(id, "Process running with session ID 4711")}
	}
	h := chat.NewHistory(chat.TextMessage(chat.User, "Go on."))
	h = h.Append(started("1")...)
	h = h.Append(chat.CallMessage("", chat.Call("2", "write_stdin", `{"session_id":4711,"chars":""}`)), chat.ResultMessage("2", "Process exited with code 0\nOutput:\nall is up"))
	form := Read(h, counter, nil).Fill(Room{Tokens: 2000, To: 3, Turn: -1, Shown: []bool{false, false, false, true, true}})
	if !strings.Contains(form.Fold, "`./deploy`, still ran then") {
		t.Error(form.Fold)
	}

	r := Read(chat.NewHistory(chat.TextMessage(chat.User, "Go on."), chat.TextMessage(chat.Assistant, "The first half is done."), chat.TextMessage(chat.Assistant, "API Error: 529 Overloaded."), chat.TextMessage(chat.User, "Again.")), counter, nil)
	if slices.ContainsFunc(r.steps, func(s step) bool { return s.closing }) {
		t.Error("an error closes a turn")
	}

	h = chat.NewHistory(append([]chat.Message{
		chat.TextMessage(chat.User, "Mend it."),
		chat.CallMessage("", chat.Call("1", "Edit", `{"file_path":"/w/a.go","old_string":"func a() {}","new_string":"func a() { b() } // for good"}`)), chat.ResultMessage("1", "The file has been updated."),
	}, ran("2", "cd /w && sed -i 's/b.)/c()/' a.go", "")...)...)
	if got := fold(Read(h, counter, nil), 2000).State; !strings.Contains(got, "somewhere in it, may have changed since: `cd /w && sed") {
		t.Error(got)
	}
}

// Paths of outputs are told from one folder.
func TestPathsBelow(t *testing.T) {
	if got := pathsBelow("/w/app/cmd/cli", "cmd/cli/a.go:3: x\n/w/app/cmd/cli/b.go:4: y\nsee cmd/cli/c.go"); got != "a.go:3: x\nb.go:4: y\nsee cmd/cli/c.go" {
		t.Errorf("%q", got)
	}
	if both := "cmd/cli/a.go\ndocs/b.md\n"; pathsBelow("/w/app/cmd/cli", both) != both {
		t.Error("docs is not below cmd/cli")
	}
}
