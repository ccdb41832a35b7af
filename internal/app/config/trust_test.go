//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNotOurs holds that a project's file is read only when it belongs to us or
// to the superuser, and a link to it likewise.
func TestNotOurs(t *testing.T) {
	dir, me := t.TempDir(), os.Geteuid()
	path, link := filepath.Join(dir, ProjectFile), filepath.Join(dir, "link")
	writeFile(t, path, "window: 1000\n")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		if p := openProject(name, me); !p.there || string(p.data) != "window: 1000\n" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := openProject(filepath.Join(dir, "nothing"), me); p.there || p.err != nil || p.passed != "" {
		t.Errorf("what is not there: %+v", p)
	}
	if me != 0 {
		for _, name := range []string{path, link} {
			if p := openProject(name, me+1); p.there || !strings.Contains(p.passed, "belongs to another user") {
				t.Errorf("%s of user %d is read by user %d", name, me, me+1)
			}
		}
		return
	}
	for _, name := range []string{path, link} { // a link of another user's to our file, and his file
		if err := os.Lchown(name, 12345, -1); err != nil {
			t.Fatal(err)
		}
		if p := openProject(name, me); p.there || !strings.Contains(p.passed, "belongs to another user (12345)") {
			t.Errorf("%s is read: %+v", name, p)
		}
		if p := openProject(name, 12345); !p.there {
			t.Errorf("%s is not read by its owner: %s", name, p.passed)
		}
		if err := os.Lchown(name, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDistrustBeforeFlags holds that what a person asks for stays, also where a
// project's file sets the same.
func TestDistrustBeforeFlags(t *testing.T) {
	dir := t.TempDir()
	mine, project := filepath.Join(dir, "winnow.yaml"), filepath.Join(dir, ProjectFile)
	writeFile(t, mine, "summarizer: builtin\n")
	writeFile(t, project, "summarizer: evil/m\nstore: here.db\n")
	l, err := Read(Options{Files: []string{mine, project}})
	if err != nil {
		t.Fatal(err)
	}
	if l.Summarizer != "builtin" || l.Store != "" {
		t.Errorf("the project's file sets %q, %q", l.Summarizer, l.Store)
	}
	l, err = Read(Options{Files: []string{mine, project}, Flags: func(f *File) { f.Store = "mine.db" }})
	if err != nil {
		t.Fatal(err)
	}
	if l.Store != "mine.db" {
		t.Errorf("the store is %q, not the one that was asked for", l.Store)
	}
	// Reading the file twice, with and without trust, changes nothing else.
	writeFile(t, project, "systems:\n  stages: [limit, fold, truncate]\nsummarize: false\n")
	if l, err = Read(Options{Files: []string{mine, project}}); err != nil || strings.Join(l.Stages, " ") != "limit truncate" {
		t.Errorf("the stages are %v, %v", l, err)
	}
}
