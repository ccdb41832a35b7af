package winnow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// A conversation that is compacted fifty times keeps the bytes of its folds, so that
// the provider's cache has them, but where they are made into one: when they have
// more than a quarter of the target. A rule of the first message is still there,
// and a decision of the third.
func TestFiftyCompactions(t *testing.T) {
	const rule, decision = "Never touch the vendored code.", "We keep the old parser, because the new one loses comments."
	w := mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 30_000, MaxTokens: 4000})
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
