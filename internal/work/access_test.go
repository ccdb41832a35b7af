package work

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func access(name, args string) Access {
	call := chat.Call("1", name, args)
	return DefaultKinds().Access(&call)
}

// withOps adds the operations that the kind and the paths of an access tell already.
func withOps(a Access) Access {
	if a.Ops == nil && a.Path != "" {
		a.Ops = []FileOp{{a.Kind, a.Path, a.From, a.To}}
		for _, p := range a.Paths {
			a.Ops = append(a.Ops, FileOp{Kind: a.Kind, Path: p})
		}
	}
	return a
}

func TestAccessOfArguments(t *testing.T) {
	tests := []struct {
		name, args string
		want       Access
	}{
		{"Read", `{"file_path":"/a/b.go"}`, Access{Kind: ToolRead, Path: "/a/b.go"}},
		{"Read", `{"file_path":"/a/b.go","offset":10,"limit":20}`, Access{Kind: ToolRead, Path: "/a/b.go", From: 10, To: 29}},
		{"Read", `{"limit":5,"filePath":"a.go"}`, Access{Kind: ToolRead, Path: "a.go", From: 1, To: 5}},
		{"read", `{"path":"a.go","offset":100}`, Access{Kind: ToolRead, Path: "a.go", From: 100}},
		{"read_file", `{"target_file":"a.go","start_line_one_indexed":3,"end_line_one_indexed_inclusive":9,"should_read_entire_file":false}`, Access{Kind: ToolRead, Path: "a.go", From: 3, To: 9}},
		{"read_file", `{"target_file":"a.go","start_line":3,"end_line":9,"should_read_entire_file":true}`, Access{Kind: ToolRead, Path: "a.go"}},
		{"str_replace_editor", `{"command":"view","path":"a.go","view_range":[5,-1]}`, Access{Kind: ToolRead, Path: "a.go", From: 5}},
		{"str_replace_editor", `{"command":"view","path":"a.go","view_range":[5,8]}`, Access{Kind: ToolRead, Path: "a.go", From: 5, To: 8}},
		{"str_replace_editor", `{"command":"create","path":"a.go","file_text":"package a"}`, Access{Kind: ToolWrite, Path: "a.go"}},
		{"str_replace_editor", `{"command":"str_replace","path":"a.go","old_str":"x","new_str":"y"}`, Access{Kind: ToolEdit, Path: "a.go"}},
		{"open", `{"path":"a.py","line_number":40}`, Access{Kind: ToolRead, Path: "a.py", From: 40}},
		{"Write", `{"file_path":"./x/y.md","content":"..."}`, Access{Kind: ToolWrite, Path: "x/y.md"}},
		{"edit", `{"path":"a.ts","edits":[{"oldText":"a","newText":"b"}]}`, Access{Kind: ToolEdit, Path: "a.ts"}},
		{"MultiEdit", `{"edits":[{"path":"a.ts"},{"path":"b.ts"},{"path":"a.ts"}]}`, Access{Kind: ToolEdit, Path: "a.ts", Paths: []string{"b.ts"}, Ops: []FileOp{{Kind: ToolEdit, Path: "a.ts"}, {Kind: ToolEdit, Path: "b.ts"}, {Kind: ToolEdit, Path: "a.ts"}}}},
		{"read_many_files", `{"paths":["a","b"]}`, Access{Kind: ToolRead, Path: "a", Paths: []string{"b"}}},
		{"delete_file", `{"path":"a"}`, Access{Kind: ToolDelete, Path: "a"}},
		{"Grep", `{"pattern":"func","path":"src","glob":"*.go"}`, Access{Kind: ToolSearch, Path: "src", Query: "func", Only: "*.go"}},
		{"multi_grep", `{"patterns":["a","b"]}`, Access{Kind: ToolSearch, Query: "a|b"}},
		{"WebFetch", `{"url":"https://example.org/a"}`, Access{Kind: ToolRead, Query: "https://example.org/a"}},
		{"search_direct_flight", `{"origin":"JFK","destination":"SFO","date":"2024-05-20"}`, Access{Kind: ToolSearch}},
		{"move_file", `{"source":"a.go","destination":"b.go"}`, Access{
			Kind: ToolEdit, Path: "a.go", Paths: []string{"b.go"},
			Ops: []FileOp{{Kind: ToolDelete, Path: "a.go"}, {Kind: ToolWrite, Path: "b.go"}},
		}},
		{"copy_file", `{"from":"a.go","to":"b.go"}`, Access{Kind: ToolWrite, Path: "b.go"}},
		{"apply_patch", "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch", Access{Kind: ToolEdit, Path: "a.go"}},
		{
			"apply_patch", `{"input":"*** Begin Patch\n*** Add File: n.go\n+x\n*** Delete File: o.go\n*** Update File: p.go\n*** Move to: q.go\n"}`,
			Access{
				Kind: ToolEdit, Path: "n.go", Paths: []string{"o.go", "p.go", "q.go"},
				Ops: []FileOp{{Kind: ToolWrite, Path: "n.go"}, {Kind: ToolDelete, Path: "o.go"}, {Kind: ToolDelete, Path: "p.go"}, {Kind: ToolWrite, Path: "q.go"}},
			},
		},
		{
			"apply_diff", `{"diff":"--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/y.go\n"}`,
			Access{Kind: ToolEdit, Path: "x.go", Paths: []string{"y.go"}, Ops: []FileOp{{Kind: ToolEdit, Path: "x.go"}, {Kind: ToolWrite, Path: "y.go"}}},
		},
		{"Read", `{"file_path":"a\u00e9\\b.go"`, Access{Kind: ToolRead, Path: "aé\\b.go"}}, // cut off
		{"Read", `{"file_path":"a.go","offset":"7","limit":"2"}`, Access{Kind: ToolRead, Path: "a.go", From: 7, To: 8}},
		{"Read", `{"file_path":5,"limit":null}`, Access{Kind: ToolRead}},
		{"Read", `[]`, Access{Kind: ToolRead}},
		{"Read", ``, Access{Kind: ToolRead}},
		{"think", `{"thought":"read /a/b.go"}`, Access{}},
	}
	for _, tt := range tests {
		if got := access(tt.name, tt.args); !reflect.DeepEqual(got, withOps(tt.want)) {
			t.Errorf("%s(%s)\n got %+v\nwant %+v", tt.name, tt.args, got, tt.want)
		}
	}
}

