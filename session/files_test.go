package session_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/pibase"
	"github.com/winnow-llm/winnow/session"
)

// touch says that the agent used a tool on a file.
func touch(t testing.TB, s *session.Session, tool, path string) []string {
	t.Helper()
	id := "call-" + tool + "-" + path
	return say(t, s, user(tool+" "+path), chat.CallMessage("", chat.Call(id, tool, fmt.Sprintf(`{"path":%q,"content":"package x"}`, path))), chat.ResultMessage(id, "ok"), answer("done"))
}

// Files of compactions and of branches go into the next compaction, and a
// session that goes back to pi has them all in its lists: S1.9, S1.14. The
// texts end with them: S3.5.
func TestFilesFlow(t *testing.T) {
	ctx := t.Context()
	s := create(t, &session.Options{Settings: folding()})
	touch(t, s, "read", "first.go")
	touch(t, s, "write", "second.go")
	touch(t, s, "edit", "second.go")
	touch(t, s, "read", "fourth.go")
	touch(t, s, "write", "fourth.go")
	say(t, s, chat.CallMessage("", chat.Call("gone", "bash", `{"command":"rm fifth.go"}`)), chat.ResultMessage("gone", "ok"))
	turns(t, s, 0, 12, 2500)
	fork := touch(t, s, "read", "third.go")
	touch(t, s, "write", "branch.go")
	say(t, s, chat.CallMessage("", chat.Call("left", "bash", `{"command":"rm sixth.go"}`)), chat.ResultMessage("left", "ok"))
	touch(t, s, "read", "branch_read.go")
	moved, err := s.Navigate(ctx, fork[3], session.NavigateOptions{Summarise: true})
	must(t, err)
	if text := moved.Summary.Branch.Summary; moved.Summary.Branch.FromHook ||
		!strings.HasSuffix(text, "<read-files>\nbranch_read.go\n</read-files>\n\n<modified-files>\nbranch.go\nsixth.go\n</modified-files>") {
		t.Errorf("from hook %v, the branch's summary ends with %q", moved.Summary.Branch.FromHook, text[max(0, len(text)-200):])
	}
	turns(t, s, 20, 12, 2500)
	c, err := s.Compact(ctx, "")
	must(t, err)
	made := c.Entry.Compaction
	for _, f := range []string{"first.go", "third.go", "branch_read.go"} {
		if !slices.Contains(made.Read, f) {
			t.Errorf("%s is not among the files read: %v", f, made.Read)
		}
	}
	for _, f := range []string{"second.go", "branch.go", "fourth.go"} {
		if !slices.Contains(made.Modified, f) {
			t.Errorf("%s is not among the files modified: %v", f, made.Modified)
		}
	}
	if !slices.Equal(made.Created, []string{"branch.go", "second.go"}) || !slices.Equal(made.Deleted, []string{"fifth.go", "sixth.go"}) ||
		!strings.Contains(made.Summary, "<created-files>\nbranch.go\nsecond.go\n</created-files>\n\n<deleted-files>\nfifth.go\nsixth.go\n</deleted-files>") {
		t.Errorf("created %v, deleted %v", made.Created, made.Deleted)
	}
	footer := "\n\n<read-files>\n" + strings.Join(made.Read, "\n") + "\n</read-files>\n\n<modified-files>\n" + strings.Join(made.Modified, "\n") + "\n</modified-files>"
	if !strings.HasSuffix(made.Summary, footer) {
		t.Errorf("the summary ends with %q", made.Summary[max(0, len(made.Summary)-300):])
	}

	// Back in pi, and the next compaction is pi's.
	turns(t, s, 40, 12, 2500)
	data, err := os.ReadFile(s.Info().Path)
	must(t, err)
	f, err := pibase.Read(data)
	must(t, err)
	p, why := pibase.Prepare(pibase.Path(f.Entries, s.Leaf()), 2000)
	if p == nil {
		t.Fatal(why)
	}
	read, modified := p.Files.Lists()
	for _, f := range made.Read {
		if !slices.Contains(read, f) {
			t.Errorf("pi has lost %s: %v", f, read)
		}
	}
	for _, f := range made.Modified {
		if !slices.Contains(modified, f) {
			t.Errorf("pi has lost %s: %v", f, modified)
		}
	}
}

// The files of a compaction that pi made before us stay, also those that no
// message names; those of an extension are its own affair.
func TestFilesOfPi(t *testing.T) {
	for _, hook := range []bool{false, true} {
		s := create(t, &session.Options{Settings: folding()})
		ids := turns(t, s, 0, 12, 2500)
		path := s.Info().Path
		s.Close()
		line := fmt.Sprintf(`{"type":"compaction","id":"feedbeef","parentId":%q,"timestamp":"2026-01-01T00:00:00.000Z","summary":"so far","firstKeptEntryId":%q,"tokensBefore":9000,"details":{"readFiles":["r.go"],"modifiedFiles":["m.go"]},"fromHook":%v}`+"\n",
			ids[len(ids)-1], ids[len(ids)-2], hook)
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		_, err = file.WriteString(line)
		must(t, err)
		must(t, file.Close())
		log, err := openFile(path)
		must(t, err)
		set := folding()
		set.Window = 32000
		s, err = session.New(t.Context(), log, &session.Options{Settings: set})
		must(t, err)
		turns(t, s, 20, 12, 2500)
		c, err := s.Compact(t.Context(), "")
		must(t, err)
		made := c.Entry.Compaction
		if got := slices.Contains(made.Read, "r.go") && slices.Contains(made.Modified, "m.go"); got == hook {
			t.Errorf("from hook %v: read %v, modified %v", hook, made.Read, made.Modified)
		}
		s.Close()
	}
}
