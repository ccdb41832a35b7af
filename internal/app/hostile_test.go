//go:build unix

package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/transcript"
)

// hostile is what every text of a hostile file ends with: the clipboard, the
// title, the screen, a one-byte sequence, hidden text, the line's beginning and
// the direction of writing.
const hostile = "\x1b]52;c;aGk=\x07\x1b]0;t\x07\x1b[2J\u009b31m\x1b[8mhid\r\x7f\u202e\U000e0041"

// ownSequence matches the sequences that the command itself writes: colours, except
// the attribute that hides text, and what erases the line of progress.
var ownSequence = regexp.MustCompile("\x1b\\[(?:[0-79]|[1-9][0-9]|[0-9]+;[0-9;]+)m|\r\x1b\\[K")

// inTerminal runs the command in this process with its output on a terminal.
func inTerminal(t testing.TB, stdin string, args ...string) (code int, shown string) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close() //nolint:errcheck // a terminal of the test's own
	if err := pty.Setsize(master, &pty.Winsize{Rows: 50, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(master) // ends with an error when the other end is closed
		read <- string(all)
	}()
	code = Run(args, strings.NewReader(stdin), tty, tty)
	_ = tty.Close()
	return code, strings.ReplaceAll(<-read, "\r\n", "\n")
}

// harmless runs a command on a terminal and looks for what would steer it.
func harmless(t testing.TB, stdin string, args ...string) (code int, shown string) {
	t.Helper()
	code, shown = inTerminal(t, stdin, args...)
	rest := ownSequence.ReplaceAllString(shown, "")
	if i := strings.IndexFunc(rest, termsafe.Hidden); i >= 0 {
		t.Errorf("winnow %q (exit code %d) writes %q to the terminal", args, code, rest[max(0, i-60):min(len(rest), i+60)])
	}
	return code, shown
}

// spoil appends the hostile text to every string of a document whose member is
// not in keep. It notes the members that it saw.
func spoil(doc any, name string, keep, seen map[string]bool) any {
	switch x := doc.(type) {
	case map[string]any:
		for k, v := range x {
			x[k] = spoil(v, k, keep, seen)
		}
	case []any:
		for i := range x {
			x[i] = spoil(x[i], name, keep, seen)
		}
	case string:
		if seen != nil {
			seen[name] = true
		}
		if !keep[name] {
			return x + hostile
		}
	}
	return doc
}

// spoiled returns a session file with hostile texts, and the members that can
// have none, because the file would not be read.
func spoiled(t testing.TB, data []byte) (whole []byte, kept map[string]bool, with func(keep map[string]bool) []byte) {
	t.Helper()
	seen := make(map[string]bool)
	with = func(keep map[string]bool) []byte {
		var out bytes.Buffer
		dec, enc := json.NewDecoder(bytes.NewReader(data)), json.NewEncoder(&out)
		dec.UseNumber()
		for {
			var doc any
			if err := dec.Decode(&doc); err == io.EOF {
				return out.Bytes()
			} else if err != nil {
				t.Fatal(err)
			}
			if err := enc.Encode(spoil(doc, "", keep, seen)); err != nil {
				t.Fatal(err)
			}
		}
	}
	messages := func(data []byte) int {
		n := 0
		sessions, err := transcript.Read(data, nil)
		if err != nil {
			return -1
		}
		for i := range sessions {
			n += sessions[i].History.Len()
		}
		return n
	}
	want := messages(data)
	with(nil)
	kept = maps.Clone(seen)
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if kept[name] = false; messages(with(kept)) != want {
			kept[name] = true
		}
	}
	return with(kept), kept, with
}

// formats are small session files of every format that can be read.
func formats(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../transcript/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".golden") })
	if len(files) < len(transcript.Formats()) {
		t.Fatalf("%d files for %d formats", len(files), len(transcript.Formats()))
	}
	return files
}

