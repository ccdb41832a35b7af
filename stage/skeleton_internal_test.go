package stage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
)

func result(text string) *chat.Part { return &chat.Part{Kind: chat.ToolResult, Text: text} }

// goSource makes a file of n functions.
func goSource(n int) string {
	var b strings.Builder
	b.WriteString("package plan\n\nimport \"github.com/example/store\"\n\n")
	for i := range n {
		fmt.Fprintf(&b, "// applyStep%d walks over the rows and collects what is left.\nfunc (c *Compactor) applyStep%d(rows []Row, maxRows int) error {\n", i, i)
		fmt.Fprintf(&b, "\tfor _, row := range rows {\n\t\tif row.Size > %d {\n\t\t\treturn fmt.Errorf(\"row %%d is too large: %%w\", row.ID, errTooLarge)\n\t\t}\n\t\tc.total += row.Size\n\t}\n\treturn nil\n}\n\n", 1000+i)
	}
	return b.String()
}

// testLog makes the output of a test run in which one test in the middle fails.
func testLog(n int) string {
	var b strings.Builder
	for i := range n {
		if i == n/2 {
			b.WriteString("    apply_test.go:88: fold 3: got 12, want 14\n--- FAIL: TestApplyFold (0.02s)\n")
		}
		fmt.Fprintf(&b, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.0%ds)\n", i, i, i%10)
	}
	b.WriteString("FAIL\nFAIL\texample.org/winnow/plan\t0.512s\n")
	return b.String()
}

func thirds(s string) int { return (len(s) + 2) / 3 }

func TestSkeletonSays(t *testing.T) {
	tests := []struct {
		what, result string
		max          int
		want         []string
	}{
		{"a result that fits is its own skeleton", "The file a.go has been updated.\n", 50, []string{"The file a.go has been updated."}},
		{"names of a file", goSource(12), 120, []string{"package plan", "applyStep0"}},
		{
			"the failing test in the middle of a long run", "Exit code 1\n" + testLog(400), 100,
			[]string{"--- FAIL: TestApplyFold", "example.org/winnow/plan"},
		},
		{
			"files and lines of a search",
			strings.Repeat("internal/plan/compose.go:42:\treturn Compose(base, h)\ninternal/plan/compose.go:57:\treturn Compose(x, h)\ncmd/winnow/main.go:9:\tplan.Compose()\n", 30), 60,
			[]string{"internal/plan/compose.go:42", "internal/plan/compose.go:57", "cmd/winnow/main.go:9"},
		},
		{
			"the output inside a JSON wrapper",
			`{"output":"` + strings.Repeat(`building part\n`, 80) + `src/win.c:12:3: error: expected ';'\nmake: *** [all] Error 1\n","metadata":{"exit_code":2}}`, 60,
			[]string{"src/win.c:12:3: error: expected ';'"},
		},
		{"nothing", " \n\t", 100, nil},
		{"no room", "something", 0, nil},
	}
	for _, tt := range tests {
		got := skeletonOf(result(tt.result), tt.max, thirds)
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is missing in\n%s", tt.what, w, got)
			}
		}
		if len(tt.want) == 0 && got != "" {
			t.Errorf("%s: %q", tt.what, got)
		}
		checkSkeleton(t, result(tt.result), tt.max, thirds)
	}
}

// checkSkeleton checks what every skeleton promises.
func checkSkeleton(t *testing.T, res *chat.Part, max int, count func(string) int) {
	t.Helper()
	got := skeletonOf(res, max, count)
	if got != "" && count(got) > max {
		t.Errorf("%d tokens, at most %d are allowed:\n%q", count(got), max, got)
	}
	if len(got) > len(res.Text) {
		t.Errorf("%d bytes, longer than the %d of the result", len(got), len(res.Text))
	}
	if utf8.ValidString(res.Text) && !utf8.ValidString(got) {
		t.Errorf("not valid UTF-8: %q", got)
	}
}

func TestSkeletonProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{
		"the", "error:", "src/a/b.go", "main.go:12:5:", "fooBar", "snake_case", "日本語", "🎉", "\n", "\n", "\t", "{", "}", `"`, `\n`, "1,286.50", "#123",
		"https://example.org/a?b=c", "--flag", "FAIL", "func", "class", "--- FAIL:", "E   ", "\x1b[31m", "550e8400-e29b-41d4-a716-446655440000", "/abs/path/to/x.py", "[", "]", ":", ",", "exit code 1", "\x00", "é",
	}
	for range 3000 {
		var b strings.Builder
		if r.IntN(8) == 0 {
			b.WriteString([]string{"{", "[", `{"output":"`, "Exit code 2\n"}[r.IntN(4)])
		}
		for range r.IntN(300) {
			b.WriteString(words[r.IntN(len(words))])
			if r.IntN(3) > 0 {
				b.WriteByte(' ')
			}
		}
		for _, count := range []func(string) int{thirds, utf8.RuneCountInString, func(s string) int { return 3 + len(s)/4 }} {
			checkSkeleton(t, result(b.String()), 1+r.IntN(120), count)
		}
		if t.Failed() {
			t.Fatalf("for %q", b.String())
		}
	}
}

func FuzzSkeleton(f *testing.F) {
	f.Add("Exit code 1\nerror: x\n", uint8(20))
	f.Add("package a\nfunc Foo() {}\n", uint8(3))
	f.Add(`{"a":[{"b":1},{"b":2}],"output":"\u00e9\n`, uint8(9))
	f.Add("a/b.go:1:x\na/b.go-2-y\n/very/long/path/name.go\n/very/long/path/other.go", uint8(30))
	f.Add("\nE   assert\n\x1b[3", uint8(1))
	f.Fuzz(func(t *testing.T, text string, max uint8) {
		checkSkeleton(t, result(text), int(max), thirds)
		checkSkeleton(t, result(text), int(max), utf8.RuneCountInString)
	})
}
