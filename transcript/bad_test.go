package transcript

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/cputime"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
)

// Bad input gives one line that names file, line, problem and remedy.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "f.json: the file is empty; "},
		{"blank", " \n\t\n", "f.json: the file is empty; "},
		{"png", "\x89PNG\r\n\x1a\n\x00\x00", "f.json: this is a PNG image, not a session; "},
		{"elf", "\x7fELF\x02\x01\x01", "f.json: this is a program (ELF), not a session; "},
		{"html", "<!doctype html>\n<html></html>", "f.json: this is HTML or XML, not a session; "},
		{"utf-16", "\xff\xfe[\x00]\x00", "f.json: this is UTF-16 text, not a session; "},
		{"markdown", "# Notes\n", "f.json: this is Markdown or YAML text, not a session; "},
		{"prose", "hello there", "f.json:1: this is not valid JSON ("},
		{"cut off", "{\n\"messages\": [\n{\"role\": \"user\", \"content\": \"hi", "f.json:3: the JSON ends in the middle; "},
		{"other json", `{"name":"ferry","version":2}`, "f.json:1: no known session format: an object with the members name, version; "},
		{"empty object", `{}`, "f.json:1: no known session format: an empty object; "},
		{"empty array", `[]`, "f.json:1: no known session format: an empty array; "},
		{"numbers", `[1,2]`, "f.json:1: no known session format: an array of something other than messages; "},
		{"string", `"hello"`, "f.json:1: no known session format: a string; "},
		{"wrong type", "[\n{\"role\":\"user\",\"content\":\"a\"},\n{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":5}]}]", "f.json:3: /content/0/text: a number where a string is expected; "},
		{"wrong role", "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"cat\",\"content\":\"b\"}]", "f.json:1: /role: unknown role cat; "},
		{"messages of wrong type", `{"messages":"hi","model":"m"}`, "f.json:1: no known session format: "},
		{"no messages", `{"messages":[],"model":"m"}`, "f.json:1: no known session format: "},
		{"nul bytes only", "\x00\x00\x00\x00", "f.json:1: this is not valid JSON ("},
		{"damaged gzip", "\x1f\x8b\x08\x00", "f.json: it starts like a gzip file but is not one; "},
		{"header only", `{"type":"session","version":3,"id":"a","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`, "f.json: it has no message that can be read as pi; "},
		{"deep", strings.Repeat("[", 100_000), "f.json:1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions, err := Read([]byte(c.in), &Options{Name: "f.json"})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%d sessions, error %v", len(sessions), err)
			}
			if !strings.HasPrefix(e.Error(), c.want) {
				t.Errorf("\n got %s\nwant %s…", e, c.want)
			}
			if strings.ContainsAny(e.Error(), "\n\r") || e.Hint == "" {
				t.Errorf("not one line with a hint: %q", e)
			}
		})
	}
	if _, err := Read([]byte("[]"), &Options{Format: "ferry"}); err == nil || !strings.Contains(err.Error(), `there is no format "ferry"; known formats: openai, `) {
		t.Errorf("error %v", err)
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "none.json"): "there is no such file; check the path",
		dir:                             "this is a folder; name one of the files in it",
	} {
		_, err := ReadFile(path, nil)
		if err == nil || err.Error() != path+": "+want {
			t.Errorf("%v", err)
		}
	}
	big := filepath.Join(dir, "big.json")
	if err := os.WriteFile(big, bytes.Repeat([]byte("x"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(big, &Options{MaxBytes: 99}); err == nil || !strings.Contains(err.Error(), "more than 99 bytes; ") {
		t.Errorf("%v", err)
	}
	if _, err := Read(pack(t, bytes.Repeat([]byte(" "), 1<<20)), &Options{MaxBytes: 1 << 19}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v", err)
	}
}

func pack(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// line is a pi entry of version 3.
func line(id, parent, role, text string) string {
	p := `"` + parent + `"`
	if parent == "" {
		p = "null"
	}
	return fmt.Sprintf(`{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-01-01T00:00:00Z","message":{"role":"%s","content":%q}}`, id, p, role, text)
}

const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`

// What can be read of a damaged log is read, with a warning for the rest.
func TestRecovery(t *testing.T) {
	a, b, c := line("a", "", "user", "one"), line("b", "a", "user", "two"), line("c", "b", "user", "three")
	join := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	for _, x := range []struct {
		name, in string
		want     string // the texts
		warn     string // "" means no warning
	}{
		{"healthy", join(header, a, b, c), "one two three", ""},
		{"crlf and bom", "\xef\xbb\xbf" + strings.ReplaceAll(join(header, a, b, c), "\n", "\r\n"), "one two three", ""},
		{"empty lines", join(header, "", a, "", b, c), "one two three", ""},
		{"glued", join(header, a+b, c), "one two three", ""},
		{"torn last line", join(header, a, b) + c[:40], "one two", "line 4: the last record ends in the middle: left out"},
		{"broken line", join(header, a, `{"type":"mess`, line("c", "a", "user", "three")), "one three", "line 3: not valid JSON: left out"},
		{"torn and glued", join(header, a, c[:30]+line("c", "a", "user", "three")), "one three", "line 3: not valid JSON: left out"},
		{"nul hole", join(header, a, strings.Repeat("\x00", 50)+b, c), "one two three", ""},
		{"nul line", join(header, a, strings.Repeat("\x00", 50), b, c), "one two three", ""},
		{"missing parent", join(header, a, c), "one three", "line 3: the parent b is not in the file: the previous entry is used instead"},
		{"cycle", join(header, line("a", "c", "user", "one"), b, c), "one two three", "line 4: the chain of parents is a cycle: earlier entries are left out"},
		{"own parent", join(header, line("a", "a", "user", "one")), "one", "line 2: the chain of parents is a cycle: earlier entries are left out"},
		{"wrong content", join(header, a, strings.Replace(b, `"two"`, `[{"type":"text","text":7}]`, 1), c), "one three", "line 3: "},
		{"wrong role", join(header, a, line("b", "a", "walrus", "two"), c), "one three", `line 3: unknown role "walrus": left out`},
		{"message of wrong type", join(header, a, `{"type":"message","id":"b","parentId":"a","message":5}`, c), "one three", `line 3: unknown role "": left out`},
		{"invalid utf-8", join(header, a, strings.Replace(b, "two", "t\xffwo", 1), c), "one t\ufffdwo three", ""},
		{"nul in text", join(header, a, strings.Replace(b, "two", `t\u0000wo`, 1), c), "one t\x00wo three", ""},
		{"truncated array of lines", "[\n{\"role\":\"user\",\"content\":\"one\"},\n{\"role\":\"user\",\"content\":\"two\"},\n{\"role\":\"us", "one two", "line 1: not valid JSON: left out"},
	} {
		t.Run(x.name, func(t *testing.T) {
			sessions, err := Read([]byte(x.in), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range sessions[0].History.All() {
				got = append(got, m.Text())
			}
			if s := strings.Join(got, " "); s != x.want {
				t.Errorf("texts %q, want %q", s, x.want)
			}
			warnings := fmt.Sprint(sessions[0].Warnings)
			if x.warn == "" && len(sessions[0].Warnings) > 0 || !strings.Contains(warnings, x.warn) {
				t.Errorf("warnings %s, want %q", warnings, x.warn)
			}
		})
	}
}

func TestClaudeCycle(t *testing.T) {
	rec := func(id, parent, text string) string {
		return fmt.Sprintf(`{"parentUuid":%q,"isSidechain":false,"type":"user","sessionId":"s","message":{"role":"user","content":%q},"uuid":%q}`, parent, text, id)
	}
	sessions, err := Read([]byte(rec("a", "b", "one")+"\n"+rec("b", "a", "two")+"\n"+rec("c", "gone", "three")+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &sessions[0]
	if s.History.Len() != 3 || len(s.Warnings) != 2 {
		t.Errorf("%d messages, warnings %v", s.History.Len(), s.Warnings)
	}
}

func TestGzip(t *testing.T) {
	plain := []byte(`[{"role":"user","content":"` + strings.Repeat("ferry ", 10000) + `"}]`)
	packed := pack(t, plain)
	for name, data := range map[string][]byte{"once": packed, "twice": pack(t, packed)} {
		if sessions, err := Read(data, nil); err != nil || sessions[0].History.Len() != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	lines := bytes.Repeat([]byte(`{"role":"user","content":"hi"}`+"\n"), 5000)
	for i := range lines { // noise, so that the compressed data is long enough to be cut
		if lines[i] == 'h' {
			lines[i] = 'a' + byte(i*7%26)
		}
	}
	cut := pack(t, lines)
	sessions, err := Read(cut[:len(cut)*2/3], nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := sessions[0].History.Len(); n == 0 || n >= 5000 || !strings.Contains(fmt.Sprint(sessions[0].Warnings), "damaged") {
		t.Errorf("%d messages, warnings %v", n, sessions[0].Warnings)
	}
}

// A single line of 200 MB, valid or not, ends in a result or an error, soon.
func TestHugeLine(t *testing.T) {
	longrun.Only(t, "reads 200 MB")
	const size = 200 << 20
	used := cputime.Used()
	in := append(append([]byte(`[{"role":"user","content":"`), bytes.Repeat([]byte("ferry to the island, "), size/21)...), `"}]`...)
	sessions, err := Read(in, nil)
	if err != nil || sessions[0].History.Len() != 1 {
		t.Fatalf("%v", err)
	}
	if _, err := Read(in[:len(in)-3], nil); err == nil || !strings.Contains(err.Error(), ":1: the JSON ends in the middle") {
		t.Errorf("error %v", err)
	}
	if took := cputime.Used() - used; took > time.Minute {
		t.Errorf("took %v", took)
	}
}

// Files made to cost much must not: every line opens arrays, or begins a
// record that never ends.
func TestHostileLines(t *testing.T) {
	for name, unit := range map[string]string{
		"arrays": "[[[[[[[[\n", "records": `{"type":"message","id":"` + "\n", "objects": "{\"a\":\n", "glue": `{"type":1,{"type":1,`, "slashes": `\\\\\\"`,
	} {
		used := cputime.Used()
		in := header + "\n" + line("a", "", "user", "one") + "\n" + strings.Repeat(unit, (1<<20)/len(unit))
		if _, err := Read([]byte(in), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := cputime.Used() - used; took > 5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// A log of which no record can be read costs no more than one that can: the
// line of each is found without counting from the top.
func TestManyBrokenRecords(t *testing.T) {
	var in strings.Builder
	for i := range 80_000 {
		fmt.Fprintf(&in, `{"type":"user","uuid":"u%d","parentUuid":"u%d","sessionId":"s","message":{"role":"robot","content":"%0100d"}}`+"\n", i, i-1, i)
	}
	in.WriteString(`{"type":"user","uuid":"z","parentUuid":"u79999","sessionId":"s","message":{"role":"user","content":"at last"}}`)
	used := cputime.Used()
	sessions, err := Read([]byte(in.String()), nil)
	if err != nil || sessions[0].History.Len() != 1 {
		t.Fatalf("%v", err)
	}
	if w := sessions[0].Warnings; len(w) == 0 || w[1].Line != 2 || w[len(w)-2].Line != maxWarnings {
		t.Errorf("warnings %v", w)
	}
	if took := cputime.Used() - used; took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

// A session must not depend on the bytes it was read from.
func TestInputMayBeReused(t *testing.T) {
	for _, file := range fixtures(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sessions, err := Read(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := render(sessions)
		for i := range data {
			data[i] = '!'
		}
		if diff := cmp.Diff(before, render(sessions)); diff != "" {
			t.Errorf("%s: the sessions changed with the input: %s", file, diff)
		}
	}
}

// Everything that is decoded must obey the rules that a healthy log obeys: each
// result directly after its call.
func TestFixturesPairing(t *testing.T) {
	for _, file := range fixtures(t) {
		sessions, err := ReadFile(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range sessions {
			for _, p := range chat.AllDialects().Check(sessions[i].History) {
				if p.Rule != chat.RuleUserFirst && !(p.Rule == chat.RuleUnanswered && p.At == sessions[i].History.Len()-1) {
					t.Errorf("%s: message %d: %s", file, p.At, p.Message)
				}
			}
		}
	}
}
