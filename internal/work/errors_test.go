package work

import (
	"strings"
	"testing"
)

// The lines that a person would point at, in outputs of many tools. Marked
// lines must be found, no other may be.
func TestErrorLines(t *testing.T) {
	outputs := map[string]string{
		"go build": `
# example.org/app
!./main.go:12:5: undefined: fooBar
!./main.go:14:2: declared and not used: x
!pkg/a.go:9:10: invalid operation: err != nil (mismatched types bool and untyped nil)`,
		"go test": `
=== RUN   TestApply
    apply_test.go:31: running
!--- FAIL: TestApply (0.01s)
--- PASS: TestErrorHandling (0.00s)
!FAIL
!FAIL	example.org/app	0.123s
ok  	example.org/app/failures	0.1s`,
		"python": `
Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    import yaml
!ModuleNotFoundError: No module named 'yaml'`,
		"python, dotted": `
!json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)`,
		"pytest": `
tests/test_x.py F
    def test_a():
        assert f() == 2
!E       assert 1 == 2
!FAILED tests/test_x.py::test_a - assert 1 == 2
!1 failed, 4 passed in 0.12s`,
		"rust": `
!error[E0425]: cannot find value ` + "`budget`" + ` in this scope
 --> src/lib.rs:4:5
!error: aborting due to 1 previous error`,
		"tsc": `
!src/a.ts(28,2): error TS2739: Type '{}' is missing the following properties
Found 0 errors. Watching for file changes.`,
		"npm": `
!npm ERR! code ERESOLVE
!npm ERR! unable to resolve dependency tree
!npm error command failed
added 12 packages, and audited 13 packages in 2s
found 0 vulnerabilities`,
		"shell": `
!bash: line 1: foo: command not found
!cat: x.txt: No such file or directory
!rm: cannot remove 'a': Permission denied
!curl: (7) Failed to connect to localhost port 80: Connection refused`,
		"git": `
Auto-merging a.go
!CONFLICT (content): Merge conflict in a.go
!fatal: not a git repository (or any of the parent directories): .git`,
		"java": `
!Exception in thread "main" java.lang.NullPointerException: x is null
	at com.example.Main.run(Main.java:12)`,
		"java, cause": `
!Caused by: java.io.IOException: Broken pipe
	at com.example.Main.run(Main.java:12)`,
		"nothing wrong": `
Tests: 0 failed, 12 passed
errors: 0
Errors: []
no errors found
✓ handles errors
error_count = 3
see docs/errors.md and handle-error.ts`,
		"source code": `
	if err != nil {
		return fmt.Errorf("failed to open: %w", err)
	}
// panic: never called
    raise ValueError("invalid input")
    console.error("failed");
    throw new Error("no such thing");
+	t.Fatalf("unexpected error: %v", err)`,
	}
	for name, text := range outputs {
		var want []string
		var plain strings.Builder
		for line := range strings.SplitSeq(strings.TrimPrefix(text, "\n"), "\n") {
			if rest, ok := strings.CutPrefix(line, "!"); ok {
				want = append(want, rest)
				line = rest
			}
			plain.WriteString(line + "\n")
		}
		got := ErrorLines(plain.String(), 20)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\n got %q\nwant %q", name, got, want)
		}
	}
}

func TestErrorLinesBounds(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		b.WriteString("warm up\nerror: step ")
		b.WriteString(strings.Repeat("x", i+1))
		b.WriteString("\n")
	}
	for _, n := range []int{0, 1, 2, 7, 100} {
		got := ErrorLines(b.String(), n)
		if len(got) > n {
			t.Errorf("max %d gave %d lines", n, len(got))
		}
		if n == 7 && (got[0] != "error: step x" || !strings.HasPrefix(got[6], "error: step "+strings.Repeat("x", 300))) {
			t.Errorf("first and last are not kept: %.30q … %.30q", got[0], got[6])
		}
	}
	same := ErrorLines(strings.Repeat("error: again\n", 50), 10)
	if len(same) != 1 {
		t.Errorf("a repeated line is given %d times", len(same))
	}
	long := strings.Repeat("a b ", 2000) + "error: here it is" + strings.Repeat(" c d", 2000)
	got := ErrorLines(long, 3)
	if len(got) != 1 || !strings.Contains(got[0], "error: here it is") || len(got[0]) > errorLineMax {
		t.Errorf("a long line is not clipped around its error: %q", got)
	}
	coloured := ErrorLines("\x1b[31m\x1b[1m FAIL \x1b[22m\x1b[39m a.test.ts", 3)
	if len(coloured) != 1 || coloured[0] != "FAIL  a.test.ts" {
		t.Errorf("colours are kept: %q", coloured)
	}
}

// What a trace ends with is a clear report, whatever it quotes; code that speaks of
// errors is none.
func TestClearness(t *testing.T) {
	for line, clear := range map[string]bool{
		"zsh:1: command not found: sync.policy":               true,
		"RuntimeError: dropped elements: 'a;;' != ';'":        true,
		"E       AssertionError: assert 3 == 4":               true,
		"AssertionError: assert {'a': 1} == {'a': 2}":         true,
		"app.errors.StoreError: size := 4 is too small":       true,
		"java.lang.IllegalStateException: ${home} is not set": true,
		"    raise RuntimeError(":                             false,
		"if err != nil { return err }":                        false,
		"error: size == 0 ? null : size,":                     false,
		"const loadError = (x) => x == null":                  false,
	} {
		if got := Clearness(line) >= 3; got != clear {
			t.Errorf("%q: %d", line, Clearness(line))
		}
	}
}
