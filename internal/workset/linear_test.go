package workset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/cputime"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
)

// Results and commands that make careless readers slow. The bound is far above what
// a slow machine needs and far below what quadratic work on such a text takes.
func TestLinear(t *testing.T) {
	longrun.Only(t, "reads 50 MB")
	const size, bound = 1 << 17, 3 * time.Second
	for _, piece := range []string{
		"a", " ", "\t", "\n", "\r\n", "a\n", "}\n", "1\n", "1→a\n", "1\ta\n", "1: a\n", "12|", "→", "<", "<a>", "<system-reminder>", "</system-reminder>", "<output>\n", "</output>", "\"", "'", "`",
		"\\", "$(", "((", "{", "&&", "||", "|a", ";a", ">a ", "<<E\n", "<<'E'\nE\n", "cat a;", "cat a|", "sed -n 1p a;", "echo a&&cat a&&", "lines omitted", " tokens truncated…", "truncated", "\nShell cwd was reset to ",
		"\n[The command completed with exit code", "[Current working directory: ", "Error ", "Could not fin", "was modified, either by the user", "*** Update File: a\n@@\n-a\n+b\n", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n",
		"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "a:1:b\n", "a-1-b\n", "é", "\xff",
	} {
		text := strings.Repeat(piece, size/len(piece))
		for name, call := range map[string]chat.Part{
			"a read":       chat.Call("1", "Read", `{"file_path":"/a"}`),
			"a command":    chat.Call("1", "bash", `{"command":"sed -n '1,9p' /a && echo --- && cat -n /b"}`),
			"a search":     chat.Call("1", "Grep", `{"path":"/a","output_mode":"content","-n":true}`),
			"a view":       chat.Call("1", "str_replace_editor", `{"command":"view","path":"/a"}`),
			"its text":     chat.Call("1", "bash", object("command", text)),
			"its patch":    chat.Call("1", "apply_patch", object("input", text)),
			"its write":    chat.Call("1", "Write", object("file_path", "/a", "content", text)),
			"its old text": chat.Call("1", "Edit", object("file_path", "/a", "old_string", text, "new_string", "b")),
		} {
			if d := cputime.Of(func() { addTwice(call, text) }); d > bound {
				t.Errorf("%s of 128 kB of %q took %v", name, piece, d)
			}
		}
	}
}

// addTwice reads a call and its result, and once more after an edit of the middle.
func addTwice(call chat.Part, text string) {
	half := text[len(text)/2:]
	edit := chat.Call("2", "Edit", object("file_path", "/a", "old_string", half[:min(len(half), 4096)], "new_string", "b\nc", "replace_all", true))
	h := chat.NewHistory(
		chat.CallMessage("", call), chat.ResultMessage("1", text),
		chat.CallMessage("", edit), chat.ResultMessage("2", "The file /a has been updated successfully."),
		chat.CallMessage("", call), chat.ResultMessage("1", text),
	)
	s := New(nil)
	for i := range h.Len() {
		s.Add(h, i)
	}
	s.Files()
}

// Very many small steps on very many files cost little for each.
func TestManyStepsAreLinear(t *testing.T) {
	for name, step := range map[string]func(k *talk, i int){
		"reads of one file": func(k *talk, i int) {
			k.call("Read", object("file_path", "/w/a.go", "offset", 10*i+1, "limit", 1), fmt.Sprintf("%6d→line %d of it\n", 10*i+1, i))
		},
		"reads of many files": func(k *talk, i int) {
			k.call("Read", object("file_path", fmt.Sprintf("/w/a%d.go", i)), fmt.Sprintf("     1→line %d of it\n", i))
		},
		"edits of one file": func(k *talk, i int) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", fmt.Sprintf("line %d", i), "new_string", "other"), "The file /w/a.go has been updated successfully.")
		},
		"commands": func(k *talk, i int) {
			k.call("bash", object("command", fmt.Sprintf("cd /w && go test ./p%d && sed -n '1,3p' a%d.go", i, i)), "ok\na line of it\n")
		},
	} {
		k := &talk{}
		for i := range 10_000 {
			step(k, i)
		}
		if d := cputime.Of(func() { k.set().Files() }); d > 5*time.Second {
			t.Errorf("10,000 %s took %v", name, d)
		}
	}
}
