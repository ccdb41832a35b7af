package ladder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// session is some work on a few files: each is read, changed and tested, a report
// of a sub-agent comes in, and the agent closes every turn.
func session(turns int) chat.History {
	h := chat.NewHistory()
	for i := range turns {
		file := fmt.Sprintf("/w/app/pool%d.go", i%5)
		id := func(s string) string { return fmt.Sprint(s, i) }
		var body strings.Builder
		for n := range 60 {
			fmt.Fprintf(&body, "%6d→\tline %d of pool%d stands at %d\n", n+1, n, i%5, 7*n)
		}
		h = h.Append(
			chat.TextMessage(chat.User, fmt.Sprintf("Request %d: raise the limit in pool%d.go to %d. Never touch the vendored code of %d.", i, i%5, 100+i, i)),
			chat.CallMessage("Let me look.", chat.Call(id("r"), "Read", fmt.Sprintf(`{"file_path":%q}`, file))),
			chat.ResultMessage(id("r"), body.String()),
			chat.CallMessage(fmt.Sprintf("The limit is wrong because line 7 reads `%d`.", i), chat.Call(id("e"), "Edit", fmt.Sprintf(`{"file_path":%q,"old_string":"line 7 of pool%d stands at 49","new_string":"line 7 of pool%d now stands at %d"}`, file, i%5, i%5, 1000+i))),
			chat.ResultMessage(id("e"), "The file has been updated."),
			chat.CallMessage("", chat.Call(id("t"), "Bash", `{"command":"go test ./... 2>&1 | tail -5"}`)),
			chat.ResultMessage(id("t"), fmt.Sprintf("--- FAIL: TestPool%d (0.01s)\n    pool_test.go:%d: got %d\nexit status 1", i, i+3, i)),
			chat.CallMessage("", chat.Call(id("c"), "Bash", fmt.Sprintf(`{"command":"git commit -am 'limit %d'"}`, i))),
			chat.ResultMessage(id("c"), fmt.Sprintf("[main 3f2a9b%d] limit %d\n 1 file changed", i, i)),
			chat.TextMessage(chat.Assistant, fmt.Sprintf("The limit of pool%d is %d now; TestPool%d still fails.", i%5, 100+i, i)),
		)
	}
	return h
}

var counter = token.New(token.O200K, nil)

func fold(r *Reading, tokens int) Form {
	n := r.history.Len()
	return r.Fill(Room{Tokens: tokens, From: 0, To: n, Turn: -1, Shown: make([]bool, n), Lift: true})
}

// The natural form says everything once: every request and answer, every action
// with its verdict, every file as it stands.
func TestNaturalForm(t *testing.T) {
	h := session(12)
	form := fold(Read(h, counter, nil), 100_000)
	if !form.Full || form.Unbound > 0 {
		t.Errorf("full %v, unbound %d", form.Full, form.Unbound)
	}
	for i := range 12 {
		for _, want := range []string{
			h.At(10 * i).Text(), h.At(10*i + 9).Text(), fmt.Sprintf("because line 7 reads `%d`", i),
			fmt.Sprintf("- ran `go test ./...`, exit 1: --- FAIL: TestPool%d", i),
			fmt.Sprintf("[main 3f2a9b%d] limit %d", i, i),
		} {
			if !strings.Contains(form.Fold, want) {
				t.Errorf("no %q", want)
			}
		}
	}
	if n := strings.Count(form.State, "line 8 of pool0"); n != 1 {
		t.Errorf("a line of a file stands there %d times", n)
	}
	if !strings.Contains(form.State, "line 7 of pool1 now stands at 1011") || strings.Contains(form.State, "line 7 of pool1 now stands at 1006") {
		t.Error("a file does not stand as it is")
	}
	if t.Failed() {
		t.Log(form.Fold, form.State)
	}
}

