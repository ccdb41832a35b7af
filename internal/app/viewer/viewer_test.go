package viewer

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/session"
)

// The panes of text follow the tree: what the model sees of its entry, and what it was.
func TestPanesFollow(t *testing.T) {
	v := view(t, atWork(t), Options{}, 200, 50).keys("c", "enter", "1", "g", "j", "j", "j")
	v.has("summary of 156 messages", "tool #2 list_files internal/ = folded", "internal/api/errors.go")
	v.keys("G").has("this entry is not a message on the path").keys("k")
	v.hasNot("summary of").has("user #168")
}

// A pinned message stands in the view after the next compaction, and an undo
// brings everything back.
func TestPinCompactUndo(t *testing.T) {
	s := atWork(t)
	v := view(t, s, Options{}, 80, 24).keys("g", "j", "p", "3").has("* pinned")
	v.keys("c", "the limiter", "enter").has("u undoes it")
	if did := v.sn.edits[0]; did != nil {
		t.Errorf("the pinned message has a %s", did.Kind)
	}
	if v.sn.view.Len() == v.sn.history.Len() || v.sn.last == "" {
		t.Fatal("nothing was compacted")
	}
	e := s.Compactions()
	if len(e) != 1 || e[0].Compaction.Focus != "the limiter" {
		t.Fatalf("compactions: %+v", e)
	}
	v.keys("u").has("Undo").keys("n").has("nothing was changed")
	v.keys("u", "y").has("undone:")
	if v.sn.view.Len() != v.sn.history.Len() {
		t.Error("not everything is back")
	}
	v.keys("1", "g", "u").has("there is no compaction to undo")
}

// A single edit can be taken back by itself.
func TestUndoOneEdit(t *testing.T) {
	v := view(t, small(t), Options{}, 80, 24).keys("c", "enter", "1", "g", "j", "j", "j", "2").has("tool #2", "~ masked")
	edits := len(v.sn.plan.Edits)
	v.keys("u").has("only this mask").keys("e").has("undone:")
	if n := 0; v.sn.plan != nil {
		if n = len(v.sn.plan.Edits); n != edits-1 {
			t.Errorf("%d edits, want %d", n, edits-1)
		}
	}
	if v.sn.edits[2] != nil {
		t.Error("the message is still masked")
	}
}

// The leaf moves to another branch, with and without a summary of what is left.
func TestMove(t *testing.T) {
	s := small(t)
	v := view(t, s, Options{}, 80, 24)
	leaf := s.Leaf()
	v.keys("/", "roses have", "enter", "m").has("Move the leaf").keys("esc").has("nothing was changed")
	if s.Leaf() != leaf {
		t.Fatal("the leaf moved")
	}
	v.keys("m", "y").has("the leaf is here now", "The roses")
	v.keys("2").has("The roses have 世界 labels and red blooms.")
	v.keys("1", "/", "pruned", "enter", "m", "s").has("Summary with focus:").keys("roses", "enter").has("summary of the abandoned branch")
	e, err := s.Entry(s.Leaf())
	must(t, err)
	if e.Branch == nil || !strings.Contains(e.Branch.Summary, "roses") {
		t.Errorf("the leaf is %+v, want a summary of the branch with the roses", e)
	}
	v.has("branch")
	v.keys("g", "j", "m", "enter").has("so that you can rephrase it")
	v.keys("m").has("the leaf is already here")
}

// Labels stand beside what they are about.
func TestLabel(t *testing.T) {
	view(t, small(t), Options{}, 80, 24).has("[beans done]")
}

// A search goes around the end, opens what is too long to be seen, and says when
// there is nothing.
func TestSearch(t *testing.T) {
	long := strings.Repeat("hay hay hay\n", 200) + "the Needle\n" + strings.Repeat("hay\n", 200)
	req := chat.Request{History: chat.NewHistory(chat.TextMessage(chat.User, "first"), chat.TextMessage(chat.Assistant, long), chat.TextMessage(chat.User, "last"))}
	v := view(t, imported(t, req, winnow.Settings{Window: 100000}), Options{}, 80, 24)
	v.keys("3", "/", "NEEDLE", "enter").has("the Needle", "1 of 1; the search continued from the other end")
	v.keys("/", "nowhere", "enter").has(`"nowhere" is not in this session`)
	v.keys("esc", "n").has("/ starts one")
	v.keys("1", "/", "last", "enter").has("last")
	if v.cursor != 2 {
		t.Errorf("the tree is at line %d, want 2", v.cursor)
	}
}

// What goes wrong is said, with what to do.
func TestErrors(t *testing.T) {
	v := view(t, imported(t, chat.Request{}, winnow.Settings{Window: 100000}), Options{}, 80, 24).has("nothing yet")
	v.keys("p").has("! only messages on the path")
	v.keys("u").has("! there is no compaction to undo")
	v.keys("c", "enter").has("! ")
	v.keys("m").has("! there is no entry yet")
	v.keys("2", "j", "k", "pgdown", "enter", "f", "i", "G", "g", "n", "N", "/", "x", "enter", "3", "enter")
	v = view(t, small(t), Options{}, 80, 24)
	must(t, v.s.Close())
	v.keys("c", "late", "enter").has("! ")
}

