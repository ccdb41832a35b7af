package winnow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/winnow-llm/winnow"

// engine is every package of the engine, with the packages of this module that
// it may import: a package that is not named here stays out of it.
var engine = map[string][]string{
	"chat":            {},
	"token":           {"chat", "token/internal/boundary", "internal/o200k"},
	"model":           {"chat", "token", "model/internal/fold"},
	"internal/budget": {"chat", "token", "plan", "internal/text"},
	"plan":            {"chat"},
	"summary":         {"chat", "token", "internal/find", "internal/ladder", "internal/quote", "internal/typed", "internal/work"},
	"stage":           {"chat", "token", "internal/budget", "plan", "summary", "internal/guard", "internal/ladder", "internal/quote", "internal/text", "internal/typed", "internal/work", "internal/workset"},
	".":               {"chat", "token", "model", "internal/budget", "plan", "summary", "stage", "internal/guard", "internal/notes", "internal/typed", "internal/work", "wire"},
	"recall":          {"chat", "plan", "internal/search", "internal/text", "internal/toolcall"},

	"wire":                   {"chat", "plan", "internal/decode", "internal/jsonspan", "internal/jsonwrite", "internal/text", "wire/internal/classify"},
	"wire/internal/classify": {"internal/decode"},
	"internal/decode":        {"chat", "internal/jsonspan", "internal/text"},

	"model/internal/fold": {},
	"internal/o200k":      {},
	"internal/text":       {},
	"internal/toolcall":   {},
	"internal/find":       {},
	"internal/search":     {},
	"internal/jsonspan":   {},
	"internal/jsonwrite":  {},
	"internal/typed":      {"chat", "internal/find"},
	"internal/work":       {"chat", "internal/find", "internal/jsonspan", "internal/quote"},
	"internal/workset":    {"chat", "internal/find", "internal/guard", "internal/work"},
	"internal/guard":      {"internal/text"},
	"internal/quote":      {"internal/text"},
	"internal/ladder":     {"chat", "token", "internal/find", "internal/guard", "internal/notes", "internal/quote", "internal/typed", "internal/work", "internal/workset"},
	"internal/notes":      {"internal/quote"},
}

// jsontext is the only module besides the standard library.
const jsontext = "github.com/go-json-experiment/json"

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Fields(string(out))
}

func enginePaths() []string {
	var all []string
	for p := range engine {
		all = append(all, "./"+p)
	}
	slices.Sort(all)
	return all
}

// The engine stands on the standard library and jsontext, and reaches no
// network and no other process, however indirectly.
func TestBorderOfTheEngine(t *testing.T) {
	for _, dep := range goList(t, append([]string{"-deps"}, enginePaths()...)...) {
		first, _, _ := strings.Cut(dep, "/")
		switch {
		case dep == module || strings.HasPrefix(dep, module+"/"):
			name := strings.TrimPrefix(strings.TrimPrefix(dep, module), "/")
			if _, ok := engine[path.Join(".", name)]; !ok && !strings.HasPrefix(name, "token/") {
				t.Errorf("the engine imports %s, which is no part of it", dep)
			}
		case dep == jsontext+"/jsontext" || strings.HasPrefix(dep, jsontext+"/internal"):
		case strings.Contains(first, "."):
			t.Errorf("the engine imports %s", dep)
		case first == "net" || dep == "os/exec" || dep == "plugin" || dep == "os/signal" || dep == "os/user":
			t.Errorf("the engine reaches %s", dep)
		}
	}
}

// Packages import only those below them, and none of them reads files, the
// clock or chance by itself. Package os is reached through fmt and embed alone.
func TestBordersInsideTheEngine(t *testing.T) {
	barred := []string{"os", "net", "net/http", "os/exec", "io/ioutil", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog", "path/filepath", "syscall"}
	for _, dir := range enginePaths() {
		name := path.Join(".", dir)
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(src), "//go:build ignore") {
				continue // a generator
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, imp := range f.Imports {
				p := strings.Trim(imp.Path.Value, `"`)
				if slices.Contains(barred, p) {
					t.Errorf("%s imports %s", file, p)
				}
				if in, ok := strings.CutPrefix(p, module+"/"); ok && !slices.Contains(engine[name], in) {
					t.Errorf("%s imports %s, which stands beside or above it", file, p)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if file == filepath.Join("summary", "llm.go") && s.Sel.Name == "NewTimer" {
						return true // the default wait between calls to a model; callers can replace it
					}
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Tick", "Sleep", "NewTimer", "NewTicker"}, s.Sel.Name) {
						t.Errorf("%s uses the clock: time.%s", file, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// drivers are the packages that put the engine into the path of an HTTP call,
// with the packages of this module that they may import besides those in
// internal. The gateway speaks HTTP and leaves the engine to the transport.
var drivers = map[string][]string{
	"internal/planstore": {"chat", "token", "plan", "control"},
	"transport":          {".", "chat", "token", "model", "budget", "plan", "summary", "llm", "wire", "recall", "control"},
	"gateway":            {"chat", "plan", "wire", "recall", "control", "transport"},
}

// A program with a transport or a gateway whose plans are kept in memory links
// no database, no terminal, no session and no MCP.
func TestBordersOfTheDrivers(t *testing.T) {
	barred := []string{"database/sql", "modernc.org/", "github.com/jackc/", "github.com/riverqueue/", "github.com/spf13/", "charm.land/", module + "/session", module + "/internal/app", module + "/transport/planstore/sqlite", module + "/transport/planstore/postgres", module + "/internal/pg", "github.com/modelcontextprotocol/"}
	for name, may := range drivers {
		for _, dep := range goList(t, "-deps", "./"+name) {
			for _, b := range barred {
				if strings.HasPrefix(dep, b) {
					t.Errorf("%s reaches %s", name, dep)
				}
			}
		}
		for _, dep := range goList(t, "-f", `{{join .Imports "\n"}}`, "./"+name) {
			in := path.Join(".", strings.TrimPrefix(strings.TrimPrefix(dep, module), "/"))
			if (dep == module || strings.HasPrefix(dep, module+"/")) && !slices.Contains(may, in) && !strings.HasPrefix(in, "internal/") {
				t.Errorf("%s imports %s, which is not its business", name, dep)
			}
		}
	}
}

// What this module requires every program with winnow requires too, and nothing that
// a database, a cloud, the gateway or the command needs is among it: those are modules
// of their own.
func TestRequirements(t *testing.T) {
	data, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) v`).FindAllStringSubmatch(string(data), -1) {
		got = append(got, m[1])
	}
	want := []string{
		jsontext, "github.com/google/go-cmp", "github.com/klauspost/compress", "golang.org/x/sync", "pgregory.net/rapid",
	} // go-cmp and rapid for tests
	if !slices.Equal(got, want) || strings.Contains(string(data), "replace") {
		t.Errorf("go.mod requires\n%q, want\n%q and nothing replaced", got, want)
	}
}

// The command alone chooses a database for plans.
func TestWhoImportsADatabase(t *testing.T) {
	for _, line := range goList(t, "-f", `{{.ImportPath}}:{{join .Imports ","}}`, "work") {
		who, imports, _ := strings.Cut(line, ":")
		for _, database := range []string{"sqlite", "postgres"} {
			if slices.Contains(strings.Split(imports, ","), module+"/transport/planstore/"+database) &&
				who != module+"/internal/app" && who != module+"/internal/app/fleet" { // which measures it
				t.Errorf("%s imports the database of plans", who)
			}
		}
	}
}
