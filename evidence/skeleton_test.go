package evidence

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
)

func result(text string) *chat.Part { return &chat.Part{Kind: chat.ToolResult, Text: text} }

func call(name, args string) *chat.Part {
	c := chat.Call("1", name, args)
	return &c
}

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

func TestSkeletonSays(t *testing.T) {
	tests := []struct {
		what         string
		call, result *chat.Part
		max          int
		want         []string
		not          []string
	}{
		{
			"a result that fits is its own skeleton", call("edit", `{"path":"a.go"}`), result("The file a.go has been updated.\n"), 50,
			[]string{"The file a.go has been updated."},
			nil,
		},
		{
			"the names that a file defines", call("read", `{"path":"plan.go"}`), result(goSource(12)), 120,
			[]string{"applyStep0", "applyStep11"},
			[]string{"plan.go", "too large"},
		},
		{
			"the failing test in the middle of a long run", call("bash", `{"command":"go test ./plan"}`), result("Exit code 1\n" + testLog(400)), 100,
			[]string{"exit 1", "--- FAIL: TestApplyFold", "example.org/winnow/plan"},
			nil,
		},
		{
			"files and lines of a search", call("grep", `{"pattern":"Compose"}`),
			result(strings.Repeat("internal/plan/compose.go:42:\treturn Compose(base, h)\ninternal/plan/compose.go:57:\treturn Compose(x, h)\ncmd/winnow/main.go:9:\tplan.Compose()\n", 30)), 60,
			[]string{"internal/plan/compose.go:42,57", "cmd/winnow/main.go:9"},
			nil,
		},
		{
			"the values of a JSON result", call("get_booking", `{"id":"K1NW8N"}`),
			result(`{"booking_id":"K1NW8N","user":{"id":"mia_li_3668","tier":"gold"},"flights":[{"number":"HAT028","date":"2024-05-20","price":101},{"number":"HAT277","date":"2024-05-21","price":128}],"note":null,"total":1286.5,"terms":"` + strings.Repeat("words and more words ", 40) + `"}`), 110,
			[]string{"mia_li_3668", "HAT028", "HAT277 2024-05-21 128", "1286.5"},
			[]string{"null", `"`},
		},
		{
			"the output inside a JSON wrapper", call("shell", `{"command":["bash","-lc","make"]}`),
			result(`{"output":"` + strings.Repeat(`building part\n`, 80) + `src/win.c:12:3: error: expected ';'\nmake: *** [all] Error 1\n","metadata":{"exit_code":2}}`), 60,
			[]string{"exit 2", "src/win.c:12:3: error: expected ';'"},
			[]string{`\n`},
		},
		{
			"the shared folder once", call("find", `{"pattern":"*.go"}`),
			result(strings.Repeat("/home/me/work/project/internal/a/one.go\n/home/me/work/project/internal/b/two.go\n", 20)), 60,
			[]string{"in /home/me/work/project/", "internal/a/one.go", "internal/b/two.go"},
			[]string{"/home/me/work/project/internal/b"},
		},
		{
			"errors are not made of source that is read", call("read", `{"path":"x.sh"}`),
			result(strings.Repeat("echo 'fatal: cannot happen'\n", 60)), 40, nil,
			[]string{"fatal"},
		},
		{"without a call", nil, result(strings.Repeat("worked on src/main.rs\n", 40)), 40, []string{"src/main.rs"}, nil},
	}
	for _, tt := range tests {
		got := Skeleton(tt.call, tt.result, tt.max, nil)
		for _, w := range tt.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is missing in\n%s", tt.what, w, got)
			}
		}
		for _, w := range tt.not {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q should not stand in\n%s", tt.what, w, got)
			}
		}
		checkSkeleton(t, tt.call, tt.result, tt.max, nil)
	}
	for _, empty := range []string{"", " \n\t", "\r\n"} {
		if got := Skeleton(nil, result(empty), 100, nil); got != "" {
			t.Errorf("Skeleton(%q) = %q", empty, got)
		}
	}
	if got := Skeleton(nil, result("something"), 0, nil); got != "" {
		t.Errorf("a skeleton of no tokens is %q", got)
	}
}

// Counters that disagree with the guess inside: one token per byte, per rune,
// per eight bytes, and one that charges for the call.
var counters = map[string]Counter{
	"third":  nil,
	"bytes":  func(s string) int { return len(s) },
	"runes":  func(s string) int { return utf8.RuneCountInString(s) },
	"eighth": func(s string) int { return len(s) / 8 },
	"fixed":  func(s string) int { return 3 + len(s)/4 },
}

// checkSkeleton checks what every skeleton promises.
func checkSkeleton(t *testing.T, call, res *chat.Part, max int, count Counter) {
	t.Helper()
	got := Skeleton(call, res, max, count)
	if got != "" && count.of(got) > max {
		t.Errorf("%d tokens, at most %d are allowed:\n%q", count.of(got), max, got)
	}
	if len(got) > len(res.Text) {
		t.Errorf("%d bytes, longer than the %d of the result", len(got), len(res.Text))
	}
	if again := Skeleton(call, res, max, count); again != got {
		t.Errorf("not deterministic:\n%q\n%q", got, again)
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
	calls := []*chat.Part{nil, call("read", `{"path":"src/a/b.go"}`), call("bash", `{"command":"make"}`), call("grep", `{"pattern":"x"}`), call("get_user", `{}`), call("edit", `{`)}
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
		for _, c := range counters {
			checkSkeleton(t, calls[r.IntN(len(calls))], result(b.String()), 1+r.IntN(120), c)
		}
		if t.Failed() {
			t.Fatalf("for %q", b.String())
		}
	}
}

func ExampleSkeleton() {
	c := chat.Call("1", "bash", `{"command":"go build ./..."}`)
	r := chat.Part{Kind: chat.ToolResult, Text: "Exit code 1\n# example.org/app\n./main.go:12:5: undefined: fooBar\n" + strings.Repeat("note: module requires Go 1.26\n", 20)}
	fmt.Println(Skeleton(&c, &r, 40, nil))
	// Output:
	// exit 1
	// ./main.go:12:5: undefined: fooBar
	// # example.org/app
	// note: module requires Go 1.26
}
