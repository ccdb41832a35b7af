//go:build unix

package app

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/demo"
)

// TestCheckAndTreeAgree: check and tree measure the same of one file, in the same
// window.
func TestCheckAndTreeAgree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "session.json")
	if err := os.WriteFile(path, demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "TERM=xterm-256color", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	check := exec.Command("winnow", "check", path, "--json")
	check.Env = env
	out, err := check.Output()
	if err != nil && check.ProcessState.ExitCode() != 1 { // 1: compaction is due
		t.Fatal(err)
	}
	var doc struct {
		Tokens struct{ Total int }
		Limits struct{ Available int }
	}
	if err := json.Unmarshal(out, &doc); err != nil || doc.Tokens.Total == 0 || doc.Limits.Available == 0 {
		t.Fatalf("%v: %.300s", err, out)
	}
	tree := exec.Command("winnow", "tree", path)
	tree.Env = env
	term := startTerminal(t, 140, 30, tree)
	term.WaitFor(fmt.Sprintf("%s of %s tokens", number(doc.Tokens.Total), number(doc.Limits.Available)))
	leave(t, term, "q")
}
