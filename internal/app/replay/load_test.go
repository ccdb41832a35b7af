package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := `[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]`
	write("b/one.json", good)
	write("a/two.json", good)
	write("a/notes.md", "no session")
	write("a/two.json.plan.json", `{"winnow_plan":2}`)
	write("a/broken.json", "{")
	write("SOURCES.tsv", "x\ty")
	d, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Sessions) != 2 || d.Sessions[0].Source != "a" || d.Sessions[1].File != "b/one.json" {
		t.Errorf("sessions: %d, first of %s", len(d.Sessions), d.Sessions[0].Source)
	}
	if len(d.Skipped) != 1 || !strings.Contains(d.Skipped[0], "a/broken.json") {
		t.Errorf("skipped: %q", d.Skipped)
	}
	again, err := Load(dir)
	if err != nil || again.Fingerprint != d.Fingerprint {
		t.Errorf("fingerprint %s, then %s (%v)", d.Fingerprint, again.Fingerprint, err)
	}
	// A file that was named must be readable.
	if _, err := Load(filepath.Join(dir, "a/broken.json")); err == nil || !strings.Contains(err.Error(), "broken.json") {
		t.Errorf("a broken file: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a missing file is no error")
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("an empty folder is no error")
	}
}
