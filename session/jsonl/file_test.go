package jsonl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/session"
)

const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/p"}` + "\n"

func line(id, parent, text string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-02T03:04:05.678Z","message":{"role":"user","content":%q,"timestamp":1760000000000}}`, id, up, text)
}

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openSession(path string, o *session.Options) (*session.Session, error) {
	log, err := OpenFile(path, nil)
	if err != nil {
		return nil, err
	}
	return session.New(context.Background(), log, o)
}

func texts(t *testing.T, s *session.Session) string {
	t.Helper()
	c, err := s.Context()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := range c.View.Len() {
		out = append(out, c.View.At(i).Text())
	}
	return strings.Join(out, ",")
}

// A file that is not a session, or cannot be read, is refused in words that help,
// and stays as it is. (A6)
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"blank", "\n\n", "the file is empty"},
		{"text", "hello\n", "not a JSON object"},
		{"other JSON", `{"type":"message"}` + "\n", "not a session header"},
		{"no id", `{"type":"session","version":3}` + "\n", "not a session header"},
		{"array", "[1]\n", "not a JSON object"},
		{"version 4", `{"kind":"header","v":4,"id":"x"}` + "\n", "version 4"},
		{"version 9", `{"type":"session","version":9,"id":"x"}` + "\n", "version 9"},
		{"binary", "\x7fELF\x00\x01", "not a JSON object"},
	} {
		path := write(t, c.text)
		_, err := OpenFile(path, nil)
		if !errors.Is(err, session.ErrNotSession) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.name, err)
		}
		if newer := strings.HasPrefix(c.name, "version"); newer != errors.Is(err, session.ErrNewer) || newer != strings.Contains(err.Error(), "use a newer winnow") {
			t.Errorf("%s: %v", c.name, err)
		}
		if now, _ := os.ReadFile(path); string(now) != c.text {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
	if _, err := OpenFile(filepath.Join(t.TempDir(), "none.jsonl"), nil); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("no file: %v", err)
	}
	if _, err := OpenFile(t.TempDir(), nil); !errors.Is(err, session.ErrNotSession) {
		t.Errorf("a folder: %v", err)
	}
}

// A tree that is broken on the path in use is refused, and can be read with
// Recover; on another branch it is only reported.
func TestDamaged(t *testing.T) {
	compaction := func(id, parent, kept string) string {
		return fmt.Sprintf(`{"type":"compaction","id":%q,"parentId":%q,"timestamp":"2026-01-02T03:04:05.678Z","summary":"S","firstKeptEntryId":%q,"tokensBefore":5}`, id, parent, kept)
	}
	for _, c := range []struct {
		name, text string
		want       string // in the error; "" opens
		recovered  string // what is seen with Recover
		problems   int
	}{
		{"sound", line("a", "", "1") + "\n" + line("b", "a", "2"), "", "1,2", 0},
		{"circle", line("a", "b", "1") + "\n" + line("b", "a", "2"), "circle", "1,2", 1},
		{"own parent", line("a", "a", "1"), "circle", "1", 1},
		{"missing parent", line("a", "", "1") + "\n" + line("b", "gone", "2"), "gone", "1,2", 1},
		{"kept not there", line("a", "", "1") + "\n" + compaction("c", "a", "gone") + "\n" + line("b", "c", "3"), "not on the path", "S,3", 0},
		{"kept on another branch", line("a", "", "1") + "\n" + line("x", "a", "other") + "\n" + compaction("c", "a", "x") + "\n" + line("b", "c", "3"), "not on the path", "S,3", 0},
		{"damage elsewhere", line("z", "gone", "0") + "\n" + line("a", "", "1"), "", "1", 1},
		{"the same id twice", line("a", "", "1") + "\n" + line("a", "", "2"), "", "1", 1},
	} {
		text := header + c.text + "\n"
		path := write(t, text)
		s, err := openSession(path, nil)
		if (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, session.ErrDamaged) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			s.Close()
		}
		s, err = openSession(path, &session.Options{Recover: true})
		if err != nil {
			t.Errorf("%s: with Recover: %v", c.name, err)
			continue
		}
		got := texts(t, s)
		if i := strings.Index(got, "<earlier-notes>\n"); i >= 0 {
			got = strings.Replace(got[i+len("<earlier-notes>\n"):], "\n</earlier-notes>", "", 1)
		}
		if got != c.recovered || len(s.Problems()) != c.problems {
			t.Errorf("%s: recovered %q, want %q; problems %v", c.name, got, c.recovered, s.Problems())
		}
		if len(s.Tree(0, 100)) != s.Len() {
			t.Errorf("%s: the listing has %d of %d entries", c.name, len(s.Tree(0, 100)), s.Len())
		}
		s.Close()
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
}

