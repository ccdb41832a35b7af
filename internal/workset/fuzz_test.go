package workset

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func FuzzEdits(f *testing.F) {
	f.Add("Edit", `{"file_path":"/a","old_string":"x","new_string":"y"}`)
	f.Add("apply_patch", "*** Begin Patch\n*** Update File: a\n@@ b\n c\n-d\n+e\n*** End Patch")
	f.Add("bash", `{"command":"cat > a <<'EOF'\nb\nEOF\nsed -i 's/a/b/' c; git apply <<X\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n a\n-b\n+c\nX"}`)
	f.Add("replace_in_file", `{"path":"a","diff":"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		call := chat.Call("1", name, args)
		for _, e := range Edits(&call, nil, "/w") {
			if len(e.Old)+len(e.New)+len(e.Path) > 4*len(args)+64 {
				t.Errorf("an edit of %d bytes comes from a call of %d", len(e.Old)+len(e.New), len(args))
			}
		}
	})
}
