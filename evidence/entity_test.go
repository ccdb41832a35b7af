package evidence

import (
	"fmt"
	"strings"
	"testing"
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
		{"mail me@example.org or @scope/pkg", "id me@example.org"},
		{"日本語のfileName.goを参照 naïve", ""},
	}
	for _, tt := range tests {
		if got := strings.Join(found(tt.line), "; "); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.line, got, tt.want)
		}
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
