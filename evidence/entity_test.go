package evidence

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
)

func found(line string) []string {
	var out []string
	Entities(line, func(k EntityKind, v string) { out = append(out, k.String()+" "+v) })
	return out
}

func TestEntities(t *testing.T) {
	tests := []struct{ line, want string }{
		{"", ""},
		{"just plain words, and more. Sentences: like this - with marks!", ""},
		{"see internal/plan/apply.go:142 and ./cmd/x/main.go.", "path plan/apply.go; num 142; path x/main.go"},
		{"/usr/local/bin ~/notes/todo.md ../a/b.ts ./internal/...", "path local/bin; path notes/todo.md; path a/b.ts; path internal"},
		{"feature/split-turn origin/main linux/amd64 and/or", ""},
		{"app/Makefile and .env.local; package.json", "path app/Makefile; path .env.local; path package.json"},
		{"//nolint /* x */ </div> a/b", ""},
		{"parseURL HTTPServer snake_case MAX_TOKENS __init__ v2 Word", "ident parseURL; ident HTTPServer; ident snake_case; ident MAX_TOKENS; ident __init__"},
		{"os.path_exists(x) self.fooBar foo.bar chat.History", "ident path_exists; ident fooBar"},
		{"TypeError: x; java.io.IOException ENOENT SIGKILL E0425 TS2345 EOF", "err TypeError; err IOException; err ENOENT; err SIGKILL; err E0425; err TS2345"},
		{"K1NW8N HAT028 #57 ABC-1234 UTF-8 SHA-256", "id K1NW8N; id HAT028; id #57; id ABC-1234"},
		{
			"3f2a9bc1d deadbeef 1234567 sha256:9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0",
			"id 3f2a9bc1d; num 1234567; id 9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0",
		},
		{"550e8400-e29b-41d4-a716-446655440000 api-7d9f8b6c5-x2x9k", "id 550e8400-e29b-41d4-a716-446655440000; id 7d9f8b6c5"},
		{"$1,286.50 on 2024-05-20, 1,024 of 3.14159; 17 and 42, 2024-05-20T10:11:12Z", "num 1,286.50; num 2024-05-20; num 1,024; num 3.14159; num 2024-05-20"},
		{"sed -n '180,210p' a; f(100,200)", "num 180; num 100,200"},
		{"lines 120-140 v1.40.2 app:1.2.3 127.0.0.1:8080", "num 120; num 140; num v1.40.2; num 1.2.3; num 127.0.0.1; num 8080"},
		{"--no-cache --x -v --platform=linux ---", "flag --no-cache; flag --platform"},
		{"see https://example.org/docs/limits?x=1#top. Or (http://localhost:8080/a_b)", "url https://example.org/docs/limits?x=1#top; url http://localhost:8080/a_b"},
		{"use `winnow.Fit` not `compactNow` or `a b` or ``", "tick winnow.Fit; ident compactNow"},
		{"mail me@example.org or @scope/pkg", "id me@example.org"},
		{"internal/plan/apply.go-142-\treturn", "path plan/apply.go"},
		{"日本語のfileName.goを参照 naïve", ""},
	}
	for _, tt := range tests {
		if got := strings.Join(found(tt.line), "; "); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.line, got, tt.want)
		}
	}
}

// differs are the finds of the guide that are not reported here, and why.
var differs = map[string]string{
	"id 550e8400":          "a piece of the UUID that is reported whole",
	"num 446655440000":     "a piece of the UUID that is reported whole",
	"ident K1NW8N":         "an id, once",
	"id 200000":            "a number, once",
	"id E0425":             "an error code, once",
	"id TS2345":            "an error code, once",
	"num 1234":             "a piece of ABC-1234",
	"ident context_budget": "a piece of the file's name",
}

// extras are finds that the guide does not have, and why.
var extras = map[string]string{
	"num 1.2.3":        "versions are values that agents use again",
	"ident HTTPServer": "a name like any other",
	"id 9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0": "a SHA-256 sum is an id",
}

// The thirty lines of the guide: every difference is one that is meant.
func TestEntitiesGuide(t *testing.T) {
	raw, err := os.ReadFile(corpus.Dir(t, "evaluation-entities.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []struct {
		Line     string
		Entities [][2]string
	}
	if err := json.Unmarshal(raw, &lines); err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		got := found(l.Line)
		for _, e := range l.Entities {
			k := e[0] + " " + e[1]
			if i := slices.Index(got, k); i >= 0 {
				got = slices.DeleteFunc(got, func(s string) bool { return s == k })
			} else if differs[k] == "" {
				t.Errorf("%s is missing in %q", k, l.Line)
			}
		}
		for _, k := range got {
			if extras[k] == "" {
				t.Errorf("%s is not in the guide for %q", k, l.Line)
			}
		}
	}
}

func TestEntitiesAllocateNothing(t *testing.T) {
	line := "fix `applyFold` in internal/plan/apply.go:142, see https://example.org/a and ABC-1234 (1,286.50)"
	n := 0
	if a := testing.AllocsPerRun(100, func() { Entities(line, func(EntityKind, string) { n++ }) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
	if n == 0 {
		t.Error("nothing found")
	}
}

func ExampleEntities() {
	Entities("go test --run TestApply failed in plan/apply.go:142 with TypeError", func(kind EntityKind, value string) {
		fmt.Println(kind, value)
	})
	// Output:
	// flag --run
	// ident TestApply
	// path plan/apply.go
	// num 142
	// err TypeError
}