// TestHostileFiles reads a file of every format whose texts, ids, names and own
// name are full of escape sequences, with every command that reads files: what
// the terminal gets are our own colours and nothing else.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for i, from := range formats(t) {
		if i%9 != 0 && !longrun.Asked() {
			continue
		}
		t.Run(filepath.Base(from), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			whole, kept, with := spoiled(t, data)
			write := func(name string, data []byte) string {
				path := filepath.Join(dir, name+hostile+filepath.Ext(from))
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			path := write("session", whole)
			// A file or a pager that gets a report is looked at on a terminal later.
			if _, out, errs := command(t, "", "check", path); strings.ContainsFunc(out+errs, termsafe.Hidden) {
				t.Errorf("a pipe gets %q %q", out, errs)
			}
			hostileCommands(t, dir, path)
			hostileSessions(t, dir, path)

			// What the file cannot be read with, one at a time.
			for name := range kept {
				if !kept[name] {
					continue
				}
				kept[name] = false
				bad := write("bad-"+name, with(kept))
				kept[name] = true
				for _, args := range []string{"check", "validate", "repair", "session import --store mem.db"} {
					harmless(t, "", append(strings.Fields(strings.ReplaceAll(args, "mem.db", filepath.Join(dir, "bad.db"))), bad)...)
				}
			}
		})
	}
}

// hostileCommands runs the commands over a hostile file.
func hostileCommands(t *testing.T, dir, path string) {
	t.Helper()
	plan, view := filepath.Join(dir, "plan"+hostile), filepath.Join(dir, "view"+hostile+".json")
	for _, args := range [][]string{
		{"check", path},
		{"check", path, "--json"},
		{"check", path, "--exact"},
		{"page", path, "--html", filepath.Join(t.TempDir(), "page"+hostile+".html")},
		{"page", path, "--html", filepath.Join(t.TempDir(), "page.html"), "--session", hostile},
		{"page", path + "x"},
		{"check", path, "--window", "100"},
		{"check", path, "--model", "m" + hostile},
		{"check", path, "--session", hostile},
		{"check", path, "--format", hostile},
		{"check", path + "x"},
		{"compact", path, "--force", "--target", "0.01", "--plan", plan, "--out", view},
		{"compact", path, "--force", "--target", "0.01", "--dry-run"},
		{"compact", path, "--window", "200"},
		{"compact", path, "--window", "200", "--json"},
		{"compact", path, "--force", "--out", "-", "--plan", filepath.Join(dir, "other")},
		{"compact", path, "--force", "--out", path},
		{"compact", path, "--pin", hostile},
		{"compact", path, "--stages", hostile},
		{"compact", path, "--focus", hostile, "--force", "--dry-run"},
		{"plan", "show", plan},
		{"plan", "show", plan, path},
		{"plan", "show", plan, path, "--json"},
		{"plan", "diff", plan, filepath.Join(dir, "other")},
		{"plan", "diff", plan, plan},
		{"plan", "apply", plan, path, "--out", "-"},
		{"plan", "apply", plan, path, "--out", view},
		{"plan", "apply", path, plan},
		{"plan", "undo", plan, path},
		{"plan", "undo", plan, path, "--id", hostile},
		{"recall", path, hostile, "--plan", plan},
		{"recall", path, "w1"},
		{"validate", path},
		{"validate", path, "--dialect", "anthropic"},
		{"validate", path, "--dialect", hostile},
		{"validate", view},
		{"repair", path},
		{"repair", path, "--out", "-"},
		{"repair", path, "--to", "openai", "--out", "-"},
		{"tokens", path},
		{"tokens", path, "--text"},
		{"tokens", path, "--model", hostile},
		{"classify", path},
		{"classify", path, "--json"},
		{"classify", path, "--status", "400"},
		{"replay", path, "--policy", "winnow", "--window", "16000"},
		{"replay", path, "--policy", hostile},
		{"insights", path, "--all", "--verbose"},
		{"insights", path, "--since", hostile},
		{"doctor", "--gateway", "http://127.0.0.1:1/" + hostile},
		{"doctor", "--config", path},
		{"address", "--gateway", "http://127.0.0.1:1/" + hostile},
		{"config", "import", path},
		{"config", "import", path, "--from", hostile},
		{"watch", path, "--once"},
		{"watch", path, "--statusline"},
		{"watch", hostile, "--once"},
		{"tree", path, "--json"},
		{"session", "import", path + "x"},
		{"models", hostile},
		{hostile},
		{"help", hostile},
		{"check", "--" + hostile},
	} {
		harmless(t, "", args...)
	}
	// A handle of the plan, if it has one.
	if data, err := os.ReadFile(plan); err == nil {
		for _, m := range regexp.MustCompile(`"handle":\s*"(w[a-z0-9]+)"`).FindAllStringSubmatch(string(data), 3) {
			if code, _ := harmless(t, "", "recall", path, m[1], "--plan", plan); code != exitDone {
				t.Errorf("recall of %s: exit code %d", m[1], code)
			}
		}
	}
}

