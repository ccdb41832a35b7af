//go:build unix

package app

import (
	"os"
	"testing"
)

// What is exported from a store, or from a file that nobody else can read, can be
// read by its owner alone, whatever the umask says.
func TestExportsArePrivate(t *testing.T) {
	run := at(t)
	body, _ := exchanges(3, 200)
	put1(t, "chat.json", body)
	run("session", "import", "chat.json", "--store", "s.db")
	run("session", "import", "chat.json", "--store", "folder/")
	list := run("session", "ls", "--store", "s.db")
	id := list["sessions"].([]any)[0].(map[string]any)["id"].(string)
	run("session", "export", id, "--store", "s.db", "--to", "openai", "--out", "of-store.json")
	run("session", "export", "chat.json", "--to", "anthropic", "--out", "of-file.json")
	list = run("session", "ls", "--store", "folder/")
	id = list["sessions"].([]any)[0].(map[string]any)["id"].(string)
	run("session", "export", id, "--store", "folder/", "--to", "pi", "--out", "of-folder.jsonl")
	for _, name := range []string{"of-store.json", "of-file.json", "of-folder.jsonl"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %o", name, info.Mode().Perm())
		}
	}
	// What everybody may read they may read in another form too.
	if err := os.Chmod("chat.json", 0o644); err != nil {
		t.Fatal(err)
	}
	// A file that is written anew keeps its mode.
	put1(t, "kept.json", "{}")
	if err := os.Chmod("kept.json", 0o640); err != nil {
		t.Fatal(err)
	}
	run("session", "export", "chat.json", "--to", "openai", "--out", "kept.json", "--force")
	if info, err := os.Stat("kept.json"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("kept.json: %v, %v", info.Mode(), err)
	}
	run("session", "export", "chat.json", "--to", "openai", "--out", "open.json")
	if info, err := os.Stat("open.json"); err != nil || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
