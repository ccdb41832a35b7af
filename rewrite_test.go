package winnow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// BenchmarkRewrite compacts a conversation of n exchanges, about 1,500 tokens each:
// for the first time, and again after twenty more, where the engine remembers what
// it has read before.
func BenchmarkRewrite(b *testing.B) {
	for _, n := range []int{250, 2000} {
		msgs := longSession(2*n, 40, 80)
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) { benchRewrite(b, msgs, len(msgs)) })
		b.Run(fmt.Sprintf("again/%d", n), func(b *testing.B) { benchRewrite(b, msgs, 40) })
	}
}

func benchRewrite(b *testing.B, msgs []chat.Message, fresh int) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		w := mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 200000})
		h, s := rewritten(b, w, msgs[:len(msgs)-fresh])
		h = h.Append(msgs[len(msgs)-fresh:]...)
		b.StartTimer()
		r, err := w.Fit(context.Background(), chat.Request{History: h}, s)
		if err != nil || !r.Changed {
			b.Fatal(err, r.Changed)
		}
	}
}

// rewritten compacts messages, if there are any.
func rewritten(tb testing.TB, w *winnow.Winnow, msgs []chat.Message) (chat.History, winnow.State) {
	tb.Helper()
	h, s := chat.NewHistory(msgs...), winnow.State{Ask: winnow.Ask{Force: true}}
	if len(msgs) > 0 {
		r, err := w.Fit(context.Background(), chat.Request{History: h}, s)
		if err != nil {
			tb.Fatal(err)
		}
		s.Plan = r.Plan
	}
	return h, s
}

// A rewrite reads what came since the one before, and makes as little as that.
func TestRewriteReadsWhatIsNew(t *testing.T) {
	msgs := longSession(4000, 4, 13)
	allocs := func(fresh int) float64 {
		w := mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 60000})
		h, s := rewritten(t, w, msgs[:len(msgs)-fresh])
		h = h.Append(msgs[len(msgs)-fresh:]...)
		return testing.AllocsPerRun(1, func() { // once before it counts: what others keep is there then
			w := w
			if fresh == len(msgs) {
				w = mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 60000})
			}
			if _, err := w.Fit(context.Background(), chat.Request{History: h}, s); err != nil {
				t.Fatal(err)
			}
		})
	}
	first, again := allocs(len(msgs)), allocs(20)
	t.Logf("first %.0f allocations, again %.0f", first, again)
	if again > first/6 { // outlines of files that changed come on top
		t.Errorf("a rewrite after ten exchanges makes %.0f allocations, the first one %.0f", again, first)
	}
}

// A rewrite that frees little has the files in its state all the same.
func TestSmallRewriteKeepsTheState(t *testing.T) {
	msgs := longSession(400, 10, 20)
	w := mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 60000})
	h, s := rewritten(t, w, msgs)
	h = h.Append(longSession(5, 10, 20)...)
	r, err := w.Fit(context.Background(), chat.Request{History: h}, s)
	if err != nil || !r.Changed {
		t.Fatal(err, r.Changed)
	}
	if !slices.ContainsFunc(r.Plan.Edits, func(e plan.Edit) bool { return e.Kind == plan.State }) {
		t.Errorf("no state; %d tokens of %d", r.After.Tokens.Total, r.Before.Tokens.Total)
	}
}

// A conversation that is compacted fifty times keeps the bytes of its folds, so that
// the provider's cache has them, but where they are made into one: when they have
// more than a quarter of the target. A rule of the first message is still there,
// and a decision of the third.
func TestFiftyCompactions(t *testing.T) {
	const rule, decision = "Never touch the vendored code.", "We keep the old parser, because the new one loses comments."
	w := mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 30_000, OutputReserve: 4000})
	c := w.Conversation(chat.Request{})
	c.Append(chat.TextMessage(chat.User, "Mend the import. "+rule))
	c.Answered(chat.TextMessage(chat.Assistant, "With which parser?"), chat.Usage{})
	c.Append(chat.TextMessage(chat.User, decision))
	work := longSession(200, 10, 20)
	compactions, afresh, last := 0, 0, plan.ID("")
	var before []plan.Edit // the folds of the plan before
	for i := 0; compactions < 50; i++ {
		if i == 20_000 {
			t.Fatalf("%d compactions", compactions)
		}
		m := work[i%len(work)]
		m.Parts = append([]chat.Part(nil), m.Parts...)
		for k := range m.Parts {
			if m.Parts[k].ID != "" {
				m.Parts[k].ID = fmt.Sprintf("%s_%d", m.Parts[k].ID, i/len(work))
			}
		}
		if m.Role == chat.Assistant {
			c.Answered(m, chat.Usage{})
			continue
		}
		c.Append(m)
		r, err := c.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Plan.ID() == last {
			continue
		}
		last = r.Plan.ID()
		compactions++
		folds := foldsOf(r.Plan)
		if !keepsBytes(before, folds) {
			afresh++
			size := 0
			for _, e := range before {
				size += e.After.Tokens
			}
			room := r.Before.Limits.Available
			if target := int(w.Settings().Target * float64(room)); 4*size <= target {
				t.Errorf("compaction %d: folds of %d tokens were made afresh for a target of %d", compactions, size, target)
			}
		}
		before = folds
		text := ""
		for i := range r.View.Len() {
			text += r.View.At(i).Text() + "\n"
		}
		for _, want := range []string{rule, decision} {
			if !strings.Contains(text, want) {
				t.Fatalf("compaction %d: %q is gone", compactions, want)
			}
		}
	}
	if afresh > compactions/2 {
		t.Errorf("%d of %d compactions made the folds afresh", afresh, compactions)
	}
}

