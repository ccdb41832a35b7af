package winnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// Whatever shell commands, patches, paths and arguments a history holds, Fit
// returns a view that fits, with all of its parts, or a typed error. Shape draws
// whether a session folder is known, how paths are spelled and how deep the texts
// stand inside themselves.
func FuzzFit(f *testing.F) {
	for shape := range uint8(8) {
		f.Add(`cp a.yaml "$SP/"`, "*** Begin Patch\n*** Update File: a.yaml\n@@\n-x: 1\n+x: 2\n*** End Patch", "a.yaml", `{"edits":[{"old_text":"x","new_text":"y"}]}`, shape)
		f.Add("bash <<X\n", "--- a/a.yaml\n+++ b/a.yaml\n@@ -1 +1 @@\n-x: 1\n+x: 2\n", "", `{"files":[`, shape)
		f.Add(`"$(`, "", `..\..\a`, `{"path":{"path":[`, shape|64)
		f.Add("sed -i s/x/y/ ./a.yaml && mv a.yaml ~/b | tee > $X", "@@", "/d/w/a.yaml", "", shape)
	}
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 8000}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, command, patch, path, args string, shape uint8) {
		deep := 1
		if shape&64 != 0 {
			deep = 200
		}
		base, file := "/w/repo", path
		if shape&1 != 0 {
			base, file = `C:\w\repo`, strings.ReplaceAll(path, "/", `\`)
		}
		if shape&2 != 0 {
			file = base + "/" + file
		}
		first := "Work."
		if shape&4 != 0 {
			first = "<cwd>" + base + "</cwd>\nWork."
		}
		c := w.Conversation(chat.Request{History: chat.NewHistory(chat.TextMessage(chat.User, first))})
		for i := range 24 {
			id := string(rune('a' + i))
			var call chat.Part
			result := strings.Repeat("     1\tx: 1\n", 40)
			switch i % 6 {
			case 0:
				call = chat.Call(id, "Read", object("file_path", file))
			case 1:
				call = chat.Call(id, "Bash", object("command", strings.Repeat(command, deep)))
			case 2:
				call = chat.Call(id, "apply_patch", patch)
			case 3:
				call = chat.Call(id, "Edit", strings.Repeat(args, deep))
			case 4:
				call = chat.Call(id, "shell", object("cmd", command+" "+file+" <<'X'\n"+patch+"\nX", "workdir", base))
			default:
				call = chat.Call(id, path, args)
				result = command
			}
			c.Append(chat.CallMessage("", call), chat.ResultMessage(id, result))
		}
		r, err := c.Fit(context.Background())
		var cannot *winnow.CannotFitError
		switch {
		case errors.As(err, &cannot):
		case err != nil:
			t.Fatal(err)
		case !r.After.Fits || len(r.LeftOut) > 0:
			t.Fatalf("fits: %v, left out: %v, %q", r.After.Fits, r.LeftOut, r.Notes)
		default:
			if rep := r.Report(); r.Plan != nil && rep.Evidence == nil {
				t.Fatalf("no evidence: %q", rep.Notes)
			}
		}
	})
}

func object(pairs ...string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	b, _ := json.Marshal(m)
	return string(b)
}
