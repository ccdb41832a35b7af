package evidence

import (
	"testing"
	"unicode/utf8"

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
		a.Each(func(o Op) {
			if o.Path == "" {
				t.Errorf("an operation without a path: %+v", o)
			}
			if o.To != 0 && o.From > o.To {
				t.Errorf("a range that ends before it starts: %+v", o)
			}
		})
		if a.Kind > Shell {
			t.Errorf("unknown kind %d", a.Kind)
		}
		h := Headline(&c, 80)
		if len(h) > 80 {
			t.Errorf("headline of %d bytes", len(h))
		}
		if utf8.ValidString(name) && utf8.ValidString(args) && !utf8.ValidString(h) {
			t.Errorf("headline is not valid UTF-8: %q", h)
		}
	})
}

func FuzzSkeleton(f *testing.F) {
	f.Add("Exit code 1\nerror: x\n", uint8(20))
	f.Add("package a\nfunc Foo() {}\n", uint8(3))
	f.Add(`{"a":[{"b":1},{"b":2}],"output":"\u00e9\n`, uint8(9))
	f.Add("a/b.go:1:x\na/b.go-2-y\n/very/long/path/name.go\n/very/long/path/other.go", uint8(30))
	f.Add("\nE   assert\n\x1b[3", uint8(1))
	f.Fuzz(func(t *testing.T, text string, max uint8) {
		checkSkeleton(t, result(text), int(max), thirds)
		checkSkeleton(t, result(text), int(max), utf8.RuneCountInString)
		Status(result(text))
		for _, l := range ErrorLines(text, int(max)) {
			if len(l) > errorLineMax {
				t.Errorf("an error line of %d bytes", len(l))
			}
		}
		if out, _ := Limit(text, int(max)*8, int(max)); len(out) > len(text) || max > 0 && len(out) > int(max)*8 {
			t.Errorf("Limit made %d bytes of %d", len(out), len(text))
		}
	})
}