func foldsOf(p *plan.Plan) []plan.Edit {
	var folds []plan.Edit
	for _, e := range p.Edits {
		if e.Kind == plan.Fold {
			folds = append(folds, e)
		}
	}
	return folds
}

// keepsBytes reports whether the folds before stand among those now, as they were.
func keepsBytes(before, now []plan.Edit) bool {
	for i := range before {
		if i >= len(now) || now[i].Text != before[i].Text || now[i].From != before[i].From || now[i].To != before[i].To {
			return false
		}
	}
	return true
}

// What was written into a file that nobody has read is told, though its place there
// is not known.
func TestEditsWithoutAPlaceAreTold(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", Window: 16_000, OutputReserve: 2000})
	msgs := append(coding(0, 30), user("Mend the retry."))
	msgs = append(msgs, did("e", "Edit", `{"file_path":"/w/retry.go","old_string":"wait(1)","new_string":"waitTwiceAsLong(2)"}`, "The file has been updated.")...)
	msgs = append(append(msgs, said("It waits longer.")), coding(30, 40)...)
	r := fit(t, w, chat.Request{History: chat.NewHistory(append(msgs, user("And now?"))...)}, winnow.State{})
	contains(t, "the view", text(r.View), "waitTwiceAsLong(2)")
}

// A patch names the function that it changes, and an insertion the line that it
// pushes down: the view has the file as it is then.
func TestPatchChangesTheNamedPlace(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", Window: 16_000, OutputReserve: 2000})
	msgs := append(coding(0, 30), user("Mend the second one."))
	msgs = append(msgs, did("r", "Read", `{"file_path":"/w/two.go"}`, "package two\n\nfunc first() int {\n\treturn 1\n}\n\nfunc second() int {\n\treturn 1\n}\n")...)
	msgs = append(msgs, did("p", "apply_patch", `{"input":"*** Begin Patch\n*** Update File: /w/two.go\n@@ func second() int {\n-\treturn 1\n+\treturn 2\n*** End Patch"}`, "Done!")...)
	msgs = append(msgs, did("i", "insert_content", `{"path":"/w/two.go","line":7,"content":"// second returns 2."}`, "Done!")...)
	msgs = append(append(msgs, said("It returns 2.")), coding(30, 40)...)
	r := fit(t, w, chat.Request{History: chat.NewHistory(append(msgs, user("And now?"))...)}, winnow.State{})
	contains(t, "the view", text(r.View), "func first() int {\n\treturn 1\n}\n\n// second returns 2.\nfunc second() int {\n\treturn 2\n}")
}

// An edit of a text that is not known quite so, because something else changed the file
// meanwhile, takes what is known of that text out of the file as it stands.
func TestOutdatedLinesGo(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", Window: 16_000, OutputReserve: 2000})
	msgs := append(coding(0, 30), user("Mend the limits."))
	msgs = append(msgs, did("r", "Read", `{"file_path":"/w/limits.go"}`, "const limitOfReaders = 10\nconst limitOfWriters = 20\nconst limitOfWaiters = 30\nconst limitOfClosers = 40\n\nfunc limit() int { return limitOfReaders }\n")...)
	msgs = append(msgs, did("e", "Edit", `{"file_path":"/w/limits.go","old_string":"const limitOfReaders = 10\nconst limitOfWriters = 20\nconst limitOfWaiters = 30\nconst limitOfClosers = 41\n","new_string":"const limitOfReaders = 99\n"}`, "The file /w/limits.go has been updated.")...)
	msgs = append(append(msgs, said("There is one limit.")), coding(30, 40)...)
	r := fit(t, w, chat.Request{History: chat.NewHistory(append(msgs, user("And now?"))...)}, winnow.State{})
	view := text(r.View)
	contains(t, "the view", view, "const limitOfReaders = 99")
	if strings.Contains(view, "limitOfReaders = 10") {
		t.Errorf("outdated lines stand in the view:\n%s", view)
	}
}
