package app

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/longrun"
)

// command runs the command in this process, with no settings but its own.
func command(t testing.TB, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs lockedBuffer // an agent that is wrapped writes there too
	code = Run(args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// lockedBuffer is a buffer that two may write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// isolate makes sure that no settings of the machine are read.
func isolate(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	setenv(t, "HOME", dir)
	setenv(t, "XDG_CONFIG_HOME", filepath.Join(dir, ".config"))
	return dir
}

func setenv(t testing.TB, name, value string) {
	t.Helper()
	if s, ok := t.(interface{ Setenv(string, string) }); ok {
		s.Setenv(name, value)
	}
}

// gzipped compresses data.
func gzipped(data string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(data))
	_ = z.Close()
	return b.String()
}

const hello = `[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]`

// TestBadInput hands every reading command files that are not conversations. Each
// answers with one line that names the file and says what to do, or with what could
// be recovered and a warning; none panics or leaves a file behind.
func TestBadInput(t *testing.T) {
	cases := []struct {
		name, data string
		want       string // of the error; "" where it can be read
		warning    string // of what can be read
	}{
		{name: "cut off", data: hello[:60], want: `:1: the JSON ends in the middle; .*copy it again`},
		{name: "cut off in an object", data: `{"model":"gpt-5","messages":[{"role":"user",` + "\n" + `"content":"x"`, want: `:2: the JSON ends in the middle`},
		{name: "a number as content", data: `{"messages":[{"role":"user","content":5}]}`, want: `:1: .*a number where a string`},
		{name: "messages that are a string", data: `{"messages":"none"}`, want: `no known session format`},
		{name: "a role that is a number", data: `[{"role":7,"content":"x"}]`, want: `no known session format`},
		{name: "a number", data: `42`, want: `no known session format: a number`},
		{name: "an object of another kind", data: `{"a":1}`, want: `no known session format: an object with the members a`},
		{name: "an empty array", data: `[]`, want: `an empty array`},
		{name: "NUL bytes", data: strings.Repeat("\x00", 100), want: `not valid JSON`},
		{name: "a NUL byte in a string", data: "[{\"role\":\"user\",\"content\":\"a\x00b\"}]", want: `:1: this is not valid JSON`},
		{name: "invalid UTF-8", data: "[{\"role\":\"user\",\"content\":\"a\xff\xfeb\"}]"},
		{name: "half of a surrogate pair", data: `[{"role":"user","content":"a\ud800b"}]`},
		{name: "a name twice", data: `{"messages":[{"role":"user","content":"x","content":"y"}]}`},
		{name: "two records on one line", data: `{"role":"user","content":"hi"}{"role":"assistant","content":"ho"}`},
		{name: "a broken line between good ones", data: `{"role":"user","content":"hi"}` + "\n{broken\n" + `{"role":"assistant","content":"ho"}` + "\n", warning: `line 2: not valid JSON: left out`},
		{name: "a picture", data: "\x89PNG\r\n\x1a\n" + strings.Repeat("\xaa\x00", 500), want: `this is a PNG image, not a session`},
		{name: "a text", data: "# Notes\n\nnothing here\n", want: `Markdown or YAML`},
		{name: "nothing", data: "", want: `the file is empty`},
		{name: "spaces", data: " \n\n ", want: `the file is empty`},
		{name: "a byte order mark", data: "\xef\xbb\xbf" + hello},
		{name: "compressed", data: gzipped(hello)},
		{name: "compressed and cut off", data: gzipped(hello)[:14], want: `the JSON ends in the middle|the compressed data is damaged`},
		{name: "deeply nested", data: strings.Repeat("[", 100_000), want: `not valid JSON`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := isolate(t)
			path := filepath.Join(dir, "input.json")
			if err := os.WriteFile(path, []byte(c.data), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"check", "compact", "repair"} {
				args := []string{name, path, "--json"}
				if name != "check" {
					args = append(args, "--out", filepath.Join(dir, "out.json"))
				}
				code, stdout, stderr := command(t, "", args...)
				var doc map[string]any
				if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
					t.Fatalf("%s: standard output is no JSON document: %v\n%s", name, err, stdout)
				}
				if c.want == "" {
					if code != exitDone {
						t.Errorf("%s: exit %d: %s", name, code, stderr)
					}
					if !regexp.MustCompile(c.warning).MatchString(stderr) {
						t.Errorf("%s: standard error %q, want %q", name, stderr, c.warning)
					}
					continue
				}
				if code != exitFailed || doc["error"] == nil {
					t.Errorf("%s: exit %d, document %v", name, code, doc)
				}
				if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "winnow: "+path) || !regexp.MustCompile(c.want).MatchString(stderr) {
					t.Errorf("%s: standard error %q, want one line with %q", name, stderr, c.want)
				}
				if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
					t.Errorf("%s: left behind: %v", name, left)
				}
			}
		})
	}
}

