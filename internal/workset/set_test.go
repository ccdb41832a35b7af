package workset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// talk is a history that is written down step by step.
type talk struct{ msgs []chat.Message }

func (k *talk) call(name, args, result string) {
	id := fmt.Sprintf("c%d", len(k.msgs))
	k.msgs = append(k.msgs, chat.CallMessage("", chat.Call(id, name, args)), chat.ResultMessage(id, result))
}

func (k *talk) set() *Set {
	s := New(nil)
	h := chat.NewHistory(k.msgs...)
	for i := range h.Len() {
		s.Add(h, i)
	}
	return s
}

// drawn shows a file as the set knows it: each run of lines with its number, and
// a question mark before lines that are doubted.
func drawn(f *File) string {
	if f == nil {
		return "unknown"
	}
	var b strings.Builder
	for _, r := range f.Regions {
		fmt.Fprintf(&b, "@%d\n", r.From)
		for _, l := range r.Lines {
			if d := f.doubtSince(l.seen); d != Certain {
				b.WriteByte('?')
			}
			b.WriteString(l.Text + "\n")
		}
	}
	for _, p := range f.Loose {
		fmt.Fprintf(&b, "~%s\n", p.Text)
	}
	if f.Deleted {
		b.WriteString("deleted\n")
	}
	if f.isComplete() {
		b.WriteString("complete\n")
	}
	return b.String()
}