// Whatever the room, it is filled and never exceeded, what binds stays longest, and
// the same history gives the same text, however it was read.
func TestFillKeepsToTheRoom(t *testing.T) {
	h := session(30)
	whole := Read(h, counter, nil)
	piece := Read(h.Head(1), counter, nil)
	for n := 8; n < h.Len(); n += 37 {
		piece.Extend(h.Head(n))
	}
	piece.Extend(h)
	for _, tokens := range []int{150, 400, 1000, 2500, 6000, 12_000, 40_000} {
		form := fold(whole, tokens)
		used := counter.Text(form.Fold) + counter.Text(form.State)
		if used > tokens || !form.Full && used < tokens*9/10 {
			t.Errorf("%d tokens of %d are used", used, tokens)
		}
		if again := fold(piece, tokens); again != form {
			t.Errorf("%d tokens: read piece by piece it is another text", tokens)
		}
		if tokens >= 6000 && form.Unbound > 0 {
			t.Errorf("%d tokens: %d sentences that bind are gone", tokens, form.Unbound)
		}
	}
}

// Of a history with more turns than any room takes, those that are worth least are let
// go of, and still counted.
func TestTurnsThatNoRoomReaches(t *testing.T) {
	const turns = 17_000
	msgs := make([]chat.Message, 0, 2*turns)
	for i := range turns {
		msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("Never touch the code of %d.", i)), chat.TextMessage(chat.Assistant, fmt.Sprintf("Done %d.", i)))
	}
	r := Read(chat.OwnHistory(msgs), counter, nil)
	form := fold(r, 4000)
	told := strings.Count(form.Fold, "Never touch the code of")
	if len(r.raises) > 2*mostKept || form.Full || told < 50 || told+form.Unbound != turns {
		t.Errorf("%d raises held, full %v, %d told, %d unbound", len(r.raises), form.Full, told, form.Unbound)
	}
	if n := r.countTokens(form.Fold); n > 4000 || n < 3800 {
		t.Errorf("%d tokens", n)
	}
}

// A reading is used again for a history that goes on, and not for another one.
func TestCache(t *testing.T) {
	var c Cache
	h := session(4)
	first := c.Take(nil, h.Head(20), counter, nil)
	c.Put(first)
	if other := c.Take(nil, chat.NewHistory(session(5).Messages()[10:]...), counter, nil); other == first {
		t.Error("another history has the same reading")
	}
	again := c.Take(nil, h, counter, nil)
	if again != first || fold(again, 5000) != fold(Read(h, counter, nil), 5000) {
		t.Error("the reading does not go on")
	}
	if second := c.Take(nil, h, counter, nil); second == first {
		t.Error("two have one reading at once")
	}
}

// What is attached to a request is not lost: a file joins the working set, an image
// has its line, and so has one that a tool returned.
func TestAttached(t *testing.T) {
	image := chat.Part{Kind: chat.Image, Name: "shot.png", Media: "image/png", Data: strings.Repeat("A", 5000)}
	shot := chat.ResultMessage("1", "")
	shot.Parts[0].Content = []chat.Part{{Kind: chat.Image, Media: "image/webp", Data: "AAAA"}}
	h := chat.NewHistory(
		chat.Message{Role: chat.User, Parts: []chat.Part{
			{Kind: chat.Text, Text: "Mend what the picture shows."},
			image,
			{Kind: chat.Document, Name: "notes/plan.md", Media: "text/markdown", Text: "# Plan\n\nThe lease lasts 47 seconds.\n"},
			{Kind: chat.Document, Name: "spec.pdf", Media: "application/pdf", Data: "JVBERi0xLjQK"},
		}},
		chat.CallMessage("", chat.Call("1", "screenshot", `{}`)), shot,
		chat.TextMessage(chat.User, "<file_content path=\"lease.go\">\npackage lease\n\nconst seconds = 47\n</file_content>"),
		chat.TextMessage(chat.Assistant, "Done."),
	)
	form := fold(Read(h, counter, nil), 4000)
	for _, want := range []string{"[image shot.png image/png, 5 KB]", "[document spec.pdf application/pdf, 1 KB]", "[image image/webp, 1 KB]", "attached notes/plan.md"} {
		if !strings.Contains(form.Fold, want) {
			t.Errorf("no %q in\n%s", want, form.Fold)
		}
	}
	for _, want := range []string{"### notes/plan.md\nthe whole file:\n```\n# Plan\n\nThe lease lasts 47 seconds.\n```", "### lease.go", "const seconds = 47\n```"} {
		if !strings.Contains(form.State, want) {
			t.Errorf("no %q in\n%s", want, form.State)
		}
	}
}

