package guard

import (
	"strings"
	"testing"
)

// Too much work costs the part, as a fault does, and what comes later is made.
func TestWorkIsLimited(t *testing.T) {
	done := false
	left := Do("files", func() {
		var w Work
		for range 3 {
			w.Spend(MaxWork/2 + 1)
		}
		done = true
	})
	if done || left == nil || !strings.Contains(left.Error(), "files left out: it takes more than") {
		t.Errorf("done: %v, %v", done, left)
	}
	if left = Do("files", func() { done = true }); left != nil || !done {
		t.Errorf("done: %v, %v", done, left)
	}
}
