package winnow_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/plan"
)

// prompted is a session of edits under a long system prompt.
func prompted() chat.Request {
	var m []chat.Message
	for i := range 60 {
		m = append(m, user(fmt.Sprintf("Request %d: raise the limit of module %d.", i, i)))
		m = append(m, did(fmt.Sprint("r", i), "read_file", fmt.Sprintf(`{"path":"mod/m%d.go"}`, i), lines(fmt.Sprint("file", i), 60))...)
		m = append(m, said(fmt.Sprintf("The limit of module %d is raised.", i)))
	}
	system := []chat.Part{{Kind: chat.Text, Text: lines("rule", 900)}}
	return chat.Request{System: system, History: chat.NewHistory(m...)}
}

// A target that is asked for is a ceiling; one that nothing reaches gives the
// smallest view, and a note says so.
func TestTargetIsACeiling(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, OutputReserve: 1000, Economy: winnow.EconomyOff})
	req := prompted()
	least := 0
	for _, target := range []int{100, 2000, 14_000, 18_000, 24_000} {
		ask := winnow.Ask{Force: true, TargetTokens: target}
		r := fit(t, w, req, winnow.State{Ask: ask})
		n := r.After.Tokens.Total
		missed := slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, "out of reach") })
		if least == 0 {
			least = n
		}
		switch {
		case n < least:
			t.Errorf("target %d: %d tokens, fewer than the smallest view's %d", target, n, least)
		case n > target && (n != least || !missed):
			t.Errorf("target %d: %d tokens, the smallest view has %d; notes %q", target, n, least, r.Notes)
		case n <= target && missed:
			t.Errorf("target %d is reached: %q", target, r.Notes)
		}
	}
}

// A rewrite that somebody asks for below the target halves the conversation, not
// the system prompt beside it, so that the files have room.
func TestForceHalvesTheConversation(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 128_000, OutputReserve: 1000, Economy: winnow.EconomyOff})
	req := prompted()
	r := fit(t, w, req, winnow.State{Ask: winnow.Ask{Force: true}})
	system, _ := w.Meter().Fixed(&req)
	talk := r.Before.Tokens.Total - system.Tokens
	if left := r.After.Tokens.Total - system.Tokens; !r.Changed || left < talk*9/20 {
		t.Errorf("%d of %d tokens of conversation are left", left, talk)
	}
}

// reduced lists the messages of the last three exchanges of which a view does not
// show every byte.
func reduced(h chat.History, v plan.View) []int {
	shown := make(map[int]bool)
	for i := range v.Len() {
		if o := v.Origin(i); o.Message >= 0 && reflect.DeepEqual(v.At(i).Parts, h.At(o.Message).Parts) {
			shown[o.Message] = true
		}
	}
	var not []int
	x := chat.NewOutline(h).Exchanges
	for _, e := range x[max(0, len(x)-3):] {
		for i := e.From; i < e.To; i++ {
			if !shown[i] {
				not = append(not, i)
			}
		}
	}
	return not
}

