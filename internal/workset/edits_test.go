package workset

import (
	"slices"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

func TestEdits(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: a.go\n@@ func f() {\n \tx := 1\n-\treturn x\n+\treturn x + 1\n@@\n last\n-gone\n*** Add File: b.go\n+package b\n+\n*** Delete File: c.go\n*** End Patch"
	patched := []work.Op{
		{Path: "/w/a.go", After: "func f() {\n", Old: "\tx := 1\n\treturn x\n", New: "\tx := 1\n\treturn x + 1\n", Lines: true},
		{Path: "/w/a.go", Old: "last\ngone\n", New: "last\n", Lines: true},
		{Path: "/w/b.go", New: "package b\n\n", Whole: true},
		{Kind: work.Delete, Path: "/w/c.go"},
	}
	heredoc := func(s string) string { return `{"command":` + quoted(s) + `}` }
	for _, tc := range []struct {
		name, tool, args string
		want             []work.Op
	}{
		{"old and new string", "Edit", `{"file_path":"/w/a.go","old_string":"a\n","new_string":"b\n","replace_all":true}`, []work.Op{{Path: "/w/a.go", Old: "a\n", New: "b\n", All: true}}},
		{"removed with its newline", "Edit", `{"file_path":"/w/a.go","old_string":"a","new_string":""}`, []work.Op{{Path: "/w/a.go", Old: "a", Newline: true}}},
		{"camel case", "edit", `{"filePath":"a.go","oldString":"a","newString":""}`, []work.Op{{Path: "/w/a.go", Old: "a"}}},
		{"old and new text", "edit", `{"path":"a.go","oldText":"a","newText":"b"}`, []work.Op{{Path: "/w/a.go", Old: "a", New: "b"}}},
		{"list of edits", "MultiEdit", `{"file_path":"/w/a.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"b","new_string":"c","replace_all":true}]}`, []work.Op{{Path: "/w/a.go", Old: "a", New: "b"}, {Path: "/w/a.go", Old: "b", New: "c", All: true}}},
		{"an empty old text writes the file", "Edit", `{"file_path":"/w/a.go","old_string":"","new_string":"b"}`, []work.Op{{Path: "/w/a.go", New: "b", Whole: true}}},
		{"write", "Write", `{"file_path":"/w/a.go","content":"b\n"}`, []work.Op{{Path: "/w/a.go", New: "b\n", Whole: true}}},
		{"editor's create", "str_replace_editor", `{"command":"create","path":"/w/a.go","file_text":"b"}`, []work.Op{{Path: "/w/a.go", New: "b", Whole: true}}},
		{"editor's replacement", "str_replace_editor", `{"command":"str_replace","path":"/w/a.go","old_str":"a","new_str":"b"}`, []work.Op{{Path: "/w/a.go", Old: "a", New: "b"}}},
		{"editor's insertion", "str_replace_editor", `{"command":"insert","path":"/w/a.go","insert_line":3,"new_str":"b"}`, []work.Op{{Kind: work.Insert, Path: "/w/a.go", From: 3, New: "b\n", Lines: true}}},
		{"editor's view", "str_replace_editor", `{"command":"view","path":"/w/a.go"}`, nil},
		{"editor's undo", "str_replace_editor", `{"command":"undo_edit","path":"/w/a.go"}`, []work.Op{{Kind: work.Unclear, Path: "/w/a.go"}}},
		{"window: lines", "edit", `{"replacement_text":"b","start_line":2,"end_line":4}`, []work.Op{{From: 2, To: 4, New: "b\n", Lines: true}}},
		{"window: text", "edit", `{"search":"a","replace":"b"}`, []work.Op{{Old: "a", New: "b"}}},
		{"several replacements are announced", "replace", `{"file_path":"a.go","old_string":"a","new_string":"b","expected_replacements":2}`, []work.Op{{Path: "/w/a.go", Old: "a", New: "b", All: true}}},
		{"notebook", "NotebookEdit", `{"notebook_path":"/w/a.ipynb","cell_id":"3","new_source":"b"}`, []work.Op{{Kind: work.Unclear, Path: "/w/a.ipynb", New: "b"}}},
		{"patch as argument", "apply_patch", `{"input":` + quoted(patch) + `}`, patched},
		{"patch as text", "apply_patch", patch, patched},
		{"patch in another argument", "patch", `{"patchText":` + quoted(patch) + `}`, patched},
		{"patch in a shell", "shell", heredoc("apply_patch <<'EOF'\n" + patch + "\nEOF\n"), patched},
		{"patch as a word", "shell", `{"command":["apply_patch",` + quoted(patch) + `]}`, patched},
		{"patch below a folder", "shell", `{"command":["bash","-lc",` + quoted("cd /w && apply_patch <<'EOF'\n"+patch+"\nEOF\n") + `],"workdir":"/elsewhere"}`, patched},
		{"moved by a patch", "apply_patch", "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch", []work.Op{{Path: "/w/a", Old: "x\n", New: "y\n", Lines: true}, {Kind: work.Move, Path: "/w/a", New: "/w/b"}}},
		{"context alone says where", "apply_patch", "*** Begin Patch\n*** Update File: a\n@@\n head\n@@\n-x\n+y\n*** End Patch", []work.Op{{Path: "/w/a", Context: "head\n", Old: "x\n", New: "y\n", Lines: true}}},
		{"unified diff", "bash", heredoc("git apply <<'EOF'\n--- a/a.go\n+++ b/a.go\n@@ -3,2 +4,3 @@ func\n x\n-y\n+z\n+z\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\nEOF"), []work.Op{{Kind: work.Unclear, Path: "/w/a.go"}, {Kind: work.Unclear, Path: "/w/n", Whole: true}}},
		{"a diff that is only checked", "bash", heredoc("git apply --check <<'EOF'\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-y\n+z\nEOF"), nil},
		{"here document", "bash", heredoc("mkdir -p x && cat > x/a.go <<'EOF'\npackage $a\nEOF\ngo build"), []work.Op{{Path: "/w/x/a.go", New: "package $a\n", Whole: true}}},
		{"here document with variables", "bash", heredoc("cat > a.go <<EOF\npackage $a\nEOF"), []work.Op{{Kind: work.Unclear, Path: "/w/a.go", Whole: true}}},
		{"here document at the end", "bash", heredoc("cat <<EOF >> a.go\nplain\nEOF"), []work.Op{{Kind: work.Append, Path: "/w/a.go", New: "plain\n"}}},
		{"tee", "bash", heredoc("cd sub; tee -a a.go > /dev/null <<'EOF'\nb\nEOF"), []work.Op{{Kind: work.Unclear, Path: "/w/sub/a.go"}}},
		{"a document inside a substitution", "bash", heredoc("git commit -m \"$(cat <<'EOF'\nit's > x\nEOF\n)\" && echo done > note"), []work.Op{{Path: "/w/note", New: "done\n", Whole: true}}},
		{"output of a program", "bash", heredoc("go doc > a.txt"), []work.Op{{Kind: work.Unclear, Path: "/w/a.txt", Whole: true}}},
		{"streams", "bash", heredoc("make 2>&1 >/dev/null | tail -3"), nil},
		{"a pattern", "bash", heredoc(`sed -i 's/a.*/b/' a.go`), []work.Op{{Kind: work.Unclear, Path: "/w/a.go"}}},
		{"lines shown", "bash", heredoc(`sed -n '3,5p' a.go`), nil},
		{"removed and moved", "bash", heredoc(`rm -f a.go; mv b.go c.go; mv d.go sub/; cp e.go f.go`), []work.Op{{Kind: work.Delete, Path: "/w/a.go"}, {Kind: work.Move, Path: "/w/b.go", New: "/w/c.go"}, {Kind: work.Move, Path: "/w/d.go", New: "/w/sub/d.go"}, {Kind: work.Copy, Path: "/w/e.go", New: "/w/f.go"}}},
		{"perhaps", "bash", heredoc(`test -f a.go || rm b.go`), []work.Op{{Kind: work.Unclear, Path: "/w/b.go"}}},
		{"a folder that is not known", "bash", heredoc(`cd $HOME && echo a > b && echo a > /c`), []work.Op{{Path: "/c", New: "a\n", Whole: true}}},
		{"read", "Read", `{"file_path":"/w/a.go"}`, nil},
		{"todo", "TodoWrite", `{"todos":[{"content":"x"}]}`, nil},
		{"no object", "Edit", `oops`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call := chat.Call("1", tc.tool, tc.args)
			if got := work.Edits(&call, nil, "/w"); !slices.Equal(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}
