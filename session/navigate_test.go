package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/pibase"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/summary"
)

// A9: what a move does, by what it goes to.
func TestNavigate(t *testing.T) {
	ctx := t.Context()
	build := func() (*session.Session, []string) {
		s := create(t, nil)
		return s, say(t, s, user("first"), answer("one"), user("second"), answer("two"), user("third"), answer("three"))
	}
	sum := session.NavigateOptions{Summarise: true}
	for _, c := range []struct {
		name   string
		target int
		o      session.NavigateOptions
		leaf   int // -1 is the root, -2 the summary
		parent int // of the summary
		text   string
	}{
		{"user, no summary", 2, session.NavigateOptions{}, 1, 0, "second"},
		{"root user, no summary", 0, session.NavigateOptions{}, -1, 0, "first"},
		{"assistant, no summary", 3, session.NavigateOptions{}, 3, 0, ""},
		{"same place", 5, sum, 5, 0, ""},
		{"root user", 0, sum, -2, -1, "first"},
		{"nested user", 2, sum, -2, 1, "second"},
		{"assistant", 1, sum, -2, 1, ""},
	} {
		s, ids := build()
		n := s.Len()
		got, err := s.Navigate(ctx, ids[c.target], c.o)
		must(t, err)
		id := func(i int) string {
			if i < 0 {
				return ""
			}
			return ids[i]
		}
		if got.Text != c.text {
			t.Errorf("%s: text %q, want %q", c.name, got.Text, c.text)
		}
		if c.leaf != -2 {
			if got.Summary != nil || s.Len() != n || s.Leaf() != id(c.leaf) {
				t.Errorf("%s: leaf %q, want %q; %d entries", c.name, s.Leaf(), id(c.leaf), s.Len())
			}
			continue
		}
		if got.Summary == nil || got.Summary.Branch == nil || s.Leaf() != got.Summary.ID || got.Summary.Parent != id(c.parent) || got.Summary.Branch.From != ids[5] {
			t.Errorf("%s: %+v, leaf %s", c.name, got.Summary, s.Leaf())
		}
		if !strings.Contains(words(t, s), "third") {
			t.Errorf("%s: the summary does not tell of the branch: %s", c.name, words(t, s))
		}
	}
	s, _ := build()
	if _, err := s.Navigate(ctx, "nowhere", sum); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("to nowhere: %v", err)
	}
}

func TestNavigateAborted(t *testing.T) {
	sum := newSlow()
	s := create(t, &session.Options{Summarizer: sum})
	ids := turns(t, s, 0, 3, 2500)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-sum.started; cancel() }()
	if _, err := s.Navigate(ctx, ids[1], session.NavigateOptions{Summarise: true}); err == nil {
		t.Fatal("no error")
	}
	if s.Leaf() != ids[11] || s.Len() != 12 {
		t.Errorf("leaf %s, %d entries", s.Leaf(), s.Len())
	}
}

// unruly writes a text, whatever it is asked for, or panics.
type unruly struct{ text string }

func (w unruly) Summarize(context.Context, summary.Input) (summary.Output, error) {
	if w.text == "" {
		panic("a fault of the caller's")
	}
	return summary.Output{Text: w.text, Used: "own"}, nil
}

// What a caller's summariser writes of a branch is refused where it does harm, or is none: B4.
func TestNavigateGuards(t *testing.T) {
	words := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "word%d ", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name    string
		branch  int // its letters
		text    string
		refused bool
	}{
		{"a good one", 60_000, words(100), false},
		{"a panic", 2500, "", true},
		{"no words", 2500, "-- ** 12 --", true},
		{"larger than the branch", 2500, words(1200), true},
		{"larger than its limit", 60_000, words(3500), true},
		{"one phrase again and again", 60_000, strings.Repeat("words of a branch ", 100), true},
		{"names that nobody gave", 60_000, "Fixed billing.go, rates.go, post.go and totals.go for QQ-99.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := inWindow(t, "pi", 40_000, session.Options{Summarizer: unruly{c.text}})
			ids := turns(t, s, 0, 2, c.branch)
			got, err := s.Navigate(t.Context(), ids[1], session.NavigateOptions{Summarise: true})
			must(t, err)
			said := got.Summary.Branch.Summary
			if refused := c.text == "" || !strings.Contains(said, c.text); said == "" || refused != c.refused {
				t.Errorf("refused %v, and the summary has %d bytes", refused, len(said))
			}
		})
	}
}