// Torn or glued lines cost only the torn records.
func TestRecovery(t *testing.T) {
	a, b, c := line("a", "", "1"), line("b", "a", "2"), line("c", "b", "3")
	for _, x := range []struct {
		name, text, want string
		notes            int
	}{
		{"no line end", a + "\n" + b, "1,2", 0},
		{"torn end", a + "\n" + b + "\n" + c[:60], "1,2", 1},
		{"torn and closed", a + "\n" + c[:60] + "\n" + b + "\n", "1,2", 1},
		{"glued", a + b + "\n" + c + "\n", "1,2,3", 1},
		{"torn and glued", a + "\n" + line("x", "a", "lost")[:70] + b + "\n" + c, "1,2,3", 1},
		{"blank lines", "\n" + a + "\n\n\r\n" + b + "\r\n", "1,2", 0},
		{"zeros", a + "\n\x00\x00\x00\x00" + b + "\n", "1,2", 0},
		{"garbage", "%%%\n" + a + "\nnull\n[]\n" + b + "\n", "1,2", 3},
		{"byte order mark", a + "\n" + b, "1,2", 0},
	} {
		head := header
		if x.name == "byte order mark" {
			head = "\xef\xbb\xbf" + header
		}
		path := write(t, head+x.text)
		s, err := openSession(path, nil)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if got := texts(t, s); got != x.want || len(s.Notes()) != x.notes {
			t.Errorf("%s: %q, want %q; notes %q", x.name, got, x.want, s.Notes())
		}
		if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "new")); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		s.Close()
		again, err := openSession(path, nil)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if got := texts(t, again); got != x.want+",new" {
			t.Errorf("%s: after an append %q", x.name, got)
		}
		again.Close()
		if now, _ := os.ReadFile(path); !strings.HasPrefix(string(now), head+x.text) {
			t.Errorf("%s: what was there was changed", x.name)
		}
	}
}

// Cut off at any byte, a file opens with all whole lines and can be continued.
func TestCutAnywhere(t *testing.T) {
	text := header
	for i := range 8 {
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf("e%d", i-1)
		}
		text += line(fmt.Sprintf("e%d", i), parent, fmt.Sprintf("message é %d {\"type\":\"message\"}", i)) + "\n"
	}
	dir := t.TempDir()
	step := 1
	if !longrun.Asked() {
		step = 13
	}
	for n := len(header); n <= len(text); n += step {
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", n))
		if err := os.WriteFile(path, []byte(text[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openSession(path, nil)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		want := strings.Count(text[:n], "\n") - 1
		if n < len(text) && text[n] == '\n' {
			want++ // the record is whole without its line end
		}
		if s.Len() != want {
			t.Fatalf("cut at %d: %d entries, want %d", n, s.Len(), want)
		}
		if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "on")); err != nil {
			t.Fatal(err)
		}
		s.Close()
		s, err = openSession(path, nil)
		if err != nil || s.Len() != want+1 {
			t.Fatalf("cut at %d: after an append %d entries, %v", n, s.Len(), err)
		}
		s.Close()
		os.Remove(path)
	}
}