// hostileSessions takes a hostile file into a store and runs the session
// commands over it.
func hostileSessions(t *testing.T, dir, path string) {
	t.Helper()
	stores := []string{filepath.Join(dir, "s"+hostile+".db"), filepath.Join(dir, "folder"+hostile) + "/"}
	for _, store := range stores {
		harmless(t, "", "session", "import", path, "--store", store)
	}
	// A folder in which the file itself lies, for the formats that are sessions.
	folder := filepath.Join(dir, "as-is")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "a"+hostile+".jsonl"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range append(stores, folder) {
		for _, args := range [][]string{{"ls"}, {"ls", "--json"}, {"search", "hid"}, {"search", hostile}, {"show", hostile}, {"delete", hostile, "--yes"}} {
			harmless(t, "", append(append([]string{"session"}, args...), "--store", store)...)
		}
		_, listed, _ := command(t, "", "session", "ls", "--json", "--store", store)
		var doc struct {
			Sessions []struct {
				ID string `json:"id"`
			} `json:"sessions"`
		}
		_ = json.Unmarshal([]byte(listed), &doc) // nothing where there is none
		for i := range doc.Sessions[:min(2, len(doc.Sessions))] {
			hostileSession(t, dir, store, doc.Sessions[i].ID)
		}
	}
}

func hostileSession(t *testing.T, dir, store, id string) {
	t.Helper()
	session := func(args ...string) {
		t.Helper()
		harmless(t, "", append(append([]string{"session"}, args...), "--store", store)...)
	}
	session("show", id)
	session("show", id, "--view")
	session("show", id, hostile)
	for _, args := range [][]string{{"note", "add", hostile}, {"note", "edit", hostile, hostile}, {"note", "remove", hostile}, {"note", "list"}, {"note", "list", "--json"}} {
		harmless(t, "", append(args, "--session", id, "--store", store)...)
	}
	_, shown, _ := command(t, "", "session", "show", id, "--json", "--limit", "0", "--store", store)
	var doc struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	_ = json.Unmarshal([]byte(shown), &doc) // nothing where it cannot be shown
	for _, e := range doc.Items {
		session("show", id, e.ID)
	}
	for _, args := range [][]string{
		{"tree", id},
		{"tree", id, "--json"},
		{"stats", id},
		{"prepare", id},
		{"prepare", id, "--json"},
		{"compact", id, hostile},
		{"rewind", id},
		{"rewind", id, hostile},
		{"branch", id, hostile},
		{"export", id, "--out", "-"},
		{"export", id, "--to", "openai", "--out", filepath.Join(dir, "e"+hostile)},
		{"export", id, "--to", hostile, "--out", "-"},
	} {
		session(args...)
	}
	if len(doc.Items) > 0 {
		session("branch", id, doc.Items[0].ID)
	}
	harmless(t, "/tree\n/context\n/help\n/nothing"+hostile+"\n", "loop", "--model", "sim", "--session", id, "--store", store)
	harmless(t, "say it "+hostile+"\n", "loop", "--model", "sim", "--session", id, "--store", store, "--json")
	session("delete", id, "--yes")
}