// While something is under way nothing else starts, and esc cancels.
func TestBusy(t *testing.T) {
	v := view(t, small(t), Options{}, 80, 24)
	started, over := make(chan struct{}), make(chan tea.Msg)
	cmd := v.startJob("waiting", func(ctx context.Context) done {
		close(started)
		<-ctx.Done()
		return done{text: "called off"}
	})
	for _, c := range cmd().(tea.BatchMsg) { // as bubbletea runs them: beside the loop
		go func() {
			if msg, ok := c().(loadedMsg); ok {
				over <- msg
			}
		}()
	}
	<-started
	v.has("waiting… 0 s", "esc cancels")
	v.keys("G", "p").has("wait: waiting is in progress")
	v.keys("c").has("wait: waiting is in progress")
	v.keys("esc").has("cancelling")
	v.drive(<-over)
	v.has("called off").hasNot("in progress")
}

// A long title leaves a gap before what is said beside it.
func TestLongTitle(t *testing.T) {
	s := small(t)
	must(t, s.SetModel(t.Context(), "openai", "gpt-5.3-codex-spark"))
	view(t, s, Options{Title: strings.Repeat("long-", 10), Note: "not kept"}, 80, 24).has("long-  openai/gpt", "…  not kept")
}

// A line of input can be edited, and a paste that is too long is cut.
func TestInput(t *testing.T) {
	v := view(t, small(t), Options{}, 80, 24).keys("c", "one two", "ctrl+w").has("Compact with focus: one")
	v.keys("ctrl+a", "zero ", "end", "backspace", "left", "delete").has("zero on")
	v.drive(tea.PasteMsg{Content: strings.Repeat("x\x1b[2Jy\n", 1<<18)})
	v.whole()
	v.has("cut to 2,000 characters")
	if n := len(v.input.Value()); n != mostTyped {
		t.Errorf("%d characters, want %d", n, mostTyped)
	}
	v.resize(40, 10).resize(5, 3).resize(80, 24).keys("home", "ctrl+k").hasNot("cut to").keys("esc").has("nothing was changed")
}

// Random keys on random conversations, at random sizes: never a panic, never a
// screen of the wrong size, never a character that a terminal obeys.
func TestRandomKeys(t *testing.T) {
	keys := []string{
		"up", "down", "left", "right", "pgup", "pgdown", "home", "end", "enter", "esc", "tab", "shift+tab", "space",
		"j", "k", "g", "G", "f", "i", "e", "1", "2", "3", "?", "p", "c", "u", "m", "n", "N", "/", "y", "s", "x", "世", "backspace",
	}
	sizes := [][2]int{{80, 24}, {200, 50}, {40, 10}, {120, 30}, {1, 1}, {10, 3}, {300, 8}, {20, 60}}
	n := 6
	if !longrun.Asked() {
		n = 2
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			req := chat.Request{History: randhist.New(r, randhist.Options{Messages: 60})}
			v := view(t, imported(t, req, winnow.Settings{Window: 8000, OutputReserve: 1000}), Options{}, 80, 24)
			for range 150 {
				if r.IntN(12) == 0 {
					s := sizes[r.IntN(len(sizes))]
					v.resize(s[0], s[1])
				}
				k := keys[r.IntN(len(keys))]
				v.keys(k)
			}
		})
	}
}

var entries = flag.Int("entries", 10_000, "how long the session of TestLarge is")

// A session of many thousand entries with a message of megabytes is looked at; of that
// message the screen has the beginning.
func TestLarge(t *testing.T) {
	n := *entries
	v := view(t, large(t, n), Options{}, 200, 50)
	v.keys("g", "j", "pgdown", "G", "k", "pgup", "2", "g", "pgdown", "j", "1", "g", "j").has("megabytes")
	if lines := len(v.texts[paneView].lines); lines > 10_000 {
		t.Errorf("%d lines of the large message were wrapped", lines)
	}
	v.keys("2", "G").has("prints all")
	v.keys("/", fmt.Sprintf("answer %d", n-7), "enter").has(fmt.Sprintf("answer %d", n-7))
}

func large(t testing.TB, n int) *session.Session {
	t.Helper()
	msgs := make([]chat.Message, n)
	for i := range msgs {
		if i%2 == 0 {
			msgs[i] = chat.TextMessage(chat.User, fmt.Sprintf("question %d", i))
		} else {
			msgs[i] = chat.TextMessage(chat.Assistant, fmt.Sprintf("answer %d\nwith a second line", i))
		}
	}
	msgs[1] = chat.TextMessage(chat.Assistant, strings.Repeat("megabytes of text that has to be wrapped\n", 200_000))
	return imported(t, chat.Request{History: chat.NewHistory(msgs...)}, winnow.Settings{Window: 1_000_000})
}

// BenchmarkKey measures a key and the screen after it in a session of 100,000
// entries.
func BenchmarkKey(b *testing.B) {
	v := view(b, large(b, 100_000), Options{}, 200, 50)
	for _, c := range []struct{ name, first, key string }{
		{"tree", "1", "down"}, {"tree-page", "1", "pgup"}, {"message", "2", "j"}, {"message-page", "3", "pgdown"},
	} {
		b.Run(c.name, func(b *testing.B) {
			v.press(c.first)
			for b.Loop() {
				v.press(c.key)
				_ = v.View()
			}
		})
	}
}
