package tools_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/app/loop/tools"
	"github.com/winnow-llm/winnow/stage"
)

// newBox makes a folder with some files and its tools.
func newBox(t testing.TB, o tools.Options) (*tools.Box, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": "one\ntwo\nthree\n", "sub/b.go": "package b\n\nfunc Two() {}\n", "sub/deep/c.md": "# c\n",
		".git/config": "two\n", "bin.dat": "a\x00b", "empty.txt": "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o.Dir = dir
	b, err := tools.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return b, dir
}

// call looks and does.
func call(t testing.TB, b *tools.Box, name, args string) (text string, failed bool, need tools.Need) {
	t.Helper()
	a, err := b.Look(name, args)
	if err != nil {
		return err.Error(), true, ""
	}
	text, failed = b.Do(t.Context(), a)
	return text, failed, a.Need
}

func TestTools(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, dir := newBox(t, tools.Options{Recall: func(h string) (string, error) { return "the original of " + h, nil }})
	if err := os.Symlink(outside, filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside)+"/new.txt", filepath.Join(dir, "dangling.txt")); err != nil {
		t.Fatal(err)
	}
	quoted := func(s string) string {
		raw, _ := json.Marshal(s)
		return string(raw)
	}
	for _, c := range []struct {
		tool, args string
		want       string
		failed     bool
		need       tools.Need
	}{
		{"read_file", `{"path":"a.txt"}`, "one\ntwo\nthree\n", false, ""},
		{"read_file", `{"path":"./sub/../a.txt","offset":2,"limit":1}`, "two\n", false, ""},
		{"read_file", `{"path":"a.txt","offset":2}`, "two\nthree\n", false, ""},
		{"read_file", `{"path":"a.txt","offset":9}`, "there is no line 9", true, ""},
		{"read_file", `{"path":` + quoted(filepath.Join(dir, "a.txt")) + `}`, "one\ntwo", false, ""},
		{"read_file", `{"path":"none.txt"}`, "none.txt: no such file", true, ""},
		{"read_file", `{"path":"."}`, ".git/\na.txt  14 bytes\n", false, ""},
		{"read_file", `{"path":"sub"}`, "b.go  25 bytes\ndeep/\n", false, ""},
		{"read_file", `{"path":"/"}`, "outside the working folder", true, ""},
		{"edit_file", `{"path":"sub","old":"x","new":"y"}`, "is a folder", true, ""},
		{"read_file", `{"path":"bin.dat"}`, "is not text", true, ""},
		{"read_file", `{"path":"empty.txt"}`, "(nothing)", false, ""},
		{"read_file", `{"path":""}`, "path is missing", true, ""},
		{"read_file", `{"path":"a\u0000b"}`, "a\x00b: ", true, ""},
		{"read_file", `{"path":3}`, "must be a string", true, ""},
		{"read_file", `not json`, "not a JSON object", true, ""},
		{"read_file", `{"path":` + quoted(outside) + `}`, "outside the working folder", true, ""},
		{"read_file", `{"path":"../x"}`, "outside the working folder", true, ""},
		{"read_file", `{"path":"link.txt"}`, "link.txt: path escapes from parent", true, ""},
		{"write_file", `{"path":"dangling.txt","content":"x"}`, "path escapes from parent", true, tools.Write},
		{"write_file", `{"path":"new/d.txt","content":"four\n"}`, "new/d.txt written, 5 bytes", false, tools.Write},
		{"write_file", `{"path":"a.txt"}`, "content is missing", true, ""},
		{"write_file", `{"path":"sub","content":"x"}`, "sub: ", true, tools.Write},
		{"edit_file", `{"path":"sub/b.go","old":"Two","new":"Three"}`, "edited in 1 place", false, tools.Write},
		{"edit_file", `{"path":"a.txt","old":"e","new":"E"}`, "occurs 3 times", true, ""},
		{"edit_file", `{"path":"a.txt","old":"e","new":"E","all":true}`, "edited in 3 place", false, tools.Write},
		{"edit_file", `{"path":"a.txt","old":"nowhere","new":"x"}`, "is not in a.txt", true, ""},
		{"edit_file", `{"path":"a.txt","old":"","new":"x"}`, "must be a piece", true, ""},
		{"edit_file", `{"path":"link.txt","old":"guess","new":"x"}`, "path escapes from parent", true, ""},
		{"run", `{"command":"pwd; echo oops >&2; exit 3"}`, "oops\n[exit code 3]", true, tools.Run},
		{"run", `{"command":"cat"}`, "(nothing)", false, tools.Run},
		{"run", `{"command":"test -t 0 || tty < /dev/tty"}`, "", true, tools.Run},
		{"run", `{"command":" "}`, "command is missing", true, ""},
		{"recall", `{"handle":"w1"}`, "the original of w1", false, ""},
		{"recall", `{}`, "handle is missing", true, ""},
		{"dance", `{}`, "there is no tool \"dance\"; there are read_file, ", true, ""},
	} {
		text, failed, need := call(t, b, c.tool, c.args)
		if !strings.Contains(text, c.want) || failed != c.failed || need != c.need {
			t.Errorf("%s %s: %q, failed %v, needs %q; want %q, %v, %q", c.tool, c.args, text, failed, need, c.want, c.failed, c.need)
		}
	}
}