// The last three exchanges of the turn stay whole while they fit, whichever
// stages run: S0.3. Each reads the same file again, so that supersede would cut
// the older ones, prune and limit would shorten them and fold would take them in.
func TestLastExchangesStayWhole(t *testing.T) {
	race.Skip(t)
	for _, name := range winnow.PresetNames() {
		for _, share := range []float64{0.1, 0.3, 0.6, 0.85} { // of what is available, for three exchanges
			if share > 0.1 && (name == "default" || name == "thrifty") {
				continue // they have half of the target at most: TestTailHasHalfOfTheTarget
			}
			t.Run(fmt.Sprint(name, "/", share), func(t *testing.T) {
				w := newWinnow(t, winnow.Settings{
					Preset: name, Model: "gpt-4o", Window: 60_000, OutputReserve: 1000, KeepRecent: 1,
					Systems: winnow.Systems{PruneProtect: 1, PruneMin: 1, RecentRatio: 0.01, ItemBytes: 2000},
				})
				size := int(share * 59_000 / 3 / 12) // lines of twelve tokens
				c := w.Conversation(chat.Request{})
				c.Append(user("Mend the parser."))
				changed := 0
				for i := range 24 {
					c.Append(did(fmt.Sprint("r", i), "read_file", `{"path":"parse/all.go"}`, lines("parser", size)+fmt.Sprintf("as of read %d\n", i))...)
					r, err := c.Fit(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					checkResult(t, c.Request(), r)
					if r.Changed {
						changed++
					}
					if not := reduced(c.Request().History, r.View); not != nil {
						t.Fatalf("step %d: messages %v of the last three exchanges are not whole; notes %q", i, not, r.Notes)
					}
				}
				if changed == 0 && share > 0.1 {
					t.Error("nothing was ever compacted")
				}
			})
		}
	}
}

// Under the documented systems the last exchanges stay whole as long as they fit,
// under winnow's own presets as long as they have no more than half of the target.
func TestTailHasHalfOfTheTarget(t *testing.T) {
	for _, name := range winnow.PresetNames() {
		want := map[string]float64{"default": 0.45 / 2, "thrifty": 0.32 / 2}[name] // half of the target
		if want == 0 {
			want = 1
		}
		w := newWinnow(t, winnow.Settings{Preset: name, Model: "gpt-4o", Window: 60_000, OutputReserve: 1000, KeepRecent: 1, Systems: winnow.Systems{Estimator: "winnow", PruneMin: 1}})
		m := append(coding(0, 60), user("Mend the parser."))
		size := int(0.75 * want * 59_000 / 3 / 9) // lines of about nine tokens
		for i := range 3 {
			m = append(m, did(fmt.Sprint("r", i), "read_file", `{"path":"parse/all.go"}`, lines("parser", size))...)
		}
		req := chat.Request{History: chat.NewHistory(m...)}
		r := fit(t, w, req, winnow.State{Ask: winnow.Ask{Force: true}})
		if not := reduced(req.History, r.View); not != nil || !r.Changed {
			t.Errorf("%s: messages %v of the last three exchanges are not whole", name, not)
		}
		if want == 1 {
			continue
		}
		// More than the share, though it would fit: only the newest stays whole.
		m = append(coding(0, 60), user("Mend the parser."))
		for i := range 3 {
			m = append(m, did(fmt.Sprint("r", i), "read_file", fmt.Sprintf(`{"path":"parse/%d.go"}`, i), lines(fmt.Sprint("parser", i), 2*size))...)
		}
		req = chat.Request{History: chat.NewHistory(m...)}
		r = fit(t, w, req, winnow.State{Ask: winnow.Ask{Force: true}})
		if not := reduced(req.History, r.View); len(not) == 0 || not[len(not)-1] >= req.History.Len()-2 {
			t.Errorf("%s: of a tail that has more than its share, messages %v are reduced", name, not)
		}
	}
}

// A tail that does not fit is reduced item by item, the live exchange last, and
// never sent over the budget.
func TestLastExchangesTooLarge(t *testing.T) {
	for _, name := range winnow.PresetNames() {
		w := newWinnow(t, winnow.Settings{Preset: name, Model: "gpt-4o", Window: 20_000, OutputReserve: 1000})
		m := append(coding(0, 8), user("Mend the parser."))
		for i := range 3 {
			m = append(m, did(fmt.Sprint("b", i), "bash", `{"command":"make"}`, lines(fmt.Sprint("noise", i), 330)+"ERROR: undefined: leaseTimer\n"+lines("more", 330))...)
		}
		req := chat.Request{History: chat.NewHistory(m...)}
		r := fit(t, w, req, winnow.State{})
		if not := reduced(req.History, r.View); len(not) == 0 || not[len(not)-1] >= req.History.Len()-2 {
			t.Errorf("%s: messages %v of the tail are reduced", name, not)
		}
		if s := text(r.View); strings.Count(s, "ERROR: undefined: leaseTimer") < 2 {
			t.Errorf("%s: the errors of the tail are gone", name)
		}
	}
}

// A system message that a client sends again and again stands among the newest messages
// only, and a result that fills the room leaves a third of it to what came before.
func TestRepeatedRulesAndLargeResults(t *testing.T) {
	rules := "Rules of the house: " + strings.Repeat("never push to main. ", 40)
	h := chat.NewHistory()
	for i := range 12 {
		id := fmt.Sprint("c", i)
		h = h.Append(chat.TextMessage(chat.User, fmt.Sprintf("Question %d of the day", i)), chat.TextMessage(chat.System, rules),
			chat.CallMessage("", chat.Call(id, "query", `{}`)), chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("row %d of a table; ", i), 100+i/11*8000)))
	}
	r, err := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 20_000, OutputReserve: 1000}).Fit(t.Context(), chat.Request{History: h}, winnow.State{})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for i := range r.View.Len() {
		text += r.View.At(i).Text() + "\n"
	}
	if n := strings.Count(text, "Rules of the house"); n < 1 || n > 4 {
		t.Errorf("the rules stand there %d times", n)
	}
	for i := range 12 {
		if want := fmt.Sprintf("Question %d of the day", i); !strings.Contains(text, want) {
			t.Errorf("%s is gone", want)
		}
	}
}