func TestAccessOfCommands(t *testing.T) {
	tests := []struct {
		command string
		want    Access
	}{
		{"cat a.go", Access{Kind: ToolRead, Path: "a.go"}},
		{"cat 'my file.txt'", Access{Kind: ToolRead, Path: "my file.txt"}},
		{"cd /w && cat a.go", Access{Kind: ToolRead, Path: "/w/a.go", Folder: "/w"}},
		{"cat a.go | head -20", Access{Kind: ToolRead, Path: "a.go", From: 1, To: 20}},
		{"nl -ba src/a.go | sed -n '10,20p'", Access{Kind: ToolRead, Path: "src/a.go", From: 10, To: 20}},
		{"sed -n '1,5p' a.go", Access{Kind: ToolRead, Path: "a.go", From: 1, To: 5}},
		{`sed -n "10,+5p" a.go`, Access{Kind: ToolRead, Path: "a.go", From: 10, To: 15}},
		{"sed -n '7p' a.go", Access{Kind: ToolRead, Path: "a.go", From: 7, To: 7}},
		{"sed -n '100,$p' a.go", Access{Kind: ToolRead, Path: "a.go", From: 100}},
		{"sed -n '1,5p;9,12p' a.go", Access{Kind: ToolRead, Path: "a.go", From: 1, To: 12, Ops: []FileOp{{ToolRead, "a.go", 1, 5}, {ToolRead, "a.go", 9, 12}}}},
		{"head -n 40 a.go", Access{Kind: ToolRead, Path: "a.go", From: 1, To: 40}},
		{"head -5 a.go", Access{Kind: ToolRead, Path: "a.go", From: 1, To: 5}},
		{"tail -n 20 a.log", Access{Kind: ToolRead, Path: "a.log", From: -20, To: -1}},
		{"tail -n +30 a.log", Access{Kind: ToolRead, Path: "a.log", From: 30}},
		{"grep -rn 'func main' src/ --include='*.go'", Access{Kind: ToolSearch, Path: "src", Query: "func main", Only: "*.go"}},
		{"cat a.go | grep TODO", Access{Kind: ToolSearch, Path: "a.go", Query: "TODO"}},
		{"rg -n '- name: foo' docs", Access{Kind: ToolSearch, Path: "docs", Query: "- name: foo", Ops: []FileOp{{ToolSearch, "docs", 0, 0}}}},
		{"rg -n foo -g'*.md' docs a.txt", Access{Kind: ToolSearch, Path: "docs", Paths: []string{"a.txt"}, Query: "foo", Ops: []FileOp{{ToolSearch, "docs", 0, 0}, {ToolSearch, "a.txt", 0, 0}}}},
		{"find . -name '*.go' -type f", Access{Kind: ToolSearch, Path: ".", Query: "*.go", Names: true}},
		{`find src lib -type f -not -path "*/node_modules/*" ! -name '*.d.ts' -path ./dist -prune -o \( -name '*.ts' -o -name '*.tsx' \)`, Access{Kind: ToolSearch, Path: "src", Paths: []string{"lib"}, Query: "*.ts|*.tsx", Names: true}},
		{"ls -la", Access{Kind: ToolSearch, Path: "."}},
		{"rm -rf build/x.o", Access{Kind: ToolDelete, Path: "build/x.o"}},
		{"git rm old.go", Access{Kind: ToolDelete, Path: "old.go"}},
		{"mv a.go b.go", Access{Kind: ToolShell, Paths: []string{"a.go", "b.go"}, Ops: []FileOp{{ToolDelete, "a.go", 0, 0}, {ToolWrite, "b.go", 0, 0}}}},
		{"git -C /w mv a.go pkg/", Access{Kind: ToolShell, Paths: []string{"/w/a.go", "/w/pkg/a.go"}, Ops: []FileOp{{ToolDelete, "/w/a.go", 0, 0}, {ToolWrite, "/w/pkg/a.go", 0, 0}}}},
		{"cp a.go b.go", Access{Kind: ToolWrite, Path: "b.go"}},
		{"echo hi > out.txt", Access{Kind: ToolWrite, Path: "out.txt"}},
		{"echo hi >> out.txt", Access{Kind: ToolEdit, Path: "out.txt"}},
		{"echo hi 2>/dev/null >out.txt", Access{Kind: ToolWrite, Path: "out.txt"}},
		{"cat > new.py <<'EOF'\nimport os\nprint('rm -rf x > y')\nEOF\n", Access{Kind: ToolWrite, Path: "new.py"}},
		{"cat <<EOF | tee -a notes.md\nhello\nEOF", Access{Kind: ToolEdit, Path: "notes.md"}},
		{"sed -i 's/a/b/' a.go b.go", Access{Kind: ToolEdit, Path: "a.go", Paths: []string{"b.go"}, Ops: []FileOp{{ToolEdit, "a.go", 0, 0}, {ToolEdit, "b.go", 0, 0}}}},
		{"sed -i '' -e 's/a/b/' a.go", Access{Kind: ToolEdit, Path: "a.go"}},
		{"touch new.txt", Access{Kind: ToolWrite, Path: "new.txt"}},
		{"go test ./... 2>&1 | tail -20", Access{Kind: ToolShell}},
		{"FOO=1 timeout 5s cat a.go", Access{Kind: ToolRead, Path: "a.go"}},
		{"npm test && cat a.go", Access{Kind: ToolShell, Paths: []string{"a.go"}, Ops: []FileOp{{ToolRead, "a.go", 0, 0}}}},
		{"prettier --check a.ts && cat a.go", Access{Kind: ToolShell, Paths: []string{"a.go"}, Ops: []FileOp{{ToolRead, "a.go", 0, 0}}}},
		{"cat a.go b.go", Access{Kind: ToolShell, Paths: []string{"a.go", "b.go"}, Ops: []FileOp{{ToolRead, "a.go", 0, 0}, {ToolRead, "b.go", 0, 0}}}},
		{"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** End Patch\nEOF", Access{Kind: ToolEdit, Path: "a.go"}},
		{"git checkout -- a.go", Access{Kind: ToolShell, Paths: []string{"a.go"}, Ops: []FileOp{{ToolEdit, "a.go", 0, 0}}}},
		{"echo \"unclosed", Access{Kind: ToolShell}},
		{"cat $(ls | head -1)", Access{Kind: ToolShell}},
		{"", Access{Kind: ToolShell}},
	}
	for _, tt := range tests {
		args, err := json.Marshal(map[string]string{"command": tt.command})
		if err != nil {
			t.Fatal(err)
		}
		tt.want.Command, tt.want.Rest = tt.command, strings.TrimSpace(strings.TrimPrefix(tt.command, "cd /w && "))
		if got := access("bash", string(args)); !reflect.DeepEqual(got, withOps(tt.want)) {
			t.Errorf("%q\n got %+v\nwant %+v", tt.command, got, tt.want)
		}
	}
	words := access("shell", `{"command":["bash","-lc","cat a.go"],"workdir":"/w"}`)
	if words.Kind != ToolRead || words.Path != "/w/a.go" || words.Command != "cat a.go" {
		t.Errorf("command as words: %+v", words)
	}
	words = access("shell", `{"command":["rm","my file"]}`)
	if words.Kind != ToolDelete || words.Path != "my file" {
		t.Errorf("command as words: %+v", words)
	}
}