// TestHostileArguments runs the commands that read no session, with hostile
// arguments, settings and texts.
func TestHostileArguments(t *testing.T) {
	dir := isolate(t)
	t.Setenv("XDG_CACHE_HOME", dir)
	bad := filepath.Join(dir, "settings"+hostile+".yaml")
	if err := os.WriteFile(bad, []byte("focus: "+yamlQuoted(hostile)+"\n"+yamlQuoted(hostile)+": 1\nthreshold: "+yamlQuoted(hostile)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(dir, "good"+hostile+".yaml")
	if err := os.WriteFile(good, []byte("focus: "+yamlQuoted(hostile)+"\nmodels_file: \"\"\nstore: "+yamlQuoted(hostile)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, shown := harmless(t, "", "config", "print", "--config", good); code != exitDone || !strings.Contains(shown, "focus") {
		t.Errorf("exit code %d: %s", code, shown)
	}
	for _, args := range [][]string{
		{"config", "print", "--config", good},
		{"config", "print", "--config", bad},
		{"config", "validate", bad},
		{"config", "validate", good},
		{"config", "validate", bad, "--json"},
		{"serve", "--listen", hostile},
		{"serve", "--store", "memory", "--upstream", hostile},
		{"serve", "--store", "memory", "--keys", hostile},
		{"serve", "--store", "memory", "--summarizer", hostile},
		{"sim", "--listen", hostile},
		{"sim", "--listen", "127.0.0.1:" + hostile},
		{"wrap", "--store", "memory", "no-such-agent" + hostile},
		{"store", "ls", "--store", "none" + hostile},
		{"store", "stats", "--store", "none" + hostile},
		{"store", "prune", "--store", "none" + hostile},
		{"store", "migrate", "--store", "none" + hostile},
		{"store", "migrate", "--store", "postgres://127.0.0.1:1/" + hostile},
		{"store", "copy", "none" + hostile, "other" + hostile},
		{"store", "copy", "none", "other", "--what", hostile},
		{"work", "--store", hostile},
		{"store", "rm", hostile, "--store", "none" + hostile},
		{"wrap", "--gateway", hostile, "x"},
		{"wrap", "--gateway", "http://127.0.0.1:1/" + hostile, "x"},
		{"loop", "--model", hostile},
		{"loop", "--session", hostile, "--model", "sim"},
		{"loop", "--system", "@" + hostile},
		{"demo", hostile},
		{"demo", "--json"},
		{"demo"},
		{"version", hostile},
		{"version"},
		{"completion", hostile},
		{"completion", "bash"},
		{"man", filepath.Join(bad, hostile)},
		{"man", filepath.Join(dir, "man"+hostile)},
		{"tree", hostile},
		{"page", hostile},
		{"page", hostile, "--html", hostile},
		{"models"},
		{"models", hostile, "--json"},
		{"session", hostile},
		{"plan", hostile},
	} {
		harmless(t, "", args...)
	}
	harmless(t, `{"error":{"message":"prompt is too long: 9 tokens > 5 maximum`+strings.Trim(quoted(hostile), `"`)+`","type":"x`+strings.Trim(quoted(hostile), `"`)+`"}}`, "classify")
	harmless(t, "429 "+hostile, "classify")
	harmless(t, "", "mcp", "install", "gemini-cli", "--print", "--session", hostile)
}

// A project whose folder and settings carry escapes: neither what is ignored nor what
// is trusted steers the terminal.
func TestHostileProject(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, home)
	}
	dir := filepath.Join(home, "project"+strings.ReplaceAll(hostile, "/", ""))
	below := filepath.Join(dir, "below")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"focus: " + yamlQuoted(hostile) + "\n" + yamlQuoted(hostile) + ": 1\n":           "ignored, because of a mistake",
		"focus: " + yamlQuoted(hostile) + "\nmodels_file: " + yamlQuoted(hostile) + "\n": "ignored, because of a mistake",
		"focus: " + yamlQuoted(hostile) + "\nstore: " + yamlQuoted(hostile) + "\n":       "ignored, because it could do harm",
		"model: " + yamlQuoted(hostile) + "\n":                                           "model: ",
	} {
		if err := os.WriteFile(filepath.Join(dir, ".winnow.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		if code, shown := harmless(t, "", "config", "print"); code != exitDone || !strings.Contains(shown, want) {
			t.Errorf("exit code %d, without %q: %s", code, want, shown)
		}
		for _, args := range [][]string{
			{"config", "print", "--json"},
			{"config", "validate"},
			{"config", "validate", "--json"},
			{"doctor"},
			{"loop"},
			{"session", "list"},
			{"config", "trust"},
			{"config", "trust", "--json"},
			{"config", "print"},
			{"config", "trust", "--revoke"},
			{"config", "trust", "--revoke"},
		} {
			harmless(t, "", args...)
		}
		write(t, filepath.Join(home, "winnow", "init.json"), `{"changes":[{"what":`+quoted(hostile)+`,"file":`+quoted(below+hostile)+`,"back":[`+quoted(hostile)+`]}]}`, 0o600)
		harmless(t, "", "init", "--undo")
		t.Chdir(below)
		harmless(t, "", "config", "print")
		harmless(t, "", "config", "trust")
	}
}

// TestEveryCommandIsTried holds that the tests above leave no command out.
func TestEveryCommandIsTried(t *testing.T) {
	source, err := os.ReadFile("hostile_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.HasSubCommands() || !c.Runnable() || c.Name() == "help" {
			return
		}
		words := strings.Fields(strings.TrimPrefix(c.CommandPath(), "winnow "))
		tried := `"` + strings.Join(words, `", "`) + `"`
		if words[0] == "session" && words[1] != "import" {
			tried = `"` + words[1] + `"` // the word is put in front of them all
		}
		if !strings.Contains(string(source), "{"+tried) && !strings.Contains(string(source), "("+tried) && !strings.Contains(string(source), `(t, "", `+tried) {
			t.Errorf("winnow %s is not tried with hostile input; add it to this file", strings.Join(words, " "))
		}
	}
	walk((&app{getenv: os.Getenv, environ: os.Environ}).rootCommand())
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprint(err)) // a string always has a JSON form
	}
	return string(b)
}