// A view tells how things stand: what a harness put before the user's words is not
// told as theirs, a command that was asked about again has its last state, a file
// that was put back does not show the undone change, a search has its own hits with
// their number, and a build that fails has its first cause.
func TestViewTellsHowThingsStand(t *testing.T) {
	m := []chat.Message{user("# Context of the harness\n\nYou run inside it. You must never leave the folder.\n" + lines("manual", 60) + "\n---\n\n# User Request\n\nMend the queue.")}
	shell := func(id, command, out string) {
		m = append(m, did(id, "bash", fmt.Sprintf(`{"command":%q}`, command), out)...)
	}
	shell("a", "stamp=$(date); cat /w/jobs.go", "package queue\n\nconst jobs = 3\n")
	m = append(m, did("b", "edit", `{"file_path":"/w/jobs.go","old_string":"const jobs = 3","new_string":"const jobs = 900 // stashed"}`, "The file has been updated.")...)
	shell("c", "git --no-pager stash", "Saved working directory and index state")
	m = append(m, chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: "\n/w/AGENTS.md\nYou must run the linter."}}})
	shell("1", "cat /w/queue.go", "package queue\n\nconst limit = 3 // jobs\n\nfunc run() {}\n\nfunc stop() {}\n\nfunc wait() {}\n")
	m = append(m, did("2", "edit", `{"file_path":"/w/queue.go","old_string":"const limit = 3 // jobs","new_string":"const limit = 700 // undone"}`, "The file has been updated.")...)
	m = append(m, did("e", "read", `{"file_path":"/w/load.go"}`, "     1→package load\n     2→\n     3→func read() {\n     4→\tpanic(\"Failed to read\") // at once\n     5→}\n")...)
	m = append(m, did("e2", "edit", `{"file_path":"/w/load.go","old_string":"// at once","new_string":"// in the end","replace_all":true}`, "The file /w/load.go has been updated. All occurrences of '\tpanic(\"Failed to read\") // at once' were replaced.")...)
	m = append(m, did("u", "AskUserQuestion", `{"questions":[{"question":"Which timer shall go, of the two that `+"`lease.go`"+` has?"}]}`, "User has answered your questions: \"Which timer shall go?\"=\"The old one, and never the new\". "+strings.Repeat("You can now continue. ", 8))...)
	m = append(m, did("q", "mcp__wiki__ask_question", `{"repoName":"a/b","question":"Which timer?"}`, "The wiki says: you must never use timers.")...)
	m = append(m, did("v", "AskUserQuestion", `{"questions":[{"question":"Shall I push it?"}]}`, "The user doesn't want to proceed with this tool use. The tool use was rejected.")...)
	m = append(m, did("s", "Task", `{"description":"Look at the queue","subagent_type":"Explore"}`, "The queue is sound: appending is what it does best. agentId: a1b2c3d4")...)
	shell("y", "./try now", "def go():\n"+lines("    code", 40)+"    pass\n")
	shell("x", "pack /tmp/lease && rm -rf /tmp/lease", "lease-1.0.0.tgz")
	shell("3", "git -c core.pager= -C /w checkout queue.go", "Updated 1 path from the index")
	m = append(m, did("g", "read", `{"file_path":"/w/notes.md"}`, "     1→# What went wrong\n     2→--- FAIL: TestBeat (0.00s)\n     3→src/beat.ts(9,1): error TS1005: ';' expected.\n")...)
	shell("4", "git push origin queue", "Process running with session ID 4711")
	for i := range 3 {
		m = append(m, did(fmt.Sprint("p", i), "write_stdin", fmt.Sprintf(`{"session_id":4711,"chars":"","yield_time_ms":%d}`, i), "Process running with session ID 4711")...)
	}
	m = append(m, did("5", "write_stdin", `{"session_id":4711,"chars":""}`, "Process exited with code 0\nOutput:\n * [new branch] queue -> queue")...)
	m = append(m, did("6", "grep", `{"pattern":"leaseTimer"}`, "")...)
	m = append(m, did("h", "read", `{"file_path":"/w/heart.md"}`, "     1→one\n")...)
	m = append(m, did("i", "think", `{"thought":"The heart beats too late."}`, "Your thought has been logged.")...)
	m = append(m, did("j", "read", `{"file_path":"/w/heart.md"}`, "     1→one\n")...)
	m = append(m, did("k", "webfetch", `{"url":"https://w/lease"}`, "# Lease\n"+lines("about", 40)+"# Use\n```\n# renew it\nlease renew\n```\n# Limits\n")...)
	m = append(m, did("7", "grep", `{"pattern":"heartbeat"}`, strings.Repeat("/w/beat.go: heartbeat is sent here\n/w/pulse.go: heartbeat is read there\n", 20))...)
	shell("8", "npm run build", "> tsc\nsrc/lease.ts(66,10): error TS2304: Cannot find name 'leaseTimer'.\n"+lines("noise", 40)+"npm error: the script `build` failed\nexit status 1")
	m = append(m, did("f", "deploy", `{"env":"test"}`, "over the quota")...)
	m[len(m)-1].Parts[0].Failed = true
	shell("9", "npx jest lease", lines("log", 40)+"\n  ✓ error: the lease failed (2 ms)\n"+lines("log", 40))
	m = append(m, said("The build fails; the timer is missing."))
	for i := range 6 {
		m = append(m, user(fmt.Sprintf("Look at table %d.", i)))
		m = append(m, did(fmt.Sprint("q", i), "query", fmt.Sprintf(`{"table":%d}`, i), lines(fmt.Sprint("row", i), 250))...)
		m = append(m, said(fmt.Sprintf("Table %d is as it should be.", i)))
	}
	ask := winnow.Ask{Force: true, TargetTokens: 9000}
	r := fit(t, newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, OutputReserve: 1000}), chat.Request{History: chat.NewHistory(m...)}, winnow.State{Ask: ask})
	view := text(r.View)
	for _, want := range []string{
		"User: Mend the queue.", "put in by the client) # Context", "You must never leave the folder.", "(instructions /w/AGENTS.md", "` shows what is left out", "- called deploy(env=test), failed",
		"- ran `git push origin queue`, exit 0: * [new branch] queue -> queue", "\nUser: User has answered your questions: \"Which timer shall go?\"=\"The old one, and never the new\"", "// in the end", "\"Shall I push it?\"}]), refused by the user", "### /w/jobs.go (changed once), may have changed since: `git --no-pager stash` ran\n",
		"\n- searched for `heartbeat`\n  beat.go", "more lines)", "said: src/lease.ts(66,10): error TS2304",
		"read heart.md\nAgent: The heart beats too late.\n- read heart.md again\n",
	} {
		if !strings.Contains(view, want) {
			t.Errorf("%q is not told", want)
		}
	}
	for _, not := range []string{"700 // undone", "lease`: ✓ error", "still running", "// at once", "still works on", "`./try now`: pass", "again: ran `pack", "called AskUserQuestion(questions=[{\"question\":\"Which", "User: # Context", "User: The wiki", "read notes.md:", "read notes.md,"} {
		if strings.Contains(view, not) {
			t.Errorf("%q is told", not)
		}
	}
	if t.Failed() {
		t.Log(view)
	}
}

