package viewer

import (
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
)

// compacted is a session at work that was compacted before it is looked at.
func compacted(t testing.TB) *session.Session {
	s := atWork(t)
	if _, err := s.Compact(t.Context(), "the limiter"); err != nil {
		t.Fatal(err)
	}
	return s
}

// The first picture of a session that was compacted is its fold beside the
// originals; ] and [ go from edit to edit.
func TestEdits(t *testing.T) {
	v := view(t, compacted(t), Options{}, 200, 50)
	if v.focus != paneView {
		t.Fatalf("the first pane is %d", v.focus)
	}
	_, msg, e := v.selectedItem()
	if e == nil || e.Kind != plan.Fold || msg != e.From {
		t.Fatalf("the cursor is at message %d with %+v, not at the first of a fold", msg, e)
	}
	v.has("summary of ", "user #0 = folded")
	v.keys("1", "g", "k")
	for _, key := range []string{"]", "["} {
		n := 0
		for ; n < 200; n++ {
			if v.keys(key); strings.Contains(v.message, " edit") {
				break
			}
			if _, _, e := v.selectedItem(); e == nil {
				t.Fatalf("%s stops where nothing is changed", key)
			}
		}
		if want := map[string]string{"]": "the last edit", "[": "the first edit"}[key]; !strings.Contains(v.message, want) || n == 0 {
			t.Errorf("%s went through %d edits and says %q", key, n, v.message)
		}
	}
}

var savedNumber = regexp.MustCompile(`([\d,]+) saved`)

// A compaction has one saving, wherever it is told; and an action says which file
// it was written to.
func TestOneSaving(t *testing.T) {
	v := view(t, atWork(t), Options{File: "work.jsonl"}, 120, 40).keys("c", "enter")
	all := savedNumber.FindAllStringSubmatch(v.screen(), -1)
	if len(all) < 2 {
		t.Fatalf("the saving is told %d times:\n%s", len(all), v.screen())
	}
	for _, m := range all {
		if m[1] != all[0][1] {
			t.Errorf("one saving is %s, another %s", all[0][1], m[1])
		}
	}
	if !strings.Contains(v.screen(), "written to work.jsonl") {
		t.Errorf("nothing says where it was written:\n%s", v.screen())
	}
}
