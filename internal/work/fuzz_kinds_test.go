package work

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func FuzzAccess(f *testing.F) {
	for _, args := range []string{
		`{"file_path":"a.go","offset":1,"limit":2}`, `{"command":"cat a.go | sed -n '1,2p' > b"}`, `{"command":["bash","-lc","rm x"]}`,
		`{"cmd":"cat <<'EOF' > x\nEOF"}`, `*** Begin Patch` + "\n*** Update File: a\n", `{"path":"a`, `{"a":{"b":[1,{"c":"\u00`, "", "[", `{"command":"echo \"$(`,
		`{"edits":[{"path":"a","start_line":1}]}`, "{\"command\":\"bat \x00 0", "*** Begin Patch\n*** Update File:  \n*** Move to:  \n", `{"view_range":[1,2,3],"path":"\ud83d\ude00"}`,
	} {
		for _, name := range []string{"bash", "Read", "apply_patch", "str_replace_editor", "x"} {
			f.Add(name, args)
		}
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		c := chat.Call("1", name, args)
		a := DefaultKinds().Access(&c)
		for _, o := range a.Ops {
			if o.Path == "" {
				t.Errorf("an operation without a path: %+v", o)
			}
			if o.To != 0 && o.From > o.To {
				t.Errorf("a range that ends before it starts: %+v", o)
			}
		}
		if a.Kind > ToolShell {
			t.Errorf("unknown kind %d", a.Kind)
		}
	})
}