// A view has what an engineer would hand over, and nothing twice.
func TestViewIsFitToHandOver(t *testing.T) {
	source := func(name string) string {
		return "package app\n\nconst limit = 3 // of " + name + "\n\n" + lines("text of "+name, 20)
	}
	cat := func(file, text string) []string { return []string{"cat " + file, text} }
	mend := func(file string) []string {
		return []string{"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: " + file + "\n@@\n-const limit = 3 // of a\n+const limit = 700 // of a\n*** End Patch\nEOF", "Done!"}
	}
	for _, tc := range []struct {
		name      string
		ran       [][]string
		want, not []string
	}{
		{"a stored diff has its line", [][]string{
			cat("/w/a.go", source("a")), {"git diff > /w/work.patch", ""}, cat("/w/work.patch", "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n"+lines("+changed", 30)),
		}, []string{"text of a line 7", "work.patch"}, []string{"+changed line 7"}},
		{"a run that passed has its tally, one that failed what failed", [][]string{
			{"bun test a", lines("(pass) a fails when it should:", 30) + "\n 28 pass\n 0 fail\n"},
			{"go test -v ./b", lines("--- PASS: TestB", 30) + "\n--- FAIL: TestLease\n    lease_test.go:7: got 3, want 4\nFAIL\tapp/b\t0.1s\nexit status 1"},
		}, []string{"`bun test a`: 28 pass", "lease_test.go:7: got 3, want 4"}, []string{"(pass)", "--- PASS"}},
		{"a run that passed has one line, that of what ran", [][]string{
			{"mise run lint", lines("[lint] looks at", 40) + "\n[lint:go] 0 issues.\nFinished in 12.83s\n"},
			{"make tools", lines("go: downloading app/tool", 40) + "\nmake: fetching the key failed\nbuilt 3 programs\n"},
			{"go test ./... -run TestLease", "ok  \tapp/lease\t0.7s\nok  \tapp/queue\t0.2s [no tests to run]\n"},
			{"go test ./...", "ok  \tapp/lease\t0.7s\nok  \tapp/queue\t(cached)\nok  \tapp/text\t(cached)\n"},
			{"bd create lease", "✓ Created issue: app-7k — lease\n  Priority: P2\n  Status: open\n" + lines("hint", 20)},
			{"git rebase --continue", "[detached HEAD 3ec0053] mend the queue\n 1 file changed\nSuccessfully rebased and updated refs/heads/queue.\n"},
		}, []string{"`mise run lint`: [lint:go] 0 issues.", "`make tools`: built 3 programs", "fetching the key failed", "`: ok app/lease 0.7s", "`go test ./...`: ok, 3 packages", "`bd create lease`: ✓ Created issue: app-7k", "`git rebase --continue`: Successfully rebased"}, []string{"looks at line", "downloading", "Finished in"}},
		{"a run that failed says what, and whether it passed later", [][]string{
			{"python lease.py", "Exit code: 1\nOutput:\nImportError:\n\nImportError: numpy failed to import\n"},
			{"pnpm test", "Exit code: 1\nOutput:\n    1) keeps the lease\n[66:0412/02:ERROR:net/trust.cc:807] Error parsing certificate:\n1 test failed.\n"},
			{"mise run build", "<tool_use_error>Sibling tool call errored</tool_use_error>"},
			{"git diff b.go", ""},
			{"go test ./c", "--- FAIL: TestA (0.20s)\n--- FAIL: TestB (0.10s)\nFAIL\tapp/c\t0.1s\nFAIL\n"},
			{"make check", "Exit code: 2\nOutput:\na.go:3:1: undefined: limit\n"},
			{"make check", "Exit code: 0\nOutput:\nall is well\n"},
			{"go test ./...", "--- FAIL: TestQueue\nFAIL\tapp/queue\t0.1s\nok  \tapp/lease\t0.7s\nFAIL\n"},
		}, []string{
			"exit 1: ImportError: numpy failed", "exit 1: 1) keeps the lease; 1 test failed.", "`make check`, failed, later passed: a.go:3:1: undefined: limit",
			"`go test ./...`: --- FAIL: TestQueue; FAIL app/queue 0.1s", "`go test ./c`: --- FAIL: TestA (0.20s); --- FAIL: TestB (0.10s); FAIL app/c 0.1s",
			"`mise run build`, not run: Sibling", "`git diff b.go`, printed nothing",
		}, []string{"failing: `make check"}},
		{"a search says where it looked, and that it found nothing", [][]string{
			{"rg -n lease a b c d e", "Exit code: 1\nOutput:\n"},
			{"find lib -name '*.proto'", "(no output)"},
			{"wc -l b/queue.go", "737 b/queue.go"},
			{"ls b && rg -n beat b", "queue.go\nb/queue.go:3:beat"},
		}, []string{"ran `ls b && rg -n beat b`: queue.go", "searched for `lease` in a, b, c and 2 more: nothing found", "looked for files named `*.proto` in lib: nothing found", "`wc -l b/queue.go`: 737"}, nil},
		{"what is changed and not committed is named", [][]string{
			cat("/w/b.go", source("b")), mend("/w/b.go"), {"git commit -am b", "[main 1234567] b"}, cat("/w/a.go", source("a")), mend("/w/a.go"),
		}, []string{"- changed since the last commit, as far as it was seen: a.go\n"}, nil},
		{"a command is told line by line, and without the status of what cut its output", [][]string{
			{"fix a.sql \\\n  -f\ncat a.sql\nls", "queue"}, {"lint --help | head -3", "Exit code: 0\nOutput:\nKeyError: 'lease'\n"},
		}, []string{"`fix a.sql -f ⏎ cat a.sql ⏎ ls`", "`lint --help`: KeyError: 'lease'"}, nil},
		{"two scripts that begin alike are two", [][]string{
			{"python3 - <<'E'\nprint('queue')\nE", lines("the queue", 20)}, {"python3 - <<'E'\nprint('lease')\nE", lines("the lease", 20)},
		}, []string{"the queue line 12", "the lease line 12"}, []string{"2 times"}},
		{"of a command that ran again the last result is told, if it ran", [][]string{
			{"sum lease", lines("the sum", 20)}, cat("/w/b.go", source("b")), mend("/w/b.go"), {"sum lease", "<tool_use_error>Sibling tool call errored</tool_use_error>"},
		}, []string{"the sum line 7"}, nil},
		{"of a command that ran again the last result is told", [][]string{
			{"capture pane", lines("old screen", 20)}, cat("/w/a.go", source("a")), mend("/w/a.go"), {"capture pane", lines("new screen", 20)},
		}, []string{"new screen line 19"}, []string{"old screen line 7"}},
		{
			"what was stashed is doubted",
			[][]string{cat("/w/a.go", source("a")), mend("/w/a.go"), {"cd /w && git stash", "Saved working directory and index state"}},
			[]string{"may have changed since: `cd /w && git stash` ran"},
			nil,
		},
		{
			"a file that was written here says so, with the changes since",
			[][]string{{"cat > /w/a.go <<'EOF'\n" + source("a") + "EOF", ""}, {"cat > /w/b.go <<'EOF'\n" + source("b") + "EOF", ""}, mend("/w/a.go")},
			[]string{"/w/a.go (written here, changed once since)", "/w/b.go (written here)"},
			nil,
		},
		{
			"a patch is one change, and tells what it deletes",
			[][]string{
				cat("/w/a.go", source("a")), cat("/w/b.go", source("b")),
				{"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: /w/a.go\n@@\n-const limit = 3 // of a\n+const limit = 700 // of a\n@@\n-text of a line 7\n+text of a line seven\n*** Delete File: /w/b.go\n*** End Patch\nEOF", "Done!"},
			},
			[]string{"### /w/a.go (changed once)"},
			[]string{"### /w/b.go"},
		},
		{
			"what a search found was not read",
			[][]string{cat("/w/a.go", source("a")), {"grep -rn limit /w/found", "/w/found/x.go:3:const limit = 3 // of x\n/w/found/y.go:3:const limit = 3 // of y"}},
			[]string{"text of a line 7"},
			[]string{"Not shown, though "},
		},
		{"a copy is named", [][]string{cat("/w/a.go", source("a")), {"cp /w/a.go /w/b.go", ""}}, []string{"/w/b.go (a copy of /w/a.go)"}, []string{"### /w/b.go", "a.go (changed"}},
		{
			"a copy that was changed is shown",
			[][]string{cat("/w/a.go", source("a")), {"cp /w/a.go /w/b.go", ""}, mend("/w/b.go")},
			[]string{"### /w/b.go", "limit = 700 // of a"},
			[]string{"a copy of"},
		},
		{
			"a script that has served has its outline",
			[][]string{cat("/w/a.go", source("a")), {"cat > /tmp/probe.go <<'EOF'\n" + source("probe") + "EOF", ""}, {"go run /tmp/probe.go", "41"}},
			[]string{"go run /tmp/probe.go`: 41", "/tmp/probe.go"},
			[]string{"text of probe line 7"},
		},
		{"an outline of two lines says nothing", [][]string{cat("/w/big.py", "def first():\n"+lines("    do(1) #", 1000)+"def last():\n    do(2)\nend = last()\n")}, []string{"/w/big.py"}, []string{"outline"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := []chat.Message{user("Mend the limit.")}
			for i, c := range tc.ran {
				m = append(m, did(fmt.Sprint("c", i), "bash", fmt.Sprintf(`{"command":%q}`, c[0]), c[1])...)
			}
			m = append(m, said("That is done."))
			for i := range 6 {
				m = append(m, user(fmt.Sprintf("Look at table %d.", i)))
				m = append(m, did(fmt.Sprint("q", i), "query", fmt.Sprintf(`{"table":%d}`, i), lines(fmt.Sprint("row", i), 250))...)
				m = append(m, said(fmt.Sprintf("Table %d is as it should be.", i)))
			}
			ask := winnow.Ask{Force: true, TargetTokens: 9000}
			r := fit(t, newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, OutputReserve: 1000}), chat.Request{History: chat.NewHistory(m...)}, winnow.State{Ask: ask})
			view := text(r.View)
			contains(t, "the view", view, tc.want...)
			for _, not := range tc.not {
				if strings.Contains(view, not) {
					t.Errorf("%q is told:\n%.4000s", not, view)
				}
			}
		})
	}
}

