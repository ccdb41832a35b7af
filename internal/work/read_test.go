package work

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/cputime"
)

func readCommand(t *testing.T, src string) *Call {
	t.Helper()
	args, err := json.Marshal(map[string]string{"command": src})
	if err != nil {
		t.Fatal(err)
	}
	call := chat.Call("1", "bash", string(args))
	return Read(&call, ToolShell, Context{Dir: "/w"})
}

// The example of the package's comment is true.
func TestExample(t *testing.T) {
	c := readCommand(t, "cd pkg && sed -n '10,20p' a.go && echo --- && gofmt -w a.go > log.$USER")
	if want := []Op{
		{Kind: Show, Path: "/w/pkg/a.go", From: 10, To: 20},
		{Kind: Run},
		{Kind: Unclear, Path: "/w/pkg/log.$USER", Whole: true, Unsure: true},
	}; !slices.Equal(c.Ops, want) {
		t.Errorf("operations %+v, want %+v", c.Ops, want)
	}
	if s := c.Streams; len(s) != 3 || s[0].Path != "/w/pkg/a.go" || s[0].From != 10 || s[0].Count != 11 || len(s[1].Literal) != 1 || s[1].Literal[0] != "---" || !s[2].Silent {
		t.Errorf("streams %+v", s)
	}
	if e := c.Effects; len(e) != 1 || e[0].Code != "-w a.go " || c.Folder != "/w/pkg" || !c.Clear {
		t.Errorf("effects %+v, folder %q", e, c.Folder)
	}
}

// What a program may have changed is known by its row in the table, or by what it
// runs.
func TestEffects(t *testing.T) {
	for src, want := range map[string]*Effect{
		"go test ./format/... -run TestGenerate": nil,
		"go generate ./...":                      {},
		"go get example.org/x":                   {Code: goFiles, Reach: NoOther},
		"npx prettier --check a.ts":              nil,
		"npx prettier --write a.ts":              {Code: "--write a.ts ", Reach: NoOther},
		"npx prettier --write 'src/*.ts'":        {Reach: Edited},
		"npx biome format --write a.ts b.ts":     {Code: "format --write a.ts b.ts ", Reach: NoOther},
		"npx biome check --write src":            {Reach: Edited},
		"golangci-lint run --fix ./...":          {Reach: Edited},
		"sqlfluff fix a.sql --dialect ansi -f":   {Code: "fix a.sql --dialect ansi -f ", Reach: NoOther},
		"sqlfluff fix --config c.cfg":            {Reach: Edited},
		"sqlfluff fix models":                    {Reach: Edited},
		"buf generate a.proto":                   {},
		"cp a.go ~/b.go":                         nil,
		"cp a.go $OUT/b.go":                      {Code: "$OUT/b.go", Reach: NoOther},
		"test -f x || cp a.go b.go":              {Code: "b.go", Reach: NoOther},
		"rm ~/a*.go":                             {Code: "~/a*.go ", Reach: NoOther},
		"black --check .":                        nil,
		"clang-format --dry-run a.c":             nil,
		"black .":                                {Reach: Edited},
		"git stash list":                         nil,
		"git pull --ff-only":                     {},
		"bash -c 'sed -n 1,20p a.go; go test'":   nil,
		"git -C sub checkout main":               {Code: "main ", Tree: Undo},
		"grep -rl x . | xargs sed -i s/x/y/":     {},
		"find . -name '*.go' -exec cat {} +":     nil,
		"bash -c 'bash -c \"cat > a\"'":          {Code: "\nbash -c \"cat > a\""},
		"python -m black .":                      {Reach: Edited},
		"python -m pytest":                       nil,
		"python gen.py":                          {Script: "/w/gen.py"},
		"make build":                             nil,
		"make fmt":                               {Reach: Edited},
	} {
		var got *Effect
		for _, e := range readCommand(t, src).Effects {
			e.Dir = ""
			got = &e
		}
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %+v, want %+v", src, got, want)
		}
	}
}

// Commands that make careless readers slow. The bound is far above what a slow
// machine needs and far below what quadratic work on such a text takes.
func TestLinear(t *testing.T) {
	const size, bound = 1 << 17, 3 * time.Second
	for _, piece := range []string{"xargs ", "bash -c ", "find . -exec ", "$(", "((", "\"$(", "`", "'", "<<E\n", "a <<E;", "{a,", "git -C a ", "sudo ", "sed -e a ", "cat a|", "npx ", "mv a b;"} {
		if d := cputime.Of(func() { readCommand(t, strings.Repeat(piece, size/len(piece))) }); d > bound {
			t.Errorf("128 kB of %q took %v", piece, d)
		}
	}
}
