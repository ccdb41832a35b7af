package summary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// listOf returns the rows of the list of files and commands by what they are
// of, and the whole text.
func listOf(t *testing.T, in Input) (rows map[string]string, text string) {
	t.Helper()
	out, err := Builtin().Summarize(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, in, out)
	rows = map[string]string{}
	_, list, _ := strings.Cut(out.Text, "## "+sectionEvidence)
	list, _, _ = strings.Cut(list, "\n## ")
	for row := range strings.SplitSeq(list, "\n") {
		if row, ok := strings.CutPrefix(row, "- "); ok {
			name, names, _ := strings.Cut(row, ": ")
			name, _, _ = strings.Cut(name, " [")
			rows[name] = names
		}
	}
	return rows, out.Text
}

// reads makes a history of calls that read files.
func reads(files ...[2]string) []chat.Message {
	msgs := []chat.Message{chat.TextMessage(chat.User, "Please look at the files.")}
	for i, f := range files {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs,
			chat.CallMessage("", chat.Call(id, "read", fmt.Sprintf(`{"path":%q}`, f[0]))), chat.ResultMessage(id, f[1]))
	}
	return msgs
}

// A name that two files have is listed where its neighbours are, and not just
// in the file that had it first.
func TestListKeepsNeighbours(t *testing.T) {
	filler := func(word string) string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, "func %sHelper%02d() { call%sStep%02d() }\n", word, i, word, i)
		}
		return b.String()
	}
	files := [][2]string{{"app/config/first.go", "var sharedLimit = 1\n" + filler("alpha")}}
	for _, name := range []string{"gamma", "delta", "epsilon", "theta"} {
		files = append(files, [2]string{"app/client/" + name + ".go", filler(name)})
	}
	files = append(files, [2]string{"app/server/last.go", "listenAddr := openSocket(sharedLimit, maxBacklog)\nserveForever(listenAddr, sharedLimit)\n" + filler("beta")})
	h := chat.NewHistory(reads(files...)...)
	rows, text := listOf(t, Input{History: h, To: h.Len(), Turn: -1, Max: 1500, Counter: token.New(token.O200K, nil)})
	last := ""
	for name, names := range rows {
		if strings.HasSuffix(name, "server/last.go") {
			last = names
		}
	}
	for _, name := range []string{"sharedLimit", "listenAddr", "maxBacklog"} {
		if !strings.Contains(last, name) {
			t.Errorf("%s is not listed with its neighbours:\n%s", name, text)
		}
	}
}

// What is worth most is listed first: numbers of lines in a file that was read
// do not keep out what the agent wrote itself.
func TestListPrefersTheAgentsWords(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "%5d\tplain text without any names\n", 1000+i)
	}
	msgs := reads([2]string{"app/server/long.go", b.String()})
	for i := range 12 {
		msgs = append(msgs, chat.TextMessage(chat.Assistant, fmt.Sprintf("The handler calls retryBudget%02d with %d.", i, 70001+i)))
	}
	h := chat.NewHistory(msgs...)
	_, text := listOf(t, Input{History: h, To: h.Len(), Turn: -1, Max: 320, Counter: token.New(token.O200K, nil)})
	for i := range 12 {
		for _, want := range []string{fmt.Sprintf("retryBudget%02d", i), fmt.Sprint(70001 + i)} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is lost:\n%s", want, text)
			}
		}
	}
}

func TestTrimCommand(t *testing.T) {
	for in, want := range map[string]string{
		"go test ./... 2>&1 | head -50":            "go test ./...",
		"go test ./... 2>&1 | grep FAIL | tail -5": "go test ./... 2>&1 | grep FAIL",
		"ls -la 2>/dev/null":                       "ls -la",
		"make all || head -3 log":                  "make all || head -3 log",
		"cat a | head -n 20 notes.txt more.txt":    "cat a | head -n 20 notes.txt more.txt",
		"echo one\necho two":                       "echo one",
		"2>&1":                                     "2>&1",
		"| head":                                   "| head",
	} {
		if got := trimCommand(in); got != want {
			t.Errorf("trimCommand(%q) = %q, want %q", in, got, want)
		}
	}
}

// Pieces of a long request that say nothing by themselves are left out, but
// a request that is one word is a request.
func TestRequestsLeaveOutFences(t *testing.T) {
	var long strings.Builder
	for i := range 80 {
		fmt.Fprintf(&long, "%d.\n```\n<step>\nDo step number %d of the migration and report what has changed since then.\n", i, i)
	}
	h := chat.NewHistory(
		chat.TextMessage(chat.User, long.String()), chat.TextMessage(chat.Assistant, "Shall I go on?"),
		chat.TextMessage(chat.User, "yes"), chat.TextMessage(chat.Assistant, "Done."),
	)
	_, text := listOf(t, Input{History: h, To: h.Len(), Turn: -1, Max: 300, Counter: token.New(token.O200K, nil)})
	if !strings.Contains(text, "[#3] yes") || !strings.Contains(text, "of the migration") {
		t.Errorf("requests are lost:\n%s", text)
	}
	if strings.Contains(text, "```") || strings.Contains(text, "<step>") {
		t.Errorf("pieces that say nothing:\n%s", text)
	}
}