// A change is shown before it is made, and keeps the file's mode.
func TestChange(t *testing.T) {
	b, dir := newBox(t, tools.Options{})
	path := filepath.Join(dir, "a.txt")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := b.Look("edit_file", `{"path":"a.txt","old":"two","new":"zwei\nand more"}`)
	if err != nil || a.Detail != "- two\n+ zwei\n+ and more" {
		t.Errorf("%q, %v", a.Detail, err)
	}
	if data, _ := os.ReadFile(path); string(data) != "one\ntwo\nthree\n" {
		t.Errorf("looking changed it: %q", data)
	}
	before, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if text, failed := b.Do(t.Context(), a); failed {
		t.Error(text)
	}
	// It was written beside its place: who reads it at that moment reads it whole.
	if data, err := io.ReadAll(before); string(data) != "one\ntwo\nthree\n" {
		t.Errorf("a reader sees %q, %v", data, err)
	}
	if err := before.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".winnow-*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	a, err = b.Look("write_file", `{"path":"long.txt","content":`+string(mustJSON(strings.Repeat("line\n", 100)))+`}`)
	if err != nil || !strings.Contains(a.Detail, "… 77 more lines") {
		t.Errorf("%q, %v", a.Detail, err)
	}
	// What changed meanwhile is not overwritten by an edit that no longer fits.
	a, err = b.Look("edit_file", `{"path":"a.txt","old":"one","new":"eins"}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, failed := b.Do(t.Context(), a); !failed {
		t.Error(text)
	}
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// Output is limited, and a cut never falls into a character.
func TestLimit(t *testing.T) {
	b, _ := newBox(t, tools.Options{Limit: func() stage.OutputLimit { return stage.OutputLimit{Bytes: 3000} }})
	for _, c := range [][2]string{
		{"run", `{"command":"yes | head -c 5000000; echo; echo ERROR: the end"}`},
		{"run", `{"command":"head -c 100000 /dev/urandom"}`},
	} {
		text, _, _ := call(t, b, c[0], c[1])
		if len(text) > 3200 || !utf8.ValidString(text) || len(text) < 500 {
			t.Errorf("%s: %d bytes, valid %v", c[1], len(text), utf8.ValidString(text))
		}
	}
}

// A command ends with its time-out and with its context, and so do its
// children.
func TestRunEnds(t *testing.T) {
	b, dir := newBox(t, tools.Options{})
	begun := time.Now()
	text, failed, _ := call(t, b, "run", `{"command":"echo begun; (sleep 300; echo > late.txt) & sleep 300","timeout_seconds":3}`) // enough for a shell to say a word on a busy machine
	if !failed || !strings.Contains(text, "begun\n[stopped after 3s") {
		t.Errorf("%q", text)
	}
	a, err := b.Look("run", `{"command":"echo begun; sleep 300","timeout_seconds":200}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if text, failed := b.Do(ctx, a); !failed || !strings.HasSuffix(text, "[cancelled by the user]") {
		t.Errorf("%q", text)
	}
	if d := time.Since(begun); d > 3*time.Minute {
		t.Errorf("it took %v", d)
	}
	if _, err := os.Stat(filepath.Join(dir, "late.txt")); err == nil {
		t.Error("a child went on")
	}
}

// Whatever a model sends, looking neither panics nor changes anything.
func FuzzLook(f *testing.F) {
	b, dir := newBox(f, tools.Options{})
	for _, d := range b.Defs() {
		f.Add(d.Name, `{"path":"a.txt","pattern":"x","command":"true","old":"o","new":"n","content":"c"}`)
		f.Add(d.Name, `{"path":["a"],"depth":-1,"offset":1e9}`)
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		a, err := b.Look(name, args)
		if err == nil && a.Title == "" {
			t.Errorf("%s %s has no title", name, args)
		}
		if data, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(data) != "one\ntwo\nthree\n" {
			t.Fatalf("%s %s changed a file", name, args)
		}
	})
}
