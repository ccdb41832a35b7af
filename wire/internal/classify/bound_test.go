package classify

import (
	"bytes"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/cputime"
)

// longErrors are bodies of 10 MB that would cost most if anything were counted
// twice.
func longErrors() map[string][]byte {
	out := map[string][]byte{}
	for name, unit := range map[string]string{
		"numbers":   "prompt 131072 tokens > ",
		"groups":    "1 111",
		"points":    "1.111",
		"braces":    `{"error":`,
		"quotes":    `\"code\": '`,
		"sentences": "a;",
		"words":     "context length exceeded ",
		"plus":      "5000 + ",
		"wide":      "（超过）",
		"invalid":   "\xff\xfe",
		"messages":  "messages.",
		"blanks":    " ",
	} {
		out[name] = bytes.Repeat([]byte(unit), 10<<20/len(unit))
	}
	return out
}

func TestClassifyBounded(t *testing.T) {
	for name, body := range longErrors() {
		var v Verdict
		if took := cputime.Of(func() { v = Classify(400, nil, body) }); took > 2*time.Second {
			t.Errorf("%s: 10 MB took %v", name, took)
		}
		if v.Kind == "" {
			t.Errorf("%s has no kind", name)
		}
	}
}

// What is wrong is found behind a long echo of the request, too.
func TestClassifyTail(t *testing.T) {
	body := append(bytes.Repeat([]byte("lorem ipsum "), 1<<20), "\nprompt is too long: 213462 tokens > 200000 maximum"...)
	if v := Classify(400, nil, body); v.Kind != Overflow || v.Limit != 200000 || v.Actual != 213462 {
		t.Errorf("%s %d/%d", v.Kind, v.Actual, v.Limit)
	}
}

func BenchmarkClassifyLong(b *testing.B) {
	for name, body := range longErrors() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Classify(400, nil, body)
			}
		})
	}
}
