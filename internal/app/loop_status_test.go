//go:build unix

package app

import (
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/providersim"
)

var (
	statusShare  = regexp.MustCompile(`context (<?\d+ %) of ([\d,]+)`)
	contextShare = regexp.MustCompile(`(<?\d+ %) of the ([\d,]+)\s+available`)
)

// The line above the prompt and /context say the same, also right after a
// compaction, an undo and a change of the model.
func TestLoopStatusAgreesWithContext(t *testing.T) {
	t.Parallel()
	k := newTalk(t, providersim.Options{Agent: always(strings.Repeat("Words about the parser. ", 40))},
		"--window", "4000", "--disable-compaction").start(100, 30)
	last := ""
	agree := func(after string) {
		t.Helper()
		var status []string
		k.Until("the line after "+after, func(screen string) bool { // it is written a moment later
			status = statusShare.FindStringSubmatch(screen)
			return status != nil && status[1] != last
		})
		last = status[1]
		k.clean()
		k.ask("/context", "tokens for input")
		m := contextShare.FindStringSubmatch(strings.ReplaceAll(k.Screen(), "\n", " "))
		if m == nil || m[1] != status[1] || m[2] != status[2] {
			t.Errorf("after %s the line says %v, /context %v:\n%s", after, status[1:], m, k.Screen())
		}
	}
	for range 6 {
		k.clean()
		k.ask("What about the parser?", "Words about")
	}
	agree("a turn")
	k.clean()
	k.ask("/compact the parser", "compacted ")
	agree("a compaction")
	k.clean()
	k.ask("/undo", "is undone")
	agree("an undo")
	k.clean()
	k.ask("/model sim", "sim answers from now on")
	agree("a change of the model")
	k.leave()
}
