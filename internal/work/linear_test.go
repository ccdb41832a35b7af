package work

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/cputime"
	"github.com/winnow-llm/winnow/internal/typed"
)

// Text that makes careless scanners slow: every function must stay linear. The
// bound is far above what a slow machine needs and far below what quadratic
// work on such a text takes.
func TestKindsLinear(t *testing.T) {
	const size, bound = 1 << 18, 2 * time.Second
	for _, piece := range []string{
		"a", "/", ".", "-", ":", "#", "@", "~", "_", "`", "'", `"`, "(", ")", "{", "[", "]", "}", ",", "1", ",111", "1,", "A", "aA", "a/", "a.", "a:", "a-", "/a", "--a ",
		"error ", "error: x\n", "\nE   x", "errorerror", "1: a", "a:1:1: ", "✗ ", "\n", "\r\n", " ", "\t", "\\", `\"`, `{"a":`, `[[`, `{"output":"`, "$(", "`a` ", "``", "|", "> a ", "<<E\n", "<<'E'\n\n", "a\n<<a\n",
		"cat a | ", "cat a; ", "\x1b[", "\x1b]", "é", "\xff", "https://a/", "*** Update File: a\n", "--- a\n+++ b\n", "func a() {\n", "not found ", "no such ", "Exit code ", "must never. ", "- [ ] a\n",
	} {
		text := strings.Repeat(piece, size/len(piece))
		args, err := json.Marshal(map[string]string{"command": text, "path": text})
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range map[string]func(){
			"Access of a command": func() { access("bash", string(args)) },
			"Access of raw text":  func() { access("bash", text) },
			"Access of a file":    func() { access("edit", text) },
			"Headline":            func() { Headline(call("x", text), 100) },
			"Status":              func() { Status(result(text)) },
			"ErrorLines":          func() { ErrorLines(text, 10) },
			"Limit":               func() { Limit(text, 51200, 2000) },
			"HasSentence":         func() { typed.NewIndex(text).HasSentence("never use it") },
		} {
			if d := cputime.Of(f); d > bound {
				t.Errorf("%s of 256 kB of %q took %v", name, piece, d)
			}
		}
	}
}