// Every tool shows files in its own shape.
func TestShapesOfReads(t *testing.T) {
	const codex = "Chunk ID: 1\nWall time: 0.0 seconds\nProcess exited with code 0\nOriginal token count: 9\nOutput:\n"
	shell := func(c string) string { return object("cmd", c, "workdir", "/w") }
	for _, tc := range []struct{ name, tool, args, result, want string }{
		{"arrows", "Read", `{"file_path":"/w/a","offset":7,"limit":2}`, "     7→seven\n     8→\teight\n\n<system-reminder>\nBe careful.\n</system-reminder>\n", "@7\nseven\n\teight\n"},
		{"arrows, whole", "Read", `{"file_path":"/w/a"}`, "     1→one\n     2→two\n     3→", "@1\none\ntwo\ncomplete\n"},
		{"tabs", "Read", `{"file_path":"/w/a","offset":7,"limit":2}`, "7\tseven\n8\t\teight", "@7\nseven\n\teight\n"},
		{"counted from zero", "Read", `{"file_path":"/w/a","offset":0,"limit":2}`, "     0→one\n     1→two", "@1\none\ntwo\n"},
		{"colons", "read", `{"filePath":"/w/a"}`, "<path>/w/a</path>\n<type>file</type>\n<content>\n1: one\n2: \n3:  three\n\n(End of file - total 3 lines)\n</content>", "@1\none\n\n three\ncomplete\n"},
		{"a part in colons", "read", `{"filePath":"/w/a","offset":1,"limit":1}`, "<path>/w/a</path>\n<type>file</type>\n<content>\n1: one\n\n(Showing lines 1-1 of 9. Use offset=2 to continue.)\n</content>", "@1\none\n"},
		{"bars", "read", `{"filePath":"/w/a"}`, "<file>\n00001| one\n00002| two\n\n(End of file - total 2 lines)\n</file>", "@1\none\ntwo\ncomplete\n"},
		{"a window", "open", `{"path":"/w/a","line_number":12}`, "[File: /w/a (90 lines total)]\n(9 more lines above)\n10:ten\n11:\n12: twelve\n(78 more lines below)", "@10\nten\n\n twelve\n"},
		{"bare", "read", `{"path":"/w/a"}`, "one\ntwo\n", "@1\none\ntwo\ncomplete\n"},
		{"a bare part", "read", `{"path":"/w/a","offset":2,"limit":2}`, "two\nthree\n\n[81 more lines in file. Use offset=4 to continue.]", "@2\ntwo\nthree\n"},
		{"a bare part, another note", "read", `{"path":"/w/a","offset":2,"limit":2}`, "two\nthree\n... (620 more lines not shown)", "@2\ntwo\nthree\n"},
		{"a table is not numbered", "read", `{"path":"/w/a"}`, "id\tname\n1\tone\n2\ttwo\n", "@1\nid\tname\n1\tone\n2\ttwo\ncomplete\n"},
		{"cut by the tool", "read_file", `{"file_path":"/w/a"}`, "IMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-2 of 900 total lines.\nAction: read on.\n\n--- FILE CONTENT (truncated) ---\none\ntwo", "@1\none\ntwo\n"},
		{"an editor's view", "str_replace_editor", `{"command":"view","path":"/w/a","view_range":[3,4]}`, "Here's the result of running `cat -n` on /w/a:\n     3\tthree\n     4\tfour\n", "@3\nthree\nfour\n"},
		{"an editor's folder", "str_replace_editor", `{"command":"view","path":"/w/a"}`, "Here's the files and directories up to 2 levels deep in /w/a, excluding hidden items:\n/w/a/b", "unknown"},
		{"no file", "Read", `{"file_path":"/w/a"}`, "<tool_use_error>File does not exist.</tool_use_error>", "unknown"},
		{"an empty file", "Read", `{"file_path":"/w/a"}`, "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>", "unknown"},
		{"a long line that was cut", "Read", `{"file_path":"/w/a"}`, "     1→one\n     2→" + strings.Repeat("x", 2000) + "... [truncated]\n     3→three", "@1\none\n@3\nthree\n"},
		{"cat", "exec_command", shell("cat a"), codex + "one\ntwo\n", "@1\none\ntwo\ncomplete\n"},
		{"a range", "exec_command", shell("sed -n '2,3p' a"), codex + "two\nthree\n", "@2\ntwo\nthree\n"},
		{"a range past the end", "exec_command", shell("sed -n '2,90p' a"), codex + "two\nthree\n", "@2\ntwo\nthree\n"},
		{"numbered and cut", "exec_command", shell("nl -ba a | sed -n '2,3p'"), codex + "     2\ttwo\n     3\tthree\n", "@2\ntwo\nthree\n"},
		{"a pipe that changes lines", "exec_command", shell("cat a | tr a-z A-Z"), codex + "ONE\n", "unknown"},
		{"behind programs that print nothing", "exec_command", shell("sed -i s/x/y/ b && git add b && git commit -qm x; perl -pi -e s/a/b/ b; make > /dev/null || true; cat a"), codex + "one\n", "@1\none\ncomplete\n"},
		{"behind one that may print", "exec_command", shell("rm -v b; cat a"), codex + "removed 'b'\none\n", "unknown"},
		{"head", "exec_command", shell("head -n 2 a"), codex + "one\ntwo\n", "@1\none\ntwo\n"},
		{"two ranges by their counts", "exec_command", shell("sed -n '1,2p' a && sed -n '5,6p' a"), codex + "one\ntwo\nfive\nsix\n", "@1\none\ntwo\n@5\nfive\nsix\n"},
		{"two files, one short", "exec_command", shell("sed -n '1,3p' a && sed -n '1,2p' b"), codex + "one\ntwo\nthree\nx\n", "unknown"},
		{"the same line between several", "exec_command", shell("cat b; echo ---; cat a; echo ---; cat c"), codex + "x\n---\none\ntwo\n---\ny\n", "@1\none\ntwo\ncomplete\n"},
		{"that line in a file", "exec_command", shell("cat b; echo ---; cat a; echo ---; cat c"), codex + "x\n---\n---\none\n---\ny\n", "unknown"},
		{"a line between", "exec_command", shell("sed -n '5,9p' a; echo '--- b'; sed -n '1,9p' b"), codex + "five\nsix\n--- b\nx\n", "@5\nfive\nsix\n"},
		{"left out in the middle", "exec_command", shell("cat a"), "Chunk ID: 1\nProcess exited with code 0\nTotal output lines: 90\nOutput:\none\ntw…31 tokens truncated…ine\nninety\n", "@1\none\n"},
		{"found lines", "exec_command", shell("rg -n 'o' a"), codex + "2:two\n4:four\n", "@2\ntwo\n@4\nfour\n"},
		{"found lines with paths", "exec_command", shell("grep -rn 'o' ."), codex + "./a:2:two\n./b:4:four\n", "@2\ntwo\n"},
		{"found lines without numbers", "exec_command", shell("grep 'o' a"), codex + "two\n", "unknown"},
		{"a search tool", "Grep", `{"pattern":"o","path":"/w/a","output_mode":"content","-n":true}`, "2:two\n3-three\n4-a / b: c", "@2\ntwo\nthree\n"},
		{"found in what is shown", "exec_command", shell("cat a | grep -n -A1 'o' | head -5"), codex + "2:two\n3-x\n", "@2\ntwo\nx\n"},
		{"found in the input", "exec_command", shell("grep -n 'o' < a"), codex + "2:two\n", "@2\ntwo\n"},
		{"found in a part", "exec_command", shell("tail -n +3 a | grep -n 'o'"), codex + "2:two\n", "unknown"},
		{"colons in context", "exec_command", shell("grep -n -C2 'o' a"), codex + "7-def x():\n8-  if y:\n9:    two\n10-  else:\n--\n12-b:3:c\n", "@7\ndef x():\n  if y:\n    two\n  else:\n"},
		{"the shell's own words", "exec_command", shell("sed -n '1,2p' a"), codex + "sed: can't read a: No such file or directory\n", "unknown"},
		{"tags around the output", "bash", object("command", "cd /w && cat a"), "<returncode>0</returncode>\n<output>\none\n</output>", "@1\none\ncomplete\n"},
		{"too long an output", "bash", object("command", "cd /w && cat a"), "<returncode>0</returncode>\n<warning>\nToo long.\n</warning><output_head>\none\ntwo\nthr\n</output_head>\n<elided_chars>\n9 characters elided\n</elided_chars>\n<output_tail>\nx\n</output_tail>", "@1\none\ntwo\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var k talk
			k.call(tc.tool, tc.args, tc.result)
			if got := drawn(k.set().File("/w/a")); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// What comes after a read changes the file, or makes it doubtful.
func TestWhatChangesFiles(t *testing.T) {
	sh := func(k *talk, c, out string) { k.call("Bash", object("command", "cd /w && "+c), out) }
	for _, tc := range []struct {
		name string
		then func(k *talk)
		want string
	}{
		{"nothing", func(*talk) {}, "@1\none\ntwo\nthree\ncomplete\n"},
		{"an edit", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "two", "new_string", "2\n2.5"), "The file has been updated successfully.")
		}, "@1\none\n2\n2.5\nthree\ncomplete\n"},
		{"several lines replaced everywhere", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "one\ntwo", "new_string", "1", "replace_all", true), "The file has been updated successfully.")
		}, "@1\n?1\n?three\n"},
		{"what shares a line with one that was replaced", func(k *talk) {
			k.call("Write", object("file_path", "/w/a.go", "content", "a\naxa\na\n"), "The file was written.")
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "a\na", "new_string", "b", "replace_all", true), "The file has been updated successfully.")
		}, "@1\n?bxa\n?a\n"},
		{"an edit of more than an edit whose place is not known", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "eight", "new_string", "8"), "The file has been updated successfully.")
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "seven\n8\nnine", "new_string", "7"), "The file has been updated successfully.")
		}, "@1\n?one\n?two\n?three\n~7\n"},
		{"an edit that was refused", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "two", "new_string", "2"), "<tool_use_error>File has not been read yet.</tool_use_error>")
		}, "@1\none\ntwo\nthree\ncomplete\n"},
		{"an edit without a result", func(k *talk) {
			k.msgs = append(k.msgs, chat.CallMessage("", chat.Call("x", "Edit", object("file_path", "/w/a.go", "old_string", "two", "new_string", "2"))))
		}, "@1\none\ntwo\nthree\ncomplete\n"},
		{"an edit of an unknown text", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "four", "new_string", "4"), "The file has been updated successfully.")
		}, "@1\n?one\n?two\n?three\n~4\n"},
		{"an edit of a file that had changed", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "two", "new_string", "2"), "The file /w/a.go has been updated successfully. (note: the file had been modified on disk since you last read it)")
		}, "@1\n?one\n?2\n?three\ncomplete\n"},
		{"a person's turn", func(k *talk) { k.msgs = append(k.msgs, chat.TextMessage(chat.User, "go on")) }, "@1\n?one\n?two\n?three\ncomplete\n"},
		{"another agent", func(k *talk) { k.call("Task", `{"prompt":"fix it"}`, "Done.") }, "@1\n?one\n?two\n?three\ncomplete\n"},
		{"an agent that looks around", func(k *talk) { k.call("Task", `{"prompt":"where?","subagent_type":"Explore"}`, "There.") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"a build and a test", func(k *talk) { sh(k, "go build ./... && go test ./...", "ok") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"packages and another file", func(k *talk) { sh(k, "npm install && npx prettier --write other.ts", "") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"another branch", func(k *talk) { sh(k, "git checkout other", "Switched to branch 'other'") }, "@1\n?one\n?two\n?three\ncomplete\n"},
		{"a branch of another repository", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "two", "new_string", "2"), "The file has been updated successfully.")
			k.call("Bash", object("command", "git -C /v switch other && cd /v && git checkout . && git stash"), "Switched to branch 'other'")
		}, "@1\none\n2\nthree\ncomplete\n"},
		{"a new branch", func(k *talk) { sh(k, "git checkout -b other", "Switched to a new branch 'other'") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"perhaps copied over", func(k *talk) { sh(k, "test -f b.go || cp c.go a.go", "") }, "@1\n?one\n?two\n?three\n"},
		{"a formatter after an edit", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "two", "new_string", "2"), "The file has been updated successfully.")
			sh(k, "make fmt", "")
		}, "@1\n?one\n?2\n?three\ncomplete\n"},
		{"a formatter behind a write", func(k *talk) { sh(k, "cat > a.go <<'E'\nx\nE\ngofmt -w a.go", "") }, "@1\n?x\ncomplete\n"},
		{"a script that is written and run", func(k *talk) { sh(k, "cat > a.go <<'E'\nwrite a.go\nE\npython a.go", "") }, "@1\nwrite a.go\ncomplete\n"},
		{"a formatter without one", func(k *talk) { sh(k, "make fmt", "") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"a diff of what is not committed", func(k *talk) {
			sh(k, "git diff HEAD~1 | head -90", "diff --git a/x/n.go b/x/n.go\n--- a/x/n.go\n+++ b/x/n.go\n@@ -1 +1 @@\n-n\n+m\ndiff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@ head\n one\n-two\n+2\n three\n@@ -9,0 +10 @@\n+++ten\n\\ No newline at end of file")
		}, "@1\none\n2\nthree\n@10\n++ten\n"},
		{"diffs with something else", func(k *talk) {
			for _, what := range []string{"--cached", "main other", "HEAD~2 HEAD~1 -- a.go", "HEAD^!", "a..b.go", "| grep -n one"} {
				sh(k, "git diff "+what, "--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three")
			}
		}, "@1\none\ntwo\nthree\ncomplete\n"},
		{"a script's change that is taken back", func(k *talk) {
			sh(k, "python3 - <<'E'\nopen('a.go','w').write('x')\nE", "")
			k.call("Read", `{"file_path":"/w/a.go"}`, "     1→x\n     2→y")
			sh(k, "git checkout a.go", "Updated 1 path from the index")
		}, ""},
		{"an edit that is taken back with its folder", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "two", "new_string", "2"), "The file has been updated successfully.")
			k.call("Bash", object("command", "cd / && git restore -- w"), "")
		}, ""},
		{"nothing to take back", func(k *talk) { sh(k, "git checkout -- b.go a.go", "Updated 0 paths from the index") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"another revision", func(k *talk) { sh(k, "git checkout main -- a.go", "") }, "@1\n?one\n?two\n?three\ncomplete\n"},
		{"a plain text replaced by a program", func(k *talk) {
			sh(k, `sed -i -e 's|tw|T/[W]|g' a.go && sed -i '' 's/no such\.text/x/g' a.go && sed -i -E 's/T\/\[(.)\]/x/g' /w/b.go`, "")
		}, "@1\none\nT/[W]o\nthree\ncomplete\n"},
		{"a pattern replaced by a program", func(k *talk) { sh(k, `sed -i 's/t/T&/g' a.go`, "") }, "@1\n?one\n?two\n?three\n"},
		{"taken back and changed", func(k *talk) { sh(k, "git checkout a.go && sed -i 's/t.*/T/' a.go", "") }, "@1\n?one\n?two\n?three\n"},
		{"taken back after a pull", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "two", "new_string", "2"), "The file has been updated successfully.")
			sh(k, "git pull", "")
			sh(k, "git checkout a.go", "Updated 1 path from the index")
		}, ""},
		{"a diff that puts lines in", func(k *talk) {
			sh(k, "git diff", "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,3 @@\n one\n+eins\n two\n")
		}, "@1\none\neins\ntwo\n"},
		{"a program replaces what has no place", func(k *talk) {
			k.call("Edit", object("file_path", "/w/a.go", "old_string", "four", "new_string", "vier"), "The file has been updated successfully.")
			sh(k, "sed -i 9s/vier/4/ a.go", "")
		}, "@1\n?one\n?two\n?three\n"},
		{"texts replaced in some lines", func(k *talk) { sh(k, "sed -i '1s/o/0/; 2,3s/e/E/g' a.go", "") }, "@1\n0ne\ntwo\nthrEE\ncomplete\n"},
		{"a text replaced in lines that are not known", func(k *talk) { sh(k, "sed -i 7s/o/0/ a.go", "") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"a commit that did not begin", func(k *talk) {
			sh(k, "git add no.go && git commit -m x && git log -1", "fatal: pathspec 'no.go' did not match any files\n[The command completed with exit code 128.]")
		}, "@1\none\ntwo\nthree\ncomplete\n"},
		{"a commit whose hook failed", func(k *talk) {
			sh(k, "git commit -am x", "lint failed\n[The command completed with exit code 1.]")
		}, "@1\n?one\n?two\n?three\ncomplete\n"},
		{"a pull of other files", func(k *talk) {
			sh(k, "git pull", "Updating 1..2\nFast-forward\n b.go    | 2 +-\n x/ba.go | 1 -\n 2 files changed, 1 insertion(+), 2 deletions(-)")
		}, "@1\none\ntwo\nthree\ncomplete\n"},
		{"a pull of the file", func(k *talk) {
			sh(k, "git pull", "Updating 1..2\nFast-forward\n a.go | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)")
		}, "@1\n?one\n?two\n?three\ncomplete\n"},
		{"a pull whose list was cut", func(k *talk) {
			sh(k, "git pull", "Updating 1..2\nFast-forward\n b.go | 2 +-\n[…]\n 9 files changed, 1 insertion(+), 1 deletion(-)")
		}, "@1\n?one\n?two\n?three\ncomplete\n"},
		{"a pull of nothing", func(k *talk) { sh(k, "git pull", "Already up to date.") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"files removed by a pattern", func(k *talk) { sh(k, "rm -f b/*.ts test_*.py", "") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"a script that names the file", func(k *talk) { sh(k, "python3 - <<'E'\nopen('a.go','w').write('x')\nE", "") }, "@1\n?one\n?two\n?three\ncomplete\n"},
		{"a script that names another", func(k *talk) {
			k.call("Write", object("file_path", "/w/b.go", "content", "b\n"), "File created successfully")
			sh(k, "python3 - <<'E'\nopen('b.go','w').write('x')\nE", "")
		}, "@1\none\ntwo\nthree\ncomplete\n"},
		{"perhaps copied over one whose name ends like it", func(k *talk) { sh(k, "test -f b.go || cp a.go data.go", "") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"a pattern", func(k *talk) { sh(k, "sed -i 's/t.*/T/' a.go", "") }, "@1\n?one\n?two\n?three\n"},
		{"written before what failed", func(k *talk) {
			sh(k, "cat > a.go <<'E'\nx\nE\npython b.py", "Traceback (most recent call last):\n[The command completed with exit code 1.]")
		}, "@1\nx\ncomplete\n"},
		{"written behind what failed", func(k *talk) {
			sh(k, "python b.py && cat > a.go <<'E'\nx\nE\nls", "Traceback (most recent call last):\n[The command completed with exit code 1.]")
		}, "@1\n?one\n?two\n?three\n"},
		{"removed", func(k *talk) { sh(k, "rm a.go", "") }, "deleted\n"},
		{"moved away", func(k *talk) { sh(k, "git mv a.go b.go", "") }, "deleted\n"},
		{"moved away and back", func(k *talk) { sh(k, "mv a.go b.go && mv b.go a.go", "") }, "@1\none\ntwo\nthree\ncomplete\n"},
		{"written over by a program", func(k *talk) { sh(k, "go doc > a.go", "") }, ""},
		{"lines put at the end", func(k *talk) {
			k.call("Write", object("file_path", "/w/a.go", "content", "x\n"), "File created successfully")
			sh(k, "cat >> a.go <<'E'\ny\nE", "")
		}, "@1\nx\ny\ncomplete\n"},
		{"a read that differs", func(k *talk) { k.call("Read", `{"file_path":"/w/a.go","offset":2,"limit":1}`, "     2→zwei") }, "@2\nzwei\n"},
		{"a read that shows what stood before it", func(k *talk) {
			k.call("Read", `{"file_path":"/w/a.go","offset":2,"limit":3}`, "     2→zero\n     3→one\n     4→two")
		}, "@2\nzero\none\ntwo\n"},
		{"a read that ends before", func(k *talk) {
			k.call("Read", `{"file_path":"/w/a.go","offset":1,"limit":9}`, "     1→one\n     2→new")
		}, "@1\none\nnew\ncomplete\n"},
		{"text put in again", func(k *talk) {
			for range 2 {
				k.call("apply_patch", "*** Begin Patch\n*** Update File: /w/a.go\n@@\n \t}\n+again() {\n+\t}\n }\n*** End Patch", "Success. Updated the following files:\nM /w/a.go")
			}
		}, "@1\n?one\n?two\n?three\n~\t}\nagain() {\n\t}\n}\n\n"},
		{"a note that it was changed", func(k *talk) {
			k.msgs = append(k.msgs, chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: "<system-reminder>\nNote: /w/a.go was modified, either by the user or by a linter."}}})
		}, "@1\n?one\n?two\n?three\ncomplete\n"},
		{"a note that it was not", func(k *talk) {
			k.msgs = append(k.msgs, chat.TextMessage(chat.User, "go on"))
			k.call("Read", `{"file_path":"/w/a.go"}`, "File unchanged since last read.")
		}, "@1\n?one\n?two\n?three\ncomplete\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var k talk
			k.call("Read", `{"file_path":"/w/a.go"}`, "     1→one\n     2→two\n     3→three")
			tc.then(&k)
			if got := drawn(k.set().File("/w/a.go")); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

// A doubt is told with the last command that may have changed the file.
func TestDoubtedBy(t *testing.T) {
	for _, tc := range []struct{ first, then, want string }{
		{"git pull", "git merge x", "git merge x"},
		{"git pull", "sed -i 's/o.*/O/' /w/a.go", "sed -i 's/o.*/O/' /w/a.go"},
		{"rm $X/a.go; sed -n 1p /w/a.go", "git pull", "git pull"}, // it was shown since
	} {
		var k talk
		k.call("Read", `{"file_path":"/w/a.go"}`, "     1→one\n     2→two")
		k.call("Bash", object("command", tc.first), "one\n")
		k.call("Bash", object("command", tc.then), "")
		if got := k.set().File("/w/a.go").DoubtedBy(); got != tc.want {
			t.Errorf("%s, then %s: got %q", tc.first, tc.then, got)
		}
	}
}

// A relative path is the file in the working folder, once that is known.
func TestPathsFromTheWorkingFolder(t *testing.T) {
	var k talk
	k.msgs = append(k.msgs, chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"}}})
	k.call("shell_command", `{"command":"cat sub/a"}`, "Exit code: 0\nOutput:\none\n")
	if got := drawn(k.set().File("/w/sub/a")); got != "@1\none\ncomplete\n" {
		t.Errorf("got %q", got)
	}
	// A shell that could not go to a folder stays where it is.
	k = talk{}
	k.call("Bash", `{"command":"cd /w/src && go vet"}`, "")
	k.call("Bash", `{"command":"cd src && go vet"}`, "bash: line 1: cd: src: No such file or directory")
	k.call("Bash", `{"command":"cat sub/a"}`, "one\n")
	if got := drawn(k.set().File("/w/src/sub/a")); got != "@1\none\ncomplete\n" {
		t.Errorf("got %q", got)
	}
	// A shell that goes into the same folder again was taken back in between.
	k = talk{msgs: []chat.Message{chat.TextMessage(chat.User, `<cwd>D:\w</cwd>`)}}
	k.call("Bash", `{"command":"cd /d/w/src && go vet"}`, "")
	k.call("Bash", `{"command":"cd src && cat sub/a"}`, "one\n")
	if got := drawn(k.set().File(`D:\w\src\sub\a`)); got != "@1\none\ncomplete\n" {
		t.Errorf("got %q", got)
	}
	// The system prompt, or what a client says first, names the folder.
	for text, want := range map[string]string{
		"<env>\nWorking directory: /w\nIs a git repository: Yes": "/w", "# Environment\n - Primary working directory: D:\\a b\\w\n": `D:\a b\w`,
		"I'm currently working in the directory: /w.\nHere is": "/w", "Current working directory is `/w`": "/w", "The working directory is clean: /w": "", "current directory: ./w": "",
	} {
		s := New(nil)
		if s.FindFolder(text); s.Base() != want {
			t.Errorf("%q: %q", text, s.Base())
		}
	}
	// Not known: the same name elsewhere is another file, which an edit doubts.
	k = talk{}
	k.call("bash", `{"command":"cat sub/a"}`, "one\n")
	k.call("edit", object("path", "/w/sub/a", "oldText", "one", "newText", "two"), "Successfully replaced text in /w/sub/a.")
	if got := drawn(k.set().File("sub/a")); got != "@1\n?one\ncomplete\n" {
		t.Errorf("got %q", got)
	}
	// A file that was moved away before the folder was known is gone.
	k = talk{}
	k.call("Write", object("file_path", "/w/docs/a.md", "content", "one\n"), "File created successfully at: /w/docs/a.md")
	k.call("Bash", `{"command":"mv docs/a.md docs/b.md"}`, "")
	k.msgs = append(k.msgs, chat.TextMessage(chat.User, "<cwd>/w</cwd>"))
	if f := k.set().File("/w/docs/a.md"); f != nil && !f.Deleted {
		t.Errorf("it was moved away, and is still %q", drawn(f))
	}
}

// Files come with the most recently touched first, and say what touched them.
func TestFiles(t *testing.T) {
	var k talk
	k.call("Write", object("file_path", "/w/a", "content", "a\n"), "File created successfully")
	k.call("Write", object("file_path", "/w/b", "content", "b\n"), "File created successfully")
	k.call("Read", `{"file_path":"/w/a"}`, "     1→a")
	k.msgs = append(k.msgs, chat.TextMessage(chat.User, "go on"))
	files := k.set().Files()
	if len(files) != 2 || files[0].Path != "/w/a" || files[0].Touched != 5 || files[0].Edited != 1 || files[0].Read != 5 || files[0].Edits != 1 || !files[0].Complete {
		t.Fatalf("got %+v", files)
	}
	if l := files[1].Regions[0].Lines[0]; l.Text != "b" || l.Touched != 3 || !l.Edited || l.Doubt != Turn {
		t.Errorf("got %+v", l)
	}
	// Another agent worked, whose report names one of them.
	both := k
	both.call("Write", object("file_path", `D:\w\beat.go`, "content", "b\n"), "File created successfully")
	both.call("Task", `{"subagent_type":"general-purpose","prompt":"x"}`, "I mended src/beat.go, all of it, and nothing else.")
	if files := both.set().Files(); files[1].Regions[0].Lines[0].Doubt != SubAgent || files[0].Regions[0].Lines[0].Doubt != Reported {
		t.Errorf("got %v and %v", files[1].Regions[0].Lines[0], files[0].Regions[0].Lines[0])
	}
	// What a report says stays the reason when a command may have changed the file too, and
	// agents that only look around change nothing, in the background either.
	both.call("Bash", object("command", "git checkout other"), "")
	both.call("Read", `{"file_path":"/w/c"}`, "     1→c")
	both.call("Task", `{"subagent_type":"Explore","prompt":"x"}`, "Async agent launched.\nagentId: a7c1ee\n")
	both.msgs = append(both.msgs, chat.TextMessage(chat.User, "<task-notification>\n<task-id>a7c1ee</task-id>\n<result>c is wrong</result></task-notification>"))
	files = both.set().Files()
	if c, beat := files[0].Regions[0].Lines[0], files[1].Regions[0].Lines[0]; c.Doubt != Turn || beat.Doubt != Reported {
		t.Errorf("got %v and %v", c, beat)
	}
	// A person changed one file between his requests: perhaps others too.
	k.call("Read", `{"file_path":"/w/a"}`, "     1→other")
	if l := k.set().Files()[1].Regions[0].Lines[0]; l.Doubt != Person {
		t.Errorf("got %+v", l)
	}
}

// A session whose folder nobody names: an edit tells that a full path and a relative
// one are one file, whichever was read.
func TestFolderRecognised(t *testing.T) {
	body := "package store\n\nfunc Open(path string) (*Store, error) {\n\treturn nil, nil\n}\n"
	const full = "/srv/app/internal/store/open.go"
	for _, read := range []string{"internal/store/open.go", full} {
		var k talk
		k.call("bash", object("command", "cat "+read), body)
		if read == full {
			k.call("apply_patch", object("patchText", "*** Begin Patch\n*** Update File: internal/store/open.go\n@@\n-func Open(path string) (*Store, error) {\n+func Open(path string, mode int) (*Store, error) {\n*** End Patch"), "Success. Updated the following files:\nM internal/store/open.go")
		} else {
			k.call("edit", object("filePath", full, "oldString", "func Open(path string) (*Store, error) {", "newString", "func Open(path string, mode int) (*Store, error) {"), "Edit applied successfully.")
		}
		files := k.set().Files()
		if len(files) != 1 || files[0].Path != full || !files[0].Complete {
			t.Fatalf("got %+v", files)
		}
		if line := files[0].Regions[0].Lines[2].Text; line != "func Open(path string, mode int) (*Store, error) {" {
			t.Errorf("line 3 is %q", line)
		}
	}
}

// What is done in the folder of another project beside the session's changes nothing here.
func TestFolderBeside(t *testing.T) {
	k := talk{msgs: []chat.Message{chat.TextMessage(chat.User, "<cwd>/srv/app</cwd>")}}
	k.call("Write", object("file_path", "/srv/app/a.go", "content", "a\n"), "File created successfully")
	k.call("Bash", `{"command":"cd /srv/app-next/cmd && git pull && git commit -am x"}`, "done")
	f := k.set().File("/srv/app/a.go")
	if got := drawn(f); got != "@1\na\ncomplete\n" || !f.IsUncommitted() {
		t.Errorf("got %q, not committed: %v", got, f.IsUncommitted())
	}
	k.call("Bash", `{"command":"cd /srv/app/cmd && git commit -am x && git pull"}`, "done")
	f = k.set().File("/srv/app/a.go")
	if got := drawn(f); got != "@1\n?a\ncomplete\n" || f.IsUncommitted() {
		t.Errorf("got %q, not committed: %v", got, f.IsUncommitted())
	}
}

// A diff names files from a folder that nobody has named yet.
func TestDiffFromUnknownFolder(t *testing.T) {
	for _, others := range [][]string{nil, {`D:\\v\\src\\a.go`}} {
		var k talk
		k.call("Read", `{"file_path":"D:\\w\\src\\a.go"}`, "     1→the first line\n     2→the second line\n     3→the third line")
		for _, o := range others {
			k.call("Read", `{"file_path":"`+o+`"}`, "     1→one")
		}
		k.call("Bash", object("command", "cd src; git diff src/a.go"), "--- a/src/a.go\n+++ b/src/a.go\n@@ -1,2 +1,3 @@\n the first line\n+new\n the second line\n")
		if got, want := drawn(k.set().File(`D:\w\src\a.go`)), "@1\nthe first line\nnew\nthe second line\n"; (got == want) != (others == nil) {
			t.Errorf("with %v: got\n%s", others, got)
		}
	}
}

// rm with a pattern removes the files that it names, and no others.
func TestDeletedByPattern(t *testing.T) {
	var k talk
	k.call("write_file", `{"path":"/srv/test_a.py","content":"print(1)\n"}`, "ok")
	k.call("write_file", `{"path":"/srv/main.py","content":"print(2)\n"}`, "ok")
	k.call("bash", `{"command":"cd /srv && rm -f test_*.py"}`, "")
	for _, f := range k.set().Files() {
		if want := f.Path == "/srv/test_a.py"; f.Deleted != want {
			t.Errorf("%s: deleted is %v", f.Path, f.Deleted)
		}
	}
}

// A copy or move to a place that a variable names: where it went is not known,
// and the session goes on.
func TestUnknownTargets(t *testing.T) {
	var k talk
	k.msgs = append(k.msgs, chat.TextMessage(chat.User, "<cwd>/repo</cwd>"))
	k.call("Read", object("file_path", "/repo/a.yaml"), "     1→x: 1")
	k.call("Bash", object("command", `cp /repo/a.yaml "$SP/"`), "")
	s := k.set()
	if len(s.Files()) != 1 || drawn(s.File("a.yaml")) != "@1\nx: 1\ncomplete\n" {
		t.Errorf("after the copy: %d files, %s", len(s.Files()), drawn(s.File("a.yaml")))
	}
	k.call("Bash", object("command", `mv /repo/a.yaml "$SP/"`), "")
	if s = k.set(); len(s.Files()) != 1 || !s.File("a.yaml").Deleted || s.File("") != nil {
		t.Errorf("after the move: %d files, %s", len(s.Files()), drawn(s.File("a.yaml")))
	}
}

// What stands deep inside itself is read to some depth, and no further.
func TestDepthIsBounded(t *testing.T) {
	const deep = 1 << 20
	var k talk
	k.call("Bash", object("command", strings.Repeat(`"$(`, deep)), "")
	k.call("Bash", object("command", strings.Repeat("bash <<X\n", deep/8)), "")
	k.call("Edit", strings.Repeat(`{"edits":[`, deep/8), "")
	k.call("Read", strings.Repeat(`{"files":[`, deep/8), "")
	k.call("Read", `{"files":["a.go","b`, "") // an answer that ended by length
	k.set()
}

// What a client tells of a file that somebody else changed is how it stands.
func TestNotesShowFiles(t *testing.T) {
	for name, note := range map[string]string{
		"in a request":        "<system-reminder>\nNote: /w/a.go was modified, either by the user or by a linter. Here are the changes (shown with line numbers):\n     1→uno\n     2→dos\n...\n     9→nine\n</system-reminder>",
		"in a session's file": "/w/a.go\n1\tuno\n2\tdos\n...\n9\tnine",
	} {
		var k talk
		k.call("Read", `{"file_path":"/w/a.go"}`, "     1→one\n     2→two\n     3→three")
		k.msgs = append(k.msgs, chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: note}}})
		if got := drawn(k.set().File("/w/a.go")); !strings.HasPrefix(got, "@1\nuno\ndos\n") || !strings.Contains(got, "@9\nnine\n") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
	var k talk
	k.call("Read", `{"file_path":"/w/a.go"}`, "     1→one\n     2→two\n     3→three")
	k.msgs = append(k.msgs, chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: "/w/a.go\n1\tone\n2\ttwo"}}})
	if got, want := drawn(k.set().File("/w/a.go")), "@1\none\ntwo\n?three\n"; got != want {
		t.Errorf("what the note does not show: got\n%s", got)
	}
	for _, result := range []string{"\n     1→uno\n     2→dos", ` "     1→uno\n     2→dos"`} {
		var k talk
		k.call("Read", `{"file_path":"/w/a.go"}`, "     1→one\n     2→two\n     3→three")
		k.msgs = append(k.msgs, chat.TextMessage(chat.User, "<system-reminder>\nCalled the Read tool with the following input: {\"file_path\":\"/w/a.go\"}\n</system-reminder>"),
			chat.TextMessage(chat.User, "<system-reminder>\nResult of calling the Read tool:"+result+"\n</system-reminder>"))
		if got, want := drawn(k.set().File("/w/a.go")), "@1\nuno\ndos\ncomplete\n"; got != want {
			t.Errorf("%q: got\n%s", result, got)
		}
	}
	for _, end := range []string{"", "(End of file - total 1 lines)", "2\t\n(End of file - total 2 lines)"} {
		var k talk
		k.call("Read", `{"file_path":"/w/a.go"}`, "     1→one\n     2→two\n     3→three")
		k.msgs = append(k.msgs, chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: "/w/a.go\n1\tuno\n" + end}}})
		if got := drawn(k.set().File("/w/a.go")); got != "@1\nuno\n" {
			t.Errorf("%q: got\n%s", end, got)
		}
	}
}