// A target is met from below too, where the next exchange is larger than what fold and
// state leave: its file stands in one of the two only.
func TestTargetMetBesideLargeExchange(t *testing.T) {
	m := []chat.Message{user("Read them.")}
	for i := range 5 {
		m = append(m, did(fmt.Sprint("a", i), "Read", `{"file_path":"/w/a.txt"}`, lines("first", 500))...)
	}
	m = append(m, did("b", "Read", `{"file_path":"/w/b.txt"}`, lines("second", 1900))...)
	m = append(m, said("They are read."), user("Go on."))
	const target = 30_000
	r := fit(t, newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, OutputReserve: 1000}), chat.Request{History: chat.NewHistory(m...)}, winnow.State{Ask: winnow.Ask{Force: true, TargetTokens: target}})
	if n := r.Report().After.Tokens; n > target || n < target*95/100 {
		t.Errorf("%d tokens for a target of %d", n, target)
	}
}

// A large newest result does not take the room of all that came before it.
func TestLargeResultLeavesRoom(t *testing.T) {
	var m []chat.Message
	for i := range 12 {
		m = append(m, user(fmt.Sprintf("Look at table %d.", i)))
		m = append(m, did(fmt.Sprint("q", i), "query", fmt.Sprintf(`{"table":%d}`, i), lines(fmt.Sprint("row", i), 270))...)
		m = append(m, said(fmt.Sprintf("Table %d is as it should be, apart from row %d, which nobody can explain.", i, 7*i)))
	}
	m = append(m, user("Print the log."))
	m = append(m, did("log", "bash", `{"command":"cat log"}`, lines("entry", 3600))...)
	r := fit(t, newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, OutputReserve: 1000}), chat.Request{History: chat.NewHistory(m...)}, winnow.State{})
	view := text(r.View)
	for i := range 12 {
		if want := fmt.Sprintf("apart from row %d, which nobody", 7*i); !strings.Contains(view, want) {
			t.Errorf("%q is gone", want)
		}
	}
	if !strings.Contains(view, "entry line 3599") {
		t.Error("the newest result is not whole")
	}
}