func TestBranches(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	ids := say(t, s, user("q"), chat.CallMessage("", chat.Call("c1", "write", `{"path":"made.go","content":"package x"}`)), chat.ResultMessage("c1", "ok"), answer("a"))
	got, err := s.Navigate(ctx, ids[0], session.NavigateOptions{Summarise: true, Label: "other way"})
	must(t, err)
	if b := got.Summary.Branch; len(b.Modified) != 1 || b.Modified[0] != "made.go" || s.Labels()[got.Summary.ID] != "other way" {
		t.Errorf("branch %+v, labels %v", b, s.Labels())
	}
	second := say(t, s, user("q2"), answer("a2"))
	got, err = s.Navigate(ctx, ids[3], session.NavigateOptions{Summarise: true})
	must(t, err)
	if b := got.Summary.Branch; len(b.Modified) != 1 || b.Modified[0] != "made.go" {
		t.Errorf("files of nested branches are lost: %+v", b)
	}
	// Every branch is still there, and each sees its own messages.
	if _, err := s.Navigate(ctx, second[1], session.NavigateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := words(t, s); !strings.HasSuffix(got, "|q2|a2") {
		t.Errorf("the branch has %q", got)
	}
	items := s.Tree(0, 100)
	if len(items) != s.Len() {
		t.Fatalf("%d items of %d entries", len(items), s.Len())
	}
	at := make(map[string]int)
	for i, it := range items {
		at[it.ID] = i
		if p, ok := at[it.Parent]; it.Parent != "" && (!ok || p >= i) {
			t.Errorf("item %d comes before its parent", i)
		}
	}
	var pages []session.Item
	for skip := 0; ; skip += 3 {
		page := s.Tree(skip, 3)
		if len(page) == 0 {
			break
		}
		pages = append(pages, page...)
	}
	if len(pages) != len(items) || pages[4].ID != items[4].ID {
		t.Error("pages differ from the whole")
	}
}

// A compaction on one branch does not show on another. (A4.4)
func TestCompactionOnBranch(t *testing.T) {
	ctx := t.Context()
	s := create(t, nil)
	ids := turns(t, s, 0, 12, 2500)
	whole := seen(t, s)
	_, err := s.Compact(ctx, "")
	must(t, err)
	short := seen(t, s)
	_, err = s.Navigate(ctx, ids[len(ids)-1], session.NavigateOptions{})
	must(t, err)
	if seen(t, s) != whole {
		t.Error("before the compaction's entry the whole conversation is not there")
	}
	say(t, s, user("elsewhere"))
	_, err = s.Navigate(ctx, s.Page(len(ids), 1)[0].ID, session.NavigateOptions{})
	must(t, err)
	if seen(t, s) != short {
		t.Error("after the compaction's entry the short one is not there")
	}
}

// A move without a summary is there after a restart, in no list, and pi goes on
// from the same place.
func TestMoveIsKept(t *testing.T) {
	ctx := t.Context()
	for _, target := range []int{1, 0, 2} { // an answer, the first message, a later one
		s := create(t, nil)
		ids := say(t, s, user("first"), answer("one"), user("second"), answer("two"))
		n, bytes := s.Len(), s.Info().Bytes
		_, err := s.Navigate(ctx, ids[target], session.NavigateOptions{})
		must(t, err)
		leaf, before := s.Leaf(), seen(t, s)
		if s.Info().Bytes <= bytes {
			t.Error("nothing was written")
		}
		again, err := session.New(ctx, reopen(t, s), nil)
		must(t, err)
		t.Cleanup(func() { again.Close() })
		if again.Leaf() != leaf || seen(t, again) != before || again.Len() != n || len(again.Tree(0, 100)) != n || len(again.Page(0, 100)) != n {
			t.Errorf("to %d: the leaf is %q, not %q; %d entries, %d listed", target, again.Leaf(), leaf, again.Len(), len(again.Tree(0, 100)))
		}
		if st, err := again.Stats(); err != nil || st.Entries != n || st.Branches != 1 || st.ByType[session.TypeCustom] != 0 {
			t.Errorf("to %d: %+v, %v", target, st, err)
		}
		if p := again.Problems(); len(p) > 0 {
			t.Errorf("to %d: %v", target, p)
		}
		// Pi takes the last record for the leaf and sees the same messages.
		f := checkForPi(t, again.Info().Path)
		if got := len(pibase.Project(pibase.Path(f.Entries, "")).Messages()); got != strings.Count(before, "\n") {
			t.Errorf("to %d: pi sees %d messages, not %d", target, got, strings.Count(before, "\n"))
		}
		// The next entry follows the place itself.
		more := say(t, again, user("elsewhere"))
		e, err := again.Entry(more[0])
		must(t, err)
		if e.Parent != leaf {
			t.Errorf("to %d: what comes next follows %q, not %q", target, e.Parent, leaf)
		}
		// Where pi went on from the bookmark, the path leads through it.
		last := f.Entries[len(f.Entries)-1].ID
		path := filepath.Join(t.TempDir(), "pi.jsonl")
		data, err := os.ReadFile(again.Info().Path)
		must(t, err)
		data = data[:strings.LastIndexByte(strings.TrimSuffix(string(data), "\n"), '\n')+1]
		must(t, os.WriteFile(path, append(data, `{"type":"message","id":"fromPi","parentId":"`+last+`","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"pi says","timestamp":1}}`+"\n"...), 0o600))
		log, err := openFile(path)
		must(t, err)
		pi, err := session.New(ctx, log, nil)
		must(t, err)
		t.Cleanup(func() { pi.Close() })
		if got := words(t, pi); !strings.HasSuffix(got, "pi says") || len(pi.Path()) != strings.Count(before, "\n")+1 {
			t.Errorf("to %d: after pi the conversation is %q", target, got)
		}
		items := pi.Tree(0, 100)
		if items[len(items)-1].Parent != leaf && leaf != "" && items[len(items)-1].ID == "fromPi" {
			t.Errorf("to %d: pi's entry is listed under %q", target, items[len(items)-1].Parent)
		}
	}
}

// A move that is given up happened or did not, and the session agrees with its
// file about which.
func TestMoveGivenUp(t *testing.T) {
	for range 20 {
		s := create(t, nil)
		ids := say(t, s, user("first"), answer("one"), user("second"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		want := "first|one|second|two"
		_, err := s.Navigate(ctx, ids[1], session.NavigateOptions{})
		if err == nil {
			want = "first|one|two"
		}
		say(t, s, answer("two"))
		again, err := session.New(t.Context(), reopen(t, s), nil)
		must(t, err)
		if got := words(t, s); got != want || words(t, again) != want {
			t.Errorf("the conversation is %q, and %q after a restart; want %q", got, words(t, again), want)
		}
		must(t, again.Close())
	}
}