// A view says what happened: no announcements, no code that speaks of errors, no
// frames of a harness, and no search without a hit among what fails.
func TestWhatIsNotTold(t *testing.T) {
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "Find out why orders are lost."),
		chat.CallMessage("Let me look around first, and then at the tests.", chat.Call("1", "Bash", `{"command":"rg -n lost src missing"}`)),
		chat.ResultMessage("1", "Exit code 2\nsrc/a.go:7: return errors.New(\"error: lost order\")\nsrc/a.go:9: log.Fatal(\"panic: lost\")\nrg: missing: No such file or directory (os error 2)\n"+strings.Repeat("src/b.go:1: lost\n", 20)),
		chat.CallMessage("", chat.Call("2", "get_order", `{"id":"A17"}`)),
		chat.ResultMessage("2", `{"order":"A17","items":[{"sku":"K-4411","state":"lost"},{"sku":"K-4412","state":"lost"}],"note":"`+strings.Repeat("x ", 1000)+`"}`),
		chat.TextMessage(chat.Assistant, "Still active; waiting for the worker to report."),
		chat.TextMessage(chat.Assistant, "Two items of the order are lost."),
		chat.TextMessage(chat.User, "Go on."),
	)
	form := fold(Read(h, counter, nil), 400)
	text := form.Fold + form.State
	for _, not := range []string{"Let me look", "Exit code", "failing:", "Still active"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is told:\n%s", not, text)
		}
	}
	log := strings.Repeat("a line of a log, one of very many of them\n", 9) + "  }\n4 jobs ran\nstored in /tmp/jobs\n"
	for before, want := range map[string]string{"error: no lease\nport: 8080\n": "error: no lease\nport: 8080", "port: 8080\nerror: no lease\n": "port: 8080\nerror: no lease", "": "4 jobs ran"} {
		if got := keyLines(before+log, "stored in /tmp/jobs", 40, false); got != want {
			t.Errorf("told by %q, want %q", got, want)
		}
	}
	if !strings.Contains(text, "sku: K-4411, K-4412") {
		t.Errorf("the values of a result are not told beside their names:\n%s", text)
	}
}

// Standing instructions stand whole where they take a small part of the room; where they
// are cut, sections that bind stay whole. An answer that is cut keeps its end.
func TestWhatIsCut(t *testing.T) {
	filler := strings.Repeat("This line describes the folders of the project.\n", 40)
	h := chat.NewHistory(chat.TextMessage(chat.User, "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n# Guide\n\nRead all of it.\n\n## Folders\n"+filler+
		"\n## Prohibited\n\nYou must never:\n\n- write outside of /w\n- push to main\n\n## More\n"+filler+"The last rule.\n</INSTRUCTIONS>"))
	for i := range 4 {
		h = h.Append(chat.TextMessage(chat.User, fmt.Sprintf("Question %d?", i)), chat.TextMessage(chat.Assistant, fmt.Sprintf("Answer %d comes first.\n\n%s\n\nOffer %d: shall I mend the lease?", i, filler, i)))
	}
	h = h.Append(chat.TextMessage(chat.User, "/exit, please."), chat.TextMessage(chat.Assistant, "No response requested."))
	h = h.Append(session(3).Messages()...)
	r := Read(h, counter, nil)
	fill := func(tokens int) string {
		return r.Fill(Room{Tokens: tokens, From: 0, To: h.Len(), Turn: -1, Shown: make([]bool, h.Len())}).Fold
	}
	for tokens, wants := range map[int][]string{
		300:  {"put in by the client) # AGENTS.md", "(cut; the original has it whole, in message 1)"},
		2400: {"…\n\n## Prohibited\n\nYou must never:\n\n- write outside of /w\n- push to main\n\n…\n(cut", "Answer 3 comes first.", "project.\n…\nThis line", "Offer 0: shall I mend"},
		6000: {"The last rule."},
	} {
		text := fill(tokens)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%d tokens: %q is not told:\n%s", tokens, want, text)
			}
		}
		if strings.Contains(text, "No response requested") {
			t.Errorf("%d tokens: what answers nothing is told", tokens)
		}
	}
}

