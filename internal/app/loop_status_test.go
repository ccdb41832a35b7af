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
	k := newTalk(t, providersim.Options{Agent: always(strings.Repeat("Words about the parser. ", 40))},
		"--window", "4000", "--disable-compaction").start(100, 30)
	shown := func() []string {
		t.Helper()
		m := statusShare.FindStringSubmatch(k.Screen())
		if m == nil {
			t.Fatalf("no status:\n%s", k.Screen())
		}
		return m[1:]
	}
	seen := map[string]bool{}
	agree := func(after string) {
		t.Helper()
		status := shown()
		seen[status[0]] = true
		k.clean()
		k.ask("/context", "tokens for input")
		m := contextShare.FindStringSubmatch(strings.ReplaceAll(k.Screen(), "\n", " "))
		if m == nil || m[1] != status[0] || m[2] != status[1] {
			t.Errorf("after %s the line says %v, /context %v:\n%s", after, status, m, k.Screen())
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
	k.ask("/model sim", "sim answers from here on")
	agree("a change of the model")
	if len(seen) < 2 {
		t.Errorf("the share never changed: %v", seen)
	}
	k.leave()
}