// Versions 1 and 2 are continued in a copy. (A5)
func TestMigration(t *testing.T) {
	old := `{"type":"session","id":"old","timestamp":"2025-01-02T03:04:05.678Z","cwd":"/p","provider":"anthropic","x":[1,  2]}
{"type":"message","timestamp":"2025-01-02T03:04:05.678Z","message":{"role":"user","content":"one","timestamp":1},"extra":{"k" : 1.0}}
{"type":"message","timestamp":"2025-01-02T03:04:05.678Z","message":{"role":"hookMessage","customType":"h","content":"two","display":true,"timestamp":1}}
{"type":"message","timestamp":"2025-01-02T03:04:05.678Z","message":{"role":"user","content":"three","timestamp":1}}
{"type":"compaction","timestamp":"2025-01-02T03:04:05.678Z","summary":"S","firstKeptEntryIndex":3,"tokensBefore":9}
{"type":"message","timestamp":"2025-01-02T03:04:05.678Z","message":{"role":"user","content":"four","timestamp":1}}
`
	path := write(t, old)
	s, err := openSession(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(t, s); !strings.HasSuffix(got, "</earlier-notes>,three,four") || s.Len() != 5 {
		t.Errorf("read: %q", got)
	}
	ids := make([]string, s.Len())
	for i, e := range s.Page(0, 10) {
		ids[i] = e.ID
		if len(e.ID) != 8 || i > 0 && e.Parent != ids[i-1] || i == 0 && e.Parent != "" {
			t.Errorf("entry %d has id %q and parent %q", i, e.ID, e.Parent)
		}
	}
	if list, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(list) != 1 {
		t.Errorf("reading made files: %v", list)
	}
	// Two processes continue it at once: one copy comes of it.
	s2, err := openSession(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range []*session.Session{s, s2, s} {
		if _, err := x.Append(t.Context(), chat.TextMessage(chat.User, fmt.Sprintf("new %d", i))); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	s2.Close()
	if now, _ := os.ReadFile(path); string(now) != old {
		t.Error("the old file was changed")
	}
	list, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if len(list) != 2 || !strings.HasSuffix(list[1], "x.v3.jsonl") {
		t.Fatalf("files: %v", list)
	}
	copied, _ := os.ReadFile(list[1])
	for _, want := range []string{`"version":3`, `"provider":"anthropic","x":[1,  2]`, `"extra":{"k" : 1.0}`, `"role":"custom","customType":"h"`, `"firstKeptEntryId":"` + ids[2] + `"`} {
		if !strings.Contains(string(copied), want) {
			t.Errorf("the copy has no %s", want)
		}
	}
	again, err := openSession(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Len() != 8 || again.Info().Version != 3 || len(again.Problems()) > 0 || again.ID() != "old" {
		t.Errorf("the copy has %d entries, version %d, problems %v", again.Len(), again.Info().Version, again.Problems())
	}
	store, err := Open(filepath.Dir(path), nil)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := store.List(t.Context(), 0, 0); err != nil || len(list) != 1 || list[0].Version != 3 {
		t.Errorf("listed: %+v, %v", list, err)
	}
	if err := store.Delete(t.Context(), "old"); err != nil {
		t.Error(err)
	}
	if list, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(list) != 0 {
		t.Errorf("left after deleting: %v", list)
	}
}

// A copy is never written over another file.
func TestCopyInTheWay(t *testing.T) {
	path := write(t, `{"type":"session","id":"old"}`+"\n"+`{"type":"message","message":{"role":"user","content":"one"}}`+"\n")
	other := copyPath(path)
	if err := os.WriteFile(other, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := openSession(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "x")); !errors.Is(err, session.ErrExists) {
		t.Errorf("error %v", err)
	}
	if now, _ := os.ReadFile(other); string(now) != "precious" {
		t.Error("another file was overwritten")
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	store, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Create(t.Context(), store, session.Header{ID: "one", Dir: "/home/me/a project"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// As pi keeps it: in a folder for the folder that it is about.
	folder := filepath.Join(dir, "--home-me-a project--")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.Info().Path, filepath.Join(folder, filepath.Base(s.Info().Path))); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("x"), 0o600)
	os.WriteFile(filepath.Join(dir, "bad.jsonl"), []byte("x"), 0o600)
	if list, err := store.List(t.Context(), 0, 0); err != nil || len(list) != 1 || list[0].ID != "one" {
		t.Errorf("listed %+v, %v", list, err)
	}
	for _, id := range []string{"", "a/b", "a\nb"} {
		if _, err := store.Create(t.Context(), session.Header{ID: id}, session.Records()); err == nil {
			t.Errorf("id %q is accepted", id)
		}
	}
	if _, err := Open(filepath.Join(dir, "notes.txt"), nil); err == nil {
		t.Error("a file is accepted for a folder")
	}
}

func FuzzLines(f *testing.F) {
	a := line("a", "", "1")
	f.Add([]byte(a + "\n" + a[:40] + a + "\n"))
	f.Add([]byte(`{"type":"compaction","id":"c","parentId":"a","firstKeptEntryId":"zz","details":{"winnow":{"plan":{}}}}`))
	f.Add([]byte(`{"type":"custom","id":"c","parentId":null,"customType":"winnow.message","data":{"entries":["a"],"message":{"role":"user","parts":[{"kind":"text"}]}}}` + "\n" + a))
	f.Add([]byte(`{"type":"context_edit","id":"d","parentId":"a","targetId":"a","replacement":null}`))
	f.Add([]byte("\x00\xff{\"type\":\"message\"\n\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, head := range []string{header, `{"type":"session","id":"s"}` + "\n"} {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			text := head + string(data)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := openSession(path, &session.Options{Recover: true})
			if err != nil {
				t.Fatalf("with Recover: %v", err)
			}
			n := s.Len()
			before, err := s.Context()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, "on")); err != nil {
				t.Fatal(err)
			}
			c, err := s.Context()
			if err != nil || c.Request.History.Len() != before.Request.History.Len()+1 {
				t.Fatalf("after an append: %v", err)
			}
			s.Close()
			if now, _ := os.ReadFile(path); !strings.HasPrefix(string(now), text) {
				t.Fatal("what was there was changed")
			}
			again, err := openSession(path, &session.Options{Recover: true})
			if err != nil {
				t.Fatal(err)
			}
			if again.Len() < n+1 {
				t.Fatalf("%d entries, want %d", again.Len(), n+1)
			}
			again.Close()
		}
	})
}

// A session of a newer version is found by its id, so that a person is told why
// it cannot be opened.
func TestNewerInStore(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "2026-01-01T00-00-00-000Z_abc.jsonl"), []byte(`{"type":"session","version":9,"id":"abc"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), "abc"); !errors.Is(err, session.ErrNewer) {
		t.Errorf("%v", err)
	}
}
