//go:build unix

package app

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
)

// treeStore is a folder with one session: a long piece of work that fills its
// window several times.
type treeStore struct {
	t         *testing.T
	dir, path string
	before    []byte
}

const treeID = "019a8c1f-7a51-7c3e-9a55-3d2b6f0c1e77"

// treeFile is the name and content of the session's file, made once.
var treeFile = sync.OnceValues(func() (string, []byte) {
	dir, err := os.MkdirTemp("", "winnow-tree-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := jsonl.Open(dir, nil)
	if err != nil {
		panic(err)
	}
	s, err := session.Import(ctx, store, session.Header{ID: treeID}, demo.Request(), nil)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	if err := s.SetName(ctx, "rate limiting"); err != nil {
		panic(err)
	}
	data, err := os.ReadFile(s.Info().Path)
	if err != nil {
		panic(err)
	}
	return filepath.Base(s.Info().Path), data
})

func newTreeStore(t *testing.T) *treeStore {
	t.Helper()
	name, data := treeFile()
	ts := &treeStore{t: t, dir: t.TempDir(), before: data}
	ts.path = filepath.Join(ts.dir, name)
	if err := os.WriteFile(ts.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return ts
}

// start runs winnow tree on the session.
func (ts *treeStore) start(cols, rows int, env ...string) *terminal {
	ts.t.Helper()
	cmd := exec.Command("winnow", "tree", "019a8c", "--store", ts.dir, "--window", "60000")
	home := ts.t.TempDir()
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=", "HOME="+home, "XDG_CONFIG_HOME="+home)
	cmd.Env = append(cmd.Env, env...)
	return startTerminal(ts.t, cols, rows, cmd)
}

// check reopens the session: it still has all that it had before, and later entries
// are whole.
func (ts *treeStore) check() *session.Session {
	t := ts.t
	t.Helper()
	after, err := os.ReadFile(ts.path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(after, ts.before) {
		t.Error("what stood in the session was changed")
	}
	log, err := jsonl.OpenFile(ts.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(context.Background(), log, &session.Options{Settings: winnow.Settings{Window: 60000}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if notes, problems := s.Notes(), s.Problems(); len(notes)+len(problems) > 0 {
		t.Errorf("the session is not whole: %v %v", notes, problems)
	}
	if _, err := s.Context(); err != nil {
		t.Error(err)
	}
	return s
}

// leave quits and checks that everything is as it should be.
func leave(t *testing.T, term *terminal, key string) {
	t.Helper()
	term.Send(key)
	if code := term.Wait(); code != 0 {
		t.Errorf("exit code %d; the screen:\n%s", code, term.Screen())
	}
	term.CheckSane()
}

// A person walks through everything that the viewer does.
func TestTreeTour(t *testing.T) {
	t.Parallel()
	ts := newTreeStore(t)
	term := ts.start(80, 24)
	term.WaitFor("Tree · 171 entries")
	term.WaitFor("c compacts") // the meter has measured
	if !term.AltScreen() {
		t.Error("the alternate screen is not up")
	}

	// Moving, and the panes.
	term.Send("g")
	term.WaitFor("1 of 170")
	term.Send(keyDown, keyDown, keyPageDown)
	term.WaitFor("22 of 170")
	term.Send("2")
	term.WaitFor("As the model sees it · 169 messages")
	term.Send(keyTab)
	term.WaitFor("As it was · 169 messages")
	term.Send("1", "G")
	term.WaitFor("170 of 170")

	// Compact with a focus; the summary and its first original.
	term.Send("c")
	term.WaitFor("Compact with focus:")
	term.Send("the rate limiter")
	term.WaitFor("the rate limiter")
	term.Send(keyEnter)
	term.WaitFor("u undoes it")
	term.WaitFor("summary of") // the fold is shown at once
	term.Send("3")
	term.WaitFor("user #0 = folded")

	// Pin.
	term.Send("p")
	term.WaitFor("* pinned")
	term.WaitFor("pinned: ")
	term.Send("p")
	term.WaitFor("the pin is removed")
	term.WaitGone("* pinned")

	// Sizes.
	term.Resize(200, 50)
	term.WaitFor("As the model sees it")
	term.WaitFor("As it was")
	term.WaitFor("Tree")
	term.Resize(40, 10)
	term.WaitGone("As the model sees it")
	term.Resize(80, 24)
	term.WaitFor("As it was · 169 messages")

	// Undo.
	term.Send("1", "G", "u")
	term.WaitFor("Undo ")
	term.Send("y")
	term.WaitFor("undone:")
	term.WaitFor("undo of")
	term.Send("2")
	term.WaitFor("As the model sees it · 169 messages")

	// To another entry, with a summary of the branch.
	term.Send("1", "/")
	term.WaitFor("Search:")
	term.Send("go ahead with the token", keyEnter)
	term.WaitFor("29 of 17")
	term.Send("m")
	term.WaitFor("Move the leaf")
	term.Send("s")
	term.WaitFor("Summary with focus:")
	term.Send("what was tried", keyEnter)
	term.WaitFor("abandoned branch is there")
	term.WaitFor("branch")
	leave(t, term, "q")

	s := ts.check()
	types := make(map[session.Type]int)
	for _, e := range s.Page(0, s.Len()) {
		types[e.Type]++
	}
	if types[session.TypeCompaction] != 2 || types[session.TypeBranchSummary] != 1 {
		t.Errorf("entries by type: %v, want 2 compactions (one of them the undo) and 1 branch summary", types)
	}
	if e := s.Compactions(); len(e) != 0 {
		t.Errorf("%d compactions on the path, want none: the leaf was moved before them", len(e))
	}
}

// A megabyte is pasted where a focus is asked for.
func TestTreePaste(t *testing.T) {
	t.Parallel()
	ts := newTreeStore(t)
	term := ts.start(80, 24)
	term.WaitFor("c compacts")
	term.Send("c")
	term.WaitFor("Compact with focus:")
	term.Paste(strings.Repeat("all of this\x1b[31m matters\n", 1<<20/24))
	term.WaitFor("cut to 2,000 characters")
	term.Send(keyCtrlU)
	term.WaitGone("cut to")
	term.Send(keyEsc)
	term.WaitFor("nothing was changed")
	leave(t, term, "q")
	ts.check()
}

// Ctrl-C leaves at every stage; the session is whole and the terminal sane.
func TestTreeCtrlC(t *testing.T) {
	t.Parallel()
	called := make(chan struct{}, 16)
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer hanging.Close()
	defer close(release)
	slow := []string{"WINNOW_SUMMARIZER=openai/gpt-5", "WINNOW_SUMMARIZER_URL=" + hanging.URL, "OPENAI_API_KEY=none"}

	for _, c := range []struct {
		name  string
		env   []string
		until func(term *terminal)
	}{
		{"start", nil, func(*terminal) {}},
		{"first screen", nil, func(term *terminal) { term.WaitFor("Tree") }},
		{"measured", nil, func(term *terminal) { term.WaitFor("c compacts") }},
		{"help", nil, func(term *terminal) { term.WaitFor("c compacts"); term.Send("?"); term.WaitFor("Moving") }},
		{"typing", nil, func(term *terminal) {
			term.WaitFor("c compacts")
			term.Send("c")
			term.WaitFor("Compact with focus:")
			term.Send("half a thou")
			term.WaitFor("half a thou")
		}},
		{"question", nil, func(term *terminal) {
			term.WaitFor("c compacts")
			term.Send("g", "m")
			term.WaitFor("Move the leaf")
		}},
		{"compacting", slow, func(term *terminal) {
			term.WaitFor("c compacts")
			term.Send("c", keyEnter)
			term.WaitFor("compacting…")
			<-called
		}},
		{"after esc", slow, func(term *terminal) {
			term.WaitFor("c compacts")
			term.Send("c", keyEnter)
			term.WaitFor("compacting…")
			<-called
			term.Send(keyEsc)
			term.WaitFor("cancelled; nothing was changed")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := newTreeStore(t)
			term := ts.start(80, 24, c.env...)
			c.until(term)
			term.Send(keyCtrlC)
			code := term.Wait()
			if code != 0 && c.name != "start" { // before the command runs, the signal ends it
				t.Errorf("exit code %d; the screen:\n%s", code, term.Screen())
			}
			term.CheckSane()
			s := ts.check()
			if n := len(s.Compactions()); n > 0 {
				t.Errorf("%d compactions were written", n)
			}
			if after, _ := os.ReadFile(ts.path); !bytes.Equal(after, ts.before) {
				t.Error("something was added to the session")
			}
		})
	}
}

// A signal ends the viewer as a key does.
func TestTreeSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ts := newTreeStore(t)
		term := ts.start(80, 24)
		term.WaitFor("c compacts")
		term.Signal(sig)
		if code := term.Wait(); code != 0 {
			t.Errorf("%v: exit code %d", sig, code)
		}
		term.CheckSane()
		ts.check()
	}
}

// Under --read-only everything can be done and nothing is kept. A session file
// is opened by its path.
func TestTreeReadOnly(t *testing.T) {
	t.Parallel()
	ts := newTreeStore(t)
	cmd := exec.Command("winnow", "tree", ts.path, "--read-only", "--window", "60000")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	term := startTerminal(t, 80, 24, cmd)
	term.WaitFor("changes are not kept")
	term.Send("c", keyEnter)
	term.WaitFor("u undoes it")
	leave(t, term, "q")
	if after, _ := os.ReadFile(ts.path); !bytes.Equal(after, ts.before) {
		t.Error("something was added to the session")
	}
}

// A session whose tree is broken can be looked at, in a copy.
func TestTreeDamaged(t *testing.T) {
	t.Parallel()
	ts := newTreeStore(t)
	lines := bytes.SplitAfter(ts.before, []byte("\n"))
	broken := bytes.Join(append(lines[:20:20], lines[21:]...), nil)
	if err := os.WriteFile(ts.path, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	term := ts.start(80, 24)
	term.WaitFor("this session is damaged")
	term.WaitFor("changes are not kept")
	leave(t, term, "q")
	if after, _ := os.ReadFile(ts.path); !bytes.Equal(after, broken) {
		t.Error("something was added to the session")
	}
}

// A conversation that is piped in is shown, with keys from the terminal.
func TestTreePiped(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", "winnow demo --out session.json 2>/dev/null && winnow tree - <session.json")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+cmd.Dir, "XDG_CONFIG_HOME="+cmd.Dir)
	term := startTerminal(t, 80, 24, cmd)
	term.WaitFor("changes are not kept")
	term.WaitFor("Tree · 171 entries")
	leave(t, term, "q")
}

// A transcript is looked at and not touched.
func TestTreeTranscript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "session.json")
	if err := os.WriteFile(path, demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("winnow", "tree", path, "--no-color")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	term := startTerminal(t, 120, 30, cmd)
	term.WaitFor("changes are not kept; winnow session import")
	term.WaitFor("As the model sees it")
	term.Send("c", keyEnter)
	term.WaitFor("u undoes it")
	for y, line := range term.Cells() {
		for x, cell := range line {
			if cell.FG != -1 && cell.FG != 0 || cell.BG != -1 && cell.BG != 7 { // reversed does not count as a colour
				t.Fatalf("cell %d,%d has a colour under --no-color: %+v", x, y, cell)
			}
		}
	}
	leave(t, term, "q")
	if now, _ := os.ReadFile(path); !bytes.Equal(now, demo.Session()) {
		t.Error("the transcript was changed")
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 1 {
		t.Errorf("files were left: %v", files)
	}
}
