package stage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
)

// pruneAll is a pipeline that prunes as if nothing were protected.
func pruneAll(change func(c *stage.Config)) job {
	return job{stages: stage.Named("prune"), config: with(func(c *stage.Config) {
		c.PruneProtect, c.PruneMin, c.Tail = 0, 0, 0
		if change != nil {
			change(c)
		}
	})}
}

// shellWork is a turn of n shell commands, each with some hundred tokens of output
// that names a file, a line and an error.
func shellWork(n int) chat.History {
	h := of(user("go"))
	for i := range n {
		h = h.Append(did(fmt.Sprint("c", i), "bash", fmt.Sprintf(`{"command":"make step%d"}`, i),
			lines(fmt.Sprint("step", i), 40)+fmt.Sprintf("pkg/step%d/run.go:%d: undefined: stepTimer%d\nexit status 2\n", i, 100+i, i))...)
	}
	return h
}

func TestPruneProtectsTheNewest(t *testing.T) {
	h := shellWork(20).Append(said("done"), user("next"))
	each := counter.At(h, 2)
	j := pruneAll(func(c *stage.Config) { c.PruneProtect = 5 * each })
	out := j.run(t, h)
	got := edits(out.Plan, "prune")
	if len(got) != 15 {
		t.Errorf("%d results are pruned, want the oldest 15", len(got))
	}
	for i := 15; i < 20; i++ {
		if r := resultText(t, out.View, fmt.Sprint("c", i)); r != h.At(2 + 2*i).Parts[0].Text {
			t.Errorf("result %d is protected but was changed", i)
		}
	}
	// In a window where that is more than a quarter, it is a quarter.
	j = pruneAll(func(c *stage.Config) { c.PruneProtect = 40000 })
	j.available = counter.Messages(h) + 50
	if n := len(edits(j.run(t, h).Plan, "prune")); n < 10 || n == 20 {
		t.Errorf("%d of 20 results are pruned in a small window", n)
	}
}

func TestPruneMinimumSaving(t *testing.T) {
	h := shellWork(10).Append(said("done"), user("next"))
	total := counter.Messages(h)
	for least, want := range map[int]bool{total / 2: true, 2 * total: false} {
		j := pruneAll(func(c *stage.Config) { c.PruneMin = least })
		if got := j.run(t, h).Plan != nil; got != want {
			t.Errorf("minimum %d of %d: pruned %v, want %v", least, total, got, want)
		}
	}
}

func TestPruneProtectedTools(t *testing.T) {
	h := of(user("go"), did("1", "skill", `{"name":"release"}`, lines("skill", 60)), did("2", "Skill", `{"name":"x"}`, lines("other", 60)),
		did("3", "notes", `{}`, lines("notes", 60)), did("4", "bash", `{"command":"x"}`, lines("out", 60)), said("ok"), user("next"))
	out := pruneAll(nil).run(t, h)
	var got []int
	for _, e := range edits(out.Plan, "prune") {
		got = append(got, e.From)
	}
	if fmt.Sprint(got) != "[6 8]" {
		t.Errorf("pruned %v, want all but the results of skill", got)
	}
	out = pruneAll(func(c *stage.Config) { c.PruneExcept = []string{"notes", "bash"} }).run(t, h)
	if n := len(edits(out.Plan, "prune")); n != 2 {
		t.Errorf("%d results pruned with other tools protected, want 2", n)
	}
}

// What is left names the call and what its output named, and the newest goes last.
func TestPruneSaysWhatWasThere(t *testing.T) {
	h := shellWork(10).Append(said("done"), user("next"))
	total := counter.Messages(h)
	j := pruneAll(nil)
	j.target = total * 2 / 3
	out := j.run(t, h)
	first := resultText(t, out.View, "c0")
	contains(t, "the skeleton", first, "pkg/step0/run.go:100", "stepTimer0", "original: w")
	if first == h.At(2).Parts[0].Text || out.After.Tokens+counter.Conversation() > total*2/3 {
		t.Errorf("%d tokens, want %d", out.After.Tokens, total*2/3)
	}
	if got := resultText(t, out.View, "c9"); got != h.At(20).Parts[0].Text {
		t.Error("the newest was pruned although the target was reached before it")
	}

	j.target = 1
	out = j.run(t, h)
	contains(t, "the placeholder", resultText(t, out.View, "c0"), "old output of bash(command=make step0) (exit status 2), reduced from", "original: w")
	for _, e := range out.Plan.Edits {
		o, err := plan.Recall(h, out.Plan, e.Handle)
		if err != nil || o.Messages[0].Parts[0].Text != h.At(e.From).Parts[0].Text {
			t.Errorf("handle %q: %v", e.Handle, err)
		}
	}
}

// A placeholder is never longer than what it stands for.
func TestPruneNeverLonger(t *testing.T) {
	h := of(user("go"))
	for i := range 30 {
		h = h.Append(did(fmt.Sprint(i), "bash", fmt.Sprintf(`{"command":"run the step number %d of many"}`, i), strings.Repeat("ok ", i*4))...)
	}
	h = h.Append(said("done"), user("next"))
	out := pruneAll(nil).run(t, h)
	if out.Plan == nil {
		t.Fatal("nothing was pruned")
	}
	for _, e := range out.Plan.Edits {
		if e.After.Tokens >= e.Before.Tokens {
			t.Errorf("message %d: %d tokens became %d", e.From, e.Before.Tokens, e.After.Tokens)
		}
	}
	if got := resultText(t, out.View, "3"); got != h.At(8).Parts[0].Text {
		t.Errorf("a short result was replaced by %q", got)
	}
}

func TestPruneLeavesPinsAndLive(t *testing.T) {
	h := shellWork(10) // the last exchange is live
	j := pruneAll(nil)
	j.pins = []stage.Pin{{Message: 4, Part: -1}}
	out := j.run(t, h)
	if out.View.At(4) != h.At(4) || out.View.At(20) != h.At(20) {
		t.Error("a pin or the live exchange was changed")
	}
	if n := len(edits(out.Plan, "prune")); n != 8 {
		t.Errorf("%d pruned, want the other 8", n)
	}
}