// TestLongName writes beside an input whose name leaves little room for more.
func TestLongName(t *testing.T) {
	path := filepath.Join(isolate(t), strings.Repeat("n", 240))
	if err := os.WriteFile(path, []byte(`[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"go"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "", "compact", path); code != exitDone {
		t.Error(stderr)
	}
	if _, err := os.Stat(path + ".plan.json"); err != nil {
		t.Error(err)
	}
}

// TestFolder names a folder where a file is expected.
func TestFolder(t *testing.T) {
	dir := isolate(t)
	if code, _, stderr := command(t, "", "tokens", dir); code != exitFailed || !strings.Contains(stderr, "this is a folder; name one of the files in it") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestHugeLine reads 200 MB on a single line, whole and cut off.
func TestHugeLine(t *testing.T) {
	longrun.Only(t, "needs a file of 200 MB")
	dir := isolate(t)
	path := filepath.Join(dir, "huge.json")
	data := make([]byte, 0, 200<<20+100)
	data = append(data, `[{"role":"user","content":"`...)
	for len(data) < 200<<20 {
		data = append(data, "the same line over and over again "...)
	}
	data = append(data, `"}]`...)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	code, stdout, stderr := command(t, "", "compact", path, "--json")
	if code != exitCannotFit || !strings.Contains(stdout, `"cannot_fit"`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	t.Logf("200 MB: %v", time.Since(start))
	if err := os.WriteFile(path, data[:len(data)-2], 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "", "check", path); code != exitFailed || !strings.Contains(stderr, "huge.json:1: the JSON ends in the middle") {
		t.Errorf("exit %d: %.300s", code, stderr)
	}
}

// full is an output without space left.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return 0, errors.New("no space left on device")
	}
	f.room -= len(p)
	return len(p), nil
}

// TestFullOutput checks that a report which could not be written whole does
// not pass for one that was.
func TestFullOutput(t *testing.T) {
	dir := isolate(t)
	path := filepath.Join(dir, "input.json")
	if err := os.WriteFile(path, []byte(hello), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", path}, {"validate", path}, {"tokens", path}, {"models"}, {"version"}, {"config", "print"}, {"check", path, "--json"}} {
		var errs bytes.Buffer
		code := Run(args, strings.NewReader(""), &full{room: 1}, &errs)
		if code != exitFailed || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%v: exit %d, %q", args, code, errs.String())
		}
	}
}

// TestRecallExact checks that another program gets the original byte for byte.
func TestRecallExact(t *testing.T) {
	dir := isolate(t)
	long := strings.Repeat("word and number 17 in file.go\n", 4000) + "no line end"
	body := fmt.Sprintf(`[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]},`+
		`{"role":"tool","tool_call_id":"a","content":%q},{"role":"assistant","content":"ok"},{"role":"user","content":"more"}]`, long)
	path, planned := filepath.Join(dir, "input.json"), filepath.Join(dir, "plan.json")
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, "", "compact", path, "--window", "30000", "--stages", "limit,prune", "--plan", planned); code != exitDone {
		t.Fatal(stderr)
	}
	_, stdout, _ := command(t, "", "plan", "show", planned, "--json")
	var doc struct {
		Edits []struct {
			Handle string
			Part   int
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Edits) == 0 || doc.Edits[0].Part < 0 {
		t.Fatalf("%v\n%s", err, stdout)
	}
	if code, stdout, stderr := command(t, "", "recall", path, doc.Edits[0].Handle, "--plan", planned); code != exitDone || stdout != long {
		t.Errorf("exit %d, %d bytes where %d are behind the handle: %s", code, len(stdout), len(long), stderr)
	}
}