// yamlQuoted writes a text for a settings file, whose format allows control
// characters as escapes only.
func yamlQuoted(s string) string {
	return strings.ReplaceAll(strconv.QuoteToASCII(s), `\x7f`, `\u007f`)
}

// TestDataStaysAsItIs holds that a file or another program gets what stands in
// the conversation byte for byte, and a terminal does not.
func TestDataStaysAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, plan := filepath.Join(dir, "s.json"), filepath.Join(dir, "p.json")
	long := strings.Repeat("line "+hostile+"\n", 400)
	var messages []any
	for i := range 12 {
		messages = append(messages, map[string]any{"role": "user", "content": fmt.Sprint(i)},
			map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": fmt.Sprint("c", i), "type": "function", "function": map[string]any{"name": "sh", "arguments": "{}"}}}},
			map[string]any{"role": "tool", "tool_call_id": fmt.Sprint("c", i), "content": fmt.Sprint(i) + long})
	}
	body, err := json.Marshal(map[string]any{"model": "gpt-5", "messages": messages})
	if err == nil {
		err = os.WriteFile(path, body, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "", "compact", path, "--force", "--target", "0.02", "--stages", "limit,prune", "--plan", plan, "--out", filepath.Join(dir, "v.json")); code != exitDone {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`"handle":\s*"(w[a-z0-9]+)"`).FindStringSubmatch(string(data))
	if m == nil {
		t.Fatal("the plan has no handle")
	}
	_, original, _ := command(t, "", "recall", path, m[1], "--plan", plan)
	if !strings.HasSuffix(original, long) {
		t.Errorf("a program gets %q", original[:min(200, len(original))])
	}
	if _, shown := harmless(t, "", "recall", path, m[1], "--plan", plan); !strings.Contains(shown, `\u001b]52;c;`) {
		t.Errorf("the terminal gets %q", shown[:min(200, len(shown))])
	}
	want, err := os.ReadFile(filepath.Join(dir, "v.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"plan", "apply", plan, path, "--out", "-"}, {"compact", path, "--force", "--target", "0.02", "--stages", "limit,prune", "--plan", plan, "--out", "-"}} {
		if _, got, _ := command(t, "", args...); got != string(want) {
			t.Errorf("winnow %v to a program differs from the file", args)
		}
	}
	// What a terminal gets of JSON is JSON still, and says the same. On a slow
	// machine it is told before what is being read.
	_, shown := harmless(t, "", "check", path, "--json")
	shown = shown[max(0, strings.IndexByte(shown, '{')):]
	var piped, seen any
	_, out, _ := command(t, "", "check", path, "--json")
	if err := json.Unmarshal([]byte(out), &piped); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(ownSequence.ReplaceAllString(shown, "")), &seen); err != nil || fmt.Sprint(seen) != fmt.Sprint(piped) {
		t.Errorf("the terminal's document is another: %v", err)
	}
}