// A file that was read twice among the newest messages stands there once.
func TestNewestMessagesHaveOneCopy(t *testing.T) {
	m := append([]chat.Message{user("Read all tables.")}, coding(0, 60)...)
	for i := range 2 {
		m = append(m, user("Read the list."))
		m = append(m, did(fmt.Sprint("list", i), "Read", `{"file_path":"/w/list.txt"}`, lines("entry", 150))...)
		for k := range 4 {
			m = append(m, did(fmt.Sprint("look", i, k), "bash", `{"command":"uptime"}`, fmt.Sprint("up ", i, k))...)
		}
		m = append(m, said("It is read."))
	}
	r := fit(t, newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, OutputReserve: 1000}), chat.Request{History: chat.NewHistory(m...)}, winnow.State{Ask: winnow.Ask{Force: true, TargetTokens: 15_000}})
	if n := strings.Count(text(r.View), "entry line 100"); n != 1 {
		t.Errorf("the list stands %d times", n)
	}
	contains(t, "the view", text(r.View), "/w/list.txt: superseded, read again later")
}

// Files that tools name as Windows does have that spelling, also those that a shell named
// otherwise, or from the folder that the system prompt names. Where another agent's report
// names one, that is said.
func TestPathsHaveOneSpelling(t *testing.T) {
	m := append([]chat.Message{user("Look at both.")}, did("a", "Read", `{"file_path":"D:\\x\\src\\a.go"}`, "     1→package a\n     2→\n     3→const one = 1\n")...)
	m = append(m, did("b", "bash", `{"command":"cat /d/x/src/b.go"}`, "package b\n\nconst two = 2\n")...)
	m = append(m, did("b2", "bash", `{"command":"cat src/a.go"}`, "package a\n\nconst one = 11\n")...)
	m = append(m, did("c", "Task", `{"subagent_type":"general-purpose","prompt":"x"}`, "I mended src/b.go, and ran its tests.")...)
	m = append(append(m, said("Both are fine."), user("Go on.")), coding(0, 40)...)
	system := []chat.Part{{Kind: chat.Text, Text: "You are an agent.\n\nWorking directory: D:\\x"}}
	r := fit(t, newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, OutputReserve: 1000}), chat.Request{System: system, History: chat.NewHistory(m...)}, winnow.State{Ask: winnow.Ask{Force: true, TargetTokens: 14_000}})
	if strings.Contains(text(r.View), "const one = 1\n") {
		t.Error("a file stands there as it was")
	}
	contains(t, "the view", text(r.View), "### D:\\x\\src\\a.go\n", `### D:\x\src\b.go, may have changed since: the report of another agent names it`, "Another agent has worked")
}

// What a client's own summary tells of messages that are gone is not lost when it is
// folded itself.
func TestSummaryOfTheClientStays(t *testing.T) {
	words := "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion.\n\nAnalysis:\nThe zygote counter counts twice.\n" + lines("file", 30) + "\nPending Tasks:\n   - Write the lease test."
	m := append([]chat.Message{user(words)}, coding(0, 60)...)
	r := fit(t, newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, OutputReserve: 1000}), chat.Request{History: chat.NewHistory(m...)}, winnow.State{Ask: winnow.Ask{Force: true, TargetTokens: 9000}})
	contains(t, "the view", text(r.View), "(summary, put in by the client) This session is being continued", "The zygote counter counts twice.", "Write the lease test.", "file line 17")
}
