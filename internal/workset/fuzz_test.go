package workset

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

func FuzzEdits(f *testing.F) {
	f.Add("Edit", `{"file_path":"/a","old_string":"x","new_string":"y"}`)
	f.Add("apply_patch", "*** Begin Patch\n*** Update File: a\n@@ b\n c\n-d\n+e\n*** End Patch")
	f.Add("bash", `{"command":"cat > a <<'EOF'\nb\nEOF\nsed -i 's/a/b/' c; git apply <<X\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n a\n-b\n+c\nX"}`)
	f.Add("replace_in_file", `{"path":"a","diff":"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		call := chat.Call("1", name, args)
		for _, e := range work.Edits(&call, nil, "/w") {
			if len(e.Old)+len(e.New)+len(e.Path) > 4*len(args)+64 {
				t.Errorf("an edit of %d bytes comes from a call of %d", len(e.Old)+len(e.New), len(args))
			}
		}
	})
}

// Whatever a tool answers, what the set takes from it stood in the answer.
func FuzzResults(f *testing.F) {
	f.Add("Read", `{"file_path":"/a"}`, "     1→x\n     2→y", "y")
	f.Add("read", `{"path":"/a","offset":2}`, "x\ny\n\n[3 more lines in file. Use offset=4 to continue.]", "x\ny")
	f.Add("bash", `{"command":"sed -n '1,2p' /a && echo --- && cat -n /b | head -3"}`, "Exit code: 0\nOutput:\nx\ny\n---\n     1\tz\n", "z")
	f.Add("Grep", `{"path":"/a","output_mode":"content","-n":true}`, "3:x\n5:y", "x")
	f.Add("str_replace_editor", `{"command":"view","path":"/a"}`, "Here's the result of running `cat -n` on /a:\n     1\tx\n", "x")
	f.Fuzz(func(t *testing.T, name, args, result, old string) {
		call, edit := chat.Call("1", name, args), chat.Call("2", "Edit", object("file_path", "/a", "old_string", old, "new_string", "new\ntext"))
		h := chat.NewHistory(
			chat.CallMessage("", call), chat.ResultMessage("1", result),
			chat.CallMessage("", edit), chat.ResultMessage("2", "The file /a has been updated successfully."),
		)
		s := New(nil)
		for i := range h.Len() {
			s.Add(h, i)
			for _, file := range s.Files() {
				for k, r := range file.Regions {
					if len(r.Lines) == 0 || k > 0 && file.Regions[k-1].end() >= r.From {
						t.Fatalf("%s: regions %+v", file.Path, file.Regions)
					}
					for _, l := range r.Lines {
						if !l.Edited && !strings.Contains(result, l.Text) {
							t.Fatalf("%s: %q was not shown", file.Path, l.Text)
						}
					}
				}
			}
		}
	})
}

// Whatever a session runs, patches and names, with and without a folder that is
// known, in the spellings of both systems and deep inside itself, it can be read.
func FuzzSession(f *testing.F) {
	f.Add(`cp /repo/a.yaml "$SP/"`, "*** Begin Patch\n*** Update File: a.yaml\n@@\n-x\n+y\n*** End Patch", "/repo/a.yaml", `{"edits":[{"old_text":"x"}]}`, uint8(1))
	f.Add(`move C:\repo\a.yaml D:`, "--- a/a.yaml\n+++ b/a.yaml\n@@ -1 +1 @@\n-x\n+y\n", `C:\repo\a.yaml`, `{"files":[`, uint8(2))
	f.Add("bash <<X\n", "@@", "", `{"edits":"[`, uint8(200))
	f.Add(`"$(`, "*** Move to: ", "/c/repo/a.yaml", "[", uint8(255))
	f.Fuzz(func(t *testing.T, command, patch, path, args string, shape uint8) {
		var k talk
		if base := [...]string{"", "/repo", `C:\repo`, "/c/repo"}[shape%4]; base != "" {
			k.msgs = append(k.msgs, chat.TextMessage(chat.User, "<cwd>"+base+"</cwd>"))
		}
		deep := int(shape) / 4
		k.call("Read", object("file_path", path), "     1→x\n     2→y")
		k.call("Bash", object("command", command+strings.Repeat(command, deep)), "x")
		k.call("apply_patch", patch, "Done")
		k.call("Edit", strings.Repeat(args, deep), "ok")
		k.call("Edit", object("file_path", path, "old_string", "x", "new_string", command), "ok")
		k.call("shell", object("cmd", command+" "+path+" <<'X'\n"+patch+"\nX", "workdir", path), "x")
		k.call(command, args, patch)
		set := k.set()
		for _, file := range set.Files() {
			if set.File(file.Path) == nil {
				t.Errorf("%q is listed and cannot be found", file.Path)
			}
		}
	})
}
