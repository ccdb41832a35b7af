package work

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func FuzzRead(f *testing.F) {
	for _, args := range []string{
		`{"file_path":"a.go","offset":1,"limit":2}`, `{"command":"cat a.go | sed -n '1,2p' > b"}`, `{"command":["bash","-lc","rm x"]}`,
		`{"cmd":"echo $(cat <<'EOF'; ls\nEOF\n) > x"}`, "*** Begin Patch\n*** Update File: a\n@@ -1 +1 @@\n-a\n+b", `{"path":"a`, `{"a":{"b":[1,{"c":"\u00`, "", "[", `{"command":"echo \"$(`,
		`{"edits":[{"path":"a","start_line":1}]}`, `{"view_range":[1,2,3],"path":"\ud83d\ude00"}`, `{"command":"bash -c 'sed -i s/a/b/ c; git -C x checkout -- a'; mv a b/; find . -exec sed -i {} +"}`,
	} {
		for tool := range 7 {
			f.Add("edit", args, uint8(tool))
		}
	}
	f.Fuzz(func(t *testing.T, name, args string, tool uint8) {
		call := chat.Call("1", name, args)
		c := Read(&call, Tool(tool%7), Context{Dir: "/w"})
		for _, o := range c.Ops {
			if len(o.Old)+len(o.New)+len(o.Path) > 4*len(args)+64 {
				t.Errorf("an operation of %d bytes comes from a call of %d", len(o.Old)+len(o.New)+len(o.Path), len(args))
			}
			if o.Kind == Show && o.To != 0 && o.From > o.To {
				t.Errorf("a range that ends before it starts: %+v", o)
			}
		}
		for _, s := range c.Streams {
			if s.Path != "" && !s.Found && (s.From < 1 || s.Count < ToEnd) {
				t.Errorf("%+v", s)
			}
		}
	})
}
