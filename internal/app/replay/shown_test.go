package replay

import (
	"slices"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// In which forms an old text is found in what tools show.
func TestForms(t *testing.T) {
	const old = "\tif err != nil {\n\t\treturn err\n\t}"
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"as it stands", "func f() {\n" + old + "\n}", true},
		{"blanks at the ends of lines", "\tif err != nil { \n\t\treturn err\t\r\n\t}  ", true},
		{"arrows", "    9→func f() {\n   10→\tif err != nil {\n   11→\t\treturn err\n   12→\t}\n", true},
		{"tabs, as cat -n", "     9\tfunc f() {\n    10\t\tif err != nil {\n    11\t\t\treturn err\n    12\t\t}\n", true},
		{"bars", "00010| \tif err != nil {\n00011| \t\treturn err\n00012| \t}", true},
		{"colons", "10:\tif err != nil {\n11:\t\treturn err\n12:\t}", true},
		{"a search with lines around", "10-\tif err != nil {\n11:\t\treturn err\n12-\t}", true},
		{"numbers that do not count on", "10→\tif err != nil {\n12→\t\treturn err\n13→\t}", false},
		{"another indentation", "if err != nil {\n\treturn err\n}", false},
		{"indentation lost behind numbers", "10→if err != nil {\n11→\treturn err\n12→}", false},
		{"lines apart", "\tif err != nil {\n\n\t\treturn err\n\t}", false},
		{"escapes", `\tif err != nil {\n\t\treturn err\n\t}`, false},
		{"plus signs", "+\tif err != nil {\n+\t\treturn err\n+\t}", false},
	} {
		if got := anyContains(comparedForms(c.text), old); got != c.want {
			t.Errorf("%s: found %v", c.name, got)
		}
	}
}

// A number in front of one line may be the line's own.
func TestUnnumberKeepsContent(t *testing.T) {
	for _, s := range []string{"12: twelve", "1. one\n2. two", "port 80:\n443: tls", ""} {
		if bare, spaced := stripNumbers(s); bare != "" || spaced != "" {
			t.Errorf("%q became %q and %q", s, bare, spaced)
		}
	}
	bare, spaced := stripNumbers("1|   a\n2|\n3|  b")
	if bare != "   a\n\n  b" || spaced != "  a\n\n b" {
		t.Errorf("%q and %q", bare, spaced)
	}
}

// Escapes are undone in arguments and nowhere else.
func TestPartTexts(t *testing.T) {
	const old = "first line\nsecond \"line\""
	call := chat.Call("1", "edit", `{"path":"a.go","edits":[{"old":"first line\nsecond \"line\"","n":3}]}`)
	result := chat.Part{Kind: chat.ToolResult, Text: `{"out":"first line\nsecond \"line\""}`}
	thinking := chat.Part{Kind: chat.Thinking, Text: old}
	for _, c := range []struct {
		name string
		part *chat.Part
		want bool
	}{{"arguments", &call, true}, {"a result", &result, false}, {"thinking", &thinking, false}} {
		if got := anyContains(partTexts(c.part), old); got != c.want {
			t.Errorf("%s: found %v", c.name, got)
		}
	}
	if got := argTexts("*** Begin Patch"); !slices.Equal(got, []string{"*** Begin Patch"}) {
		t.Errorf("arguments that are no JSON: %q", got)
	}
}

func TestOldText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"short", ""},
		{"            x", ""}, // blanks are not text
		{"\n  twelve characters  \n\n", "  twelve characters"},
		{"äöüäöüäöüäöü", "äöüäöüäöüäöü"},
	} {
		if got := oldText(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestSamePath(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"/repo/internal/a.go", "internal/a.go", true},
		{"internal/a.go", "/repo/internal/a.go", true},
		{"./a.go", "a.go", true},
		{`C:\repo\a.go`, "repo/a.go", true},
		{"/repo/a.go", "/other/a.go", false},
		{"ba.go", "a.go", false},
		{"", "a.go", false},
	} {
		if got := samePath(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

// Which file a line of a text names.
func TestNamed(t *testing.T) {
	f := fileNames{}
	for _, p := range []string{"/repo/internal/plan/apply.go", "app/[id]/page.tsx"} {
		f.add(p)
	}
	for _, c := range []struct{ line, want string }{
		{"## internal/plan/apply.go, lines 10-40", "internal/plan/apply.go"},
		{"- `apply.go:12-40`:", "apply.go"},
		{"(see plan/apply.go)", "plan/apply.go"},
		{"app/[id]/page.tsx", "app/[id]/page.tsx"},
		{"applying.go and other/apply.go", ""},
		{"nothing", ""},
	} {
		if got := f.namedFile(c.line); got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}