func TestFileOpCovers(t *testing.T) {
	op := func(from, to int) FileOp { return FileOp{ToolRead, "a", from, to} }
	tests := []struct {
		a, b FileOp
		want bool
	}{
		{op(0, 0), op(5, 9), true},
		{op(0, 0), op(-5, -1), true},
		{op(5, 9), op(0, 0), false},
		{op(1, 20), op(5, 9), true},
		{op(1, 20), op(5, 21), false},
		{op(5, 0), op(5, 21), true},
		{op(5, 0), op(4, 21), false},
		{op(5, 9), op(5, 0), false},
		{op(-20, -1), op(-10, -1), true},
		{op(-20, -1), op(1, 10), false},
		{op(1, 100), op(-10, -1), false},
		{FileOp{ToolRead, "b", 0, 0}, op(1, 2), false},
		{FileOp{}, FileOp{}, false},
	}
	for _, tt := range tests {
		if got := tt.a.Covers(tt.b); got != tt.want {
			t.Errorf("%v covers %v = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func ExampleKinds_Access() {
	call := chat.Call("1", "bash", `{"command":"cd src && sed -n '10,20p' plan.go"}`)
	a := DefaultKinds().Access(&call)
	fmt.Println(a.Kind, a.Path, a.From, a.To)
	// Output: read src/plan.go 10 20
}

// What a call that was cut off holds last is read once.
func TestCutOff(t *testing.T) {
	n := 0
	count := func(string) bool { n++; return true }
	if Elements(`[{"path":"a"},{"path":"b`, count); n != 2 {
		t.Errorf("%d elements", n)
	}
	n = 0
	if RawMembers(`{"path":"a","edits":[{"old":"b`, func(_, raw string) bool { return count(raw) }); n != 2 {
		t.Errorf("%d members", n)
	}
}