// A path below the working folder is told from there, however either is spelled.
func TestShortPath(t *testing.T) {
	for _, c := range [][3]string{
		{"/d/x", `D:\x\src\a.go`, "src/a.go"},
		{`D:\x`, "/d/x/a.go", "a.go"},
		{`D:\x`, `d:/x`, "."},
		{"/d/x", `D:\xy\a.go`, `D:\xy\a.go`},
		{"/w", "/w/a.go", "a.go"},
		{"", `D:\x\a.go`, `D:\x\a.go`},
	} {
		if got := shortPath(c[0], c[1]); got != c[2] {
			t.Errorf("%s below %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

// Files below a deep folder and files named from a folder above it are told from there.
func TestPathsHaveOneSpelling(t *testing.T) {
	h := chat.NewHistory(chat.TextMessage(chat.User, "Look."))
	for i, p := range []string{"/w/app/cmd/cli/a.go", "/w/app/cmd/cli/b.go", "/w/app/cmd/cli/c.go", "cmd/cli/sub/d.go", "cli/e.go"} {
		h = h.Append(chat.CallMessage("", chat.Call(fmt.Sprint(i), "Read", fmt.Sprintf(`{"file_path":%q}`, p))), chat.ResultMessage(fmt.Sprint(i), "     1→package cli"))
	}
	got := fold(Read(h, counter, nil), 2000).Fold
	if !strings.Contains(got, "Paths are below /w/app.") || !strings.Contains(got, "read cmd/cli/a.go") || !strings.Contains(got, "read cmd/cli/sub/d.go") {
		t.Error(got)
	}
}

// ran is a shell command with its output.
func ran(id, command, output string) []chat.Message {
	return []chat.Message{chat.CallMessage("", chat.Call(id, "Bash", fmt.Sprintf(`{"command":%q}`, command))), chat.ResultMessage(id, output)}
}

// What happened is told in its order, with the verdict that counts; what is done is
// told as done, and nothing as open that came to its end.
func TestWhatCameOfIt(t *testing.T) {
	log := strings.Repeat("a line of a log, one of very many of them\n", 100)
	paste := "Look at this log.\n" + log + "You must never restart the queue.\n" + log
	h := chat.NewHistory(chat.TextMessage(chat.User, paste))
	for i := range 5 {
		id := fmt.Sprint("u", i)
		h = h.Append(chat.CallMessage("", chat.Call(id, "update_order", `{"id":"A17"}`)), chat.ResultMessage(id, `{"id":"A17","state":"paid"}`))
	}
	h = h.Append(chat.CallMessage("", chat.Call("s", "Task", `{"description":"Review the branch"}`)), chat.ResultMessage("s", "All is well with `~/.app/<hash>/log`, says the review.\nagentId: ab-12"))
	h = h.Append(chat.CallMessage("", chat.Call("r", "read_file", `{"path":"/w/log.go"}`)), chat.ResultMessage("r", "  1  func a() {\n  2  \treturn errLost // error: lost\n  3  }\nERROR E_LOST: lease expired at log.go:217\n"))
	h = h.Append(ran("1", "go test ./... | tail -3", "--- FAIL: TestQueue\nFAIL\tapp/queue\t0.1s")...)
	h = h.Append(chat.CallMessage("", chat.Call("e", "Edit", `{"file_path":"/w/q.go","old_string":"a","new_string":"b"}`)), chat.ResultMessage("e", "The file has been updated."))
	h = h.Append(ran("2", "go test ./... | tail -3", "a log of the test\nerror: expected by a test\nok  \tapp/queue\t0.1s")...)
	h = h.Append(chat.CallMessage("It passes. Now let me have the queue wait for its writer:", chat.Call("f", "Edit", `{"file_path":"/w/q.go","old_string":"b","new_string":"c"}`)), chat.ResultMessage("f", "The file has been updated."))
	h = h.Append(chat.CallMessage("", chat.Call("p", "apply_patch", "*** Begin Patch\n*** Update File: /w/keep.go\n@@\n same\n-one\n+two\n+three\n*** Delete File: /w/old.go\n*** End Patch")), chat.ResultMessage("p", "Done!"))
	h = h.Append(ran("3", "git commit -m wip", "error: pathspec did not match\nexit status 1")...)
	h = h.Append(ran("4", "git add . && git commit -m 'mend the queue'", "[main 3f2a9b1] mend the queue\n 1 file changed")...)
	h = h.Append(ran("5", "gh pr create --fill", "Process exited with code 0\nOutput:\nerror: failed to push some refs to 'https://h/app'\nhttps://h/app/pull/7\nhelp: https://h/help")...)
	h = h.Append(ran("6", "rm -rf /tmp/copy && cp -r /w /tmp/copy && ls /tmp/copy", "q.go")...)
	h = h.Append(ran("8", "git tag | grep v2 | sort -V", "v2.1")...)
	long := "curl -s https://h/api/orders?" + strings.Repeat("field=x&", 30) + " | jq "
	h = h.Append(ran("10", long+"length", "35")...)
	h = h.Append(ran("11", long+".[0].id", "7")...)
	for range 3 {
		h = h.Append(chat.TextMessage(chat.Assistant, "The service is down at the moment."))
	}
	h = h.Append(ran("7", `find . -name '*.go' -exec grep -l TODO {} \; 2>/dev/null`, "q.go")...)
	for _, to := range []string{"ROM", "OSL"} {
		h = h.Append(chat.CallMessage("", chat.Call(to, "search_flights", `{"to":"`+to+`"}`)), chat.ResultMessage(to, "AB12"))
	}
	h = h.Append(chat.TextMessage(chat.User, "Now write the changelog."))
	n := h.Len()
	form := Read(h, counter, nil).Fill(Room{Tokens: 2600, From: 0, To: n, Keep: []int{n - 1}, Turn: -1, Shown: make([]bool, n)})
	text := form.Fold + form.State
	for _, want := range []string{
		"You must never restart the queue.", "(id=A17) 5 times", "~/.app/<hash>/log", "ERROR E_LOST: lease expired at log.go:217", "ok app/queue", "https://h/app/pull/7",
		"User: (stands whole below; what follows here was done for it) Now write the changelog.", "already done: ran `gh pr create",
		"| jq length`: 35", "| jq .[0].id`: 7", "search_flights(to=ROM)", "search_flights(to=OSL)", "keep.go, old.go (+2 -1)", "edited q.go (+1 -1)\n", `TODO {} \;`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told", want)
		}
	}
	for _, not := range []string{"to do", "failing", "expected by a test", "again: ran `rm", "again: ran `git tag"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is told", not)
		}
	}
	if n := strings.Count(text, "The service is down"); n != 1 {
		t.Errorf("what was said three times is told %d times", n)
	}
	if f, e, p := strings.Index(text, "FAIL: TestQueue"), strings.Index(text, "edited"), strings.Index(text, "ok app"); f < 0 || f > e || e > p {
		t.Errorf("not in its order: failed at %d, edited at %d, passed at %d", f, e, p)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// A tally says whether everything passed, whatever numbers stand in it.
func TestAllPassed(t *testing.T) {
	for tally, want := range map[string]bool{
		"1309 pass, 0 fail": true, "ok  \tapp/queue\t0.1s": true, "12 passed in 0.3s": true, "": false,
		"10 failed, 3 passed": false, "100 errors": false, "FAIL\tapp/queue\t0.1s": false, "BUILD FAILED": false,
	} {
		if got := allPassed(tally); got != want {
			t.Errorf("%q: %v", tally, got)
		}
	}
}

// A list of things to do that was read for the newest request stays, whatever was read
// after it.
func TestWhatIsWantedStays(t *testing.T) {
	show := func(h chat.History, path, line string) chat.History {
		id := fmt.Sprint("r", h.Len())
		return h.Append(chat.CallMessage("", chat.Call(id, "Read", fmt.Sprintf(`{"file_path":%q}`, path))), chat.ResultMessage(id, line))
	}
	h := show(chat.NewHistory(chat.TextMessage(chat.User, "Do all of it.")), "/w/phase.md", "     1→# Phase\n     2→\n     3→- [ ] wire the queue "+strings.Repeat("so that nothing is lost on the way ", 30)+"\n     4→- [x] begin\n     5→- [ ] drain it\n")
	for i := range 80 {
		h = show(h, fmt.Sprintf("/w/file%d.go", i), "     1→"+strings.Repeat("func serve() {} // and so on ", 10))
	}
	if state := fold(Read(h, counter, nil), 4000).State; !strings.Contains(state, "- [ ] wire the queue") {
		t.Error(state)
	}
}

// Of the turn that goes on the actions are told, however much was said before it.
func TestRunningTurnIsTold(t *testing.T) {
	var h chat.History
	for i := range 30 {
		h = h.Append(chat.TextMessage(chat.User, fmt.Sprintf("And question %d?", i)), chat.TextMessage(chat.Assistant, fmt.Sprintf("Answer %d is: ", i)+strings.Repeat("it depends on the queue and on its writer. ", 12)))
	}
	h = h.Append(chat.TextMessage(chat.User, "Now do it."))
	h = h.Append(ran("1", "go vet ./queue", "queue/a.go:7: lost lease\nexit status 1")...)
	for i := range 12 {
		h = h.Append(chat.CallMessage("", chat.Call(fmt.Sprint("e", i), "Edit", fmt.Sprintf(`{"file_path":"/w/q%d.go","old_string":"a","new_string":"b"}`, i))), chat.ResultMessage(fmt.Sprint("e", i), "The file has been updated."))
	}
	if got := fold(Read(h, counter, nil), 4000).Fold; strings.Count(got, "- edited q") != 12 || !strings.Contains(got, "go vet") {
		t.Error(got)
	}
	if got := fold(Read(h, counter, nil), 900).Fold; !strings.Contains(got, " actions of the turns above left out]\n[End") {
		t.Errorf("what is left out is not told: %s", got)
	}
}

// Why a file may have changed is said once, and files that have no room are counted.
func TestFilesInFewWords(t *testing.T) {
	var h chat.History
	read := func(path string, from int) {
		var b strings.Builder
		for n := range 30 {
			fmt.Fprintf(&b, "%6d→\tline %d of %s\n", from+n, from+n, path)
		}
		id := fmt.Sprint("r", h.Len())
		h = h.Append(chat.CallMessage("", chat.Call(id, "Read", fmt.Sprintf(`{"file_path":%q,"offset":%d,"limit":30}`, path, from))), chat.ResultMessage(id, b.String()))
	}
	h = chat.NewHistory(chat.TextMessage(chat.User, "Look at all of it."))
	for i := range 40 {
		read(fmt.Sprintf("/w/a/folder/of/the/project/file%d.go", i), 1)
	}
	h = h.Append(chat.CallMessage("", chat.Call("e0", "Edit", `{"file_path":"/w/a/folder/of/the/project/file3.go","old_string":"line 7","new_string":"line seven"}`)), chat.ResultMessage("e0", "The file has been updated."))
	read("/w/main.go", 1)
	read("/w/main.go", 100)
	h = h.Append(ran("g", "go generate ./...", "")...)
	for id, to := range map[string]string{"e1": "handleSecond", "e2": "handle the second"} {
		h = h.Append(chat.CallMessage("", chat.Call(id, "Edit", fmt.Sprintf(`{"file_path":"/w/other.go","old_string":"first","new_string":%q}`, to))), chat.ResultMessage(id, "The file has been updated."))
	}
	n := h.Len()
	state := Read(h, counter, nil).Fill(Room{Tokens: 1500, From: 0, To: n, Turn: -1, Shown: make([]bool, n)}).State
	_, file, _ := strings.Cut(state, "### /w/main.go")
	file, _, _ = strings.Cut(file, "###")
	if strings.Count(file, "lines ") < 2 || strings.Count(file, "may have changed") != 1 {
		t.Errorf("its doubt is not said once: %s", file)
	}
	if strings.Contains(state, "handleSecond") || !strings.Contains(state, "handle the second") {
		t.Errorf("a name alone is shown as text of a file, or a text is not:\n%s", state)
	}
	none := Read(h, counter, nil).newFiller(Room{Whole: 1500, Shown: make([]bool, n)})
	none.listing = 100
	if got, want := none.listUnshown(), "Not shown, though changed before: /w/other.go, file3.go\nNot shown, though read before: /w/main.go, file39.go, "; !strings.HasPrefix(got, want) {
		t.Errorf("a file that was changed is not told as changed:\n%s", got)
	}
	if !strings.Contains(state, " more files") {
		t.Errorf("files that are not listed are not counted:\n%s", state)
	}
}
