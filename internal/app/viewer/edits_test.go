package viewer

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

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
	c := v.conv[paneView]
	b := c.at(c.cursor)
	if b.edit < 0 || v.sn.plan.Edits[b.edit].Kind != "fold" {
		t.Fatalf("the cursor is not at a fold: %+v", b)
	}
	h := v.conv[paneHistory]
	if got, want := h.at(h.cursor).msg, v.sn.plan.Edits[b.edit].From; got != want {
		t.Errorf("beside the fold stands message %d, not its first original %d", got, want)
	}
	if screen := v.screen(); !strings.Contains(screen, "summary of ") {
		t.Errorf("the fold is not on the screen:\n%s", screen)
	}
	for _, pane := range []string{"2", "3"} {
		v.keys(pane, "g")
		var down, up []int
		for range 200 {
			v.keys("]")
			if strings.Contains(v.message, "last edit") {
				break
			}
			down = append(down, v.conv[v.focus].cursor)
		}
		v.keys("G")
		for range 200 {
			v.keys("[")
			if strings.Contains(v.message, "first edit") {
				break
			}
			up = append([]int{v.conv[v.focus].cursor}, up...)
		}
		if len(down) == 0 || fmt.Sprint(down) != fmt.Sprint(up) {
			t.Errorf("pane %s: down through %v, up through %v", pane, down, up)
		}
		c := v.conv[v.focus]
		for _, k := range down {
			if c.blockState(c.at(k)) == kept {
				t.Errorf("pane %s: block %d is kept", pane, k)
			}
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
