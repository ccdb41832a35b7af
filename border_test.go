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
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/winnow-llm/winnow"

// engine is every package of the engine, with the packages of this module that
// it may import: the border that DESIGN.md draws.
var engine = map[string][]string{
	"chat":     {},
	"token":    {"chat", "token/internal/boundary", "token/o200k"},
	"model":    {"chat", "token", "model/internal/fold"},
	"budget":   {"chat", "token"},
	"plan":     {"chat"},
	"evidence": {"chat", "internal/find", "internal/work"},
	"summary":  {"chat", "token", "evidence", "internal/ladder", "internal/quote", "internal/typed", "internal/work"},
	"stage":    {"chat", "token", "budget", "plan", "evidence", "summary", "internal/guard", "internal/ladder", "internal/quote", "internal/text", "internal/typed", "internal/work"},
	".":        {"chat", "token", "model", "budget", "plan", "evidence", "summary", "stage", "internal/guard", "internal/typed", "internal/work"},
	"recall":   {"chat", "plan", "internal/text"},

	"model/internal/fold": {},
	"internal/text":       {},
	"internal/find":       {},
	"internal/typed":      {"chat"},
	"internal/work":       {"chat", "internal/quote"},
	"internal/workset":    {"chat", "evidence", "internal/find", "internal/guard", "internal/work"},
	"internal/guard":      {"internal/text"},
	"internal/quote":      {},
	"internal/ladder":     {"chat", "token", "evidence", "internal/guard", "internal/quote", "internal/typed", "internal/work", "internal/workset"},
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
	"transport/planstore": {"chat", "token", "plan", "control", "transport/planstore/internal/pack"},
	"transport":           {".", "chat", "token", "model", "budget", "plan", "evidence", "summary", "wire", "recall", "control", "transport/planstore"},
	"gateway":             {"chat", "plan", "wire", "recall", "control", "transport", "transport/planstore"},
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

// The command alone chooses a database for plans.
func TestWhoImportsADatabase(t *testing.T) {
	for _, line := range goList(t, "-f", `{{.ImportPath}}:{{join .Imports ","}}`, "./...") {
		who, imports, _ := strings.Cut(line, ":")
		for _, database := range []string{"sqlite", "postgres"} {
			if slices.Contains(strings.Split(imports, ","), module+"/transport/planstore/"+database) &&
				who != module+"/internal/app" && who != module+"/internal/fleet" { // which measures it
				t.Errorf("%s imports the database of plans", who)
			}
		}
	}
}

// docs/house.md names the public packages that there are, and how many packages
// of others each layer needs. Sizes and lines are those of the day.
func TestHouse(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("docs", "house.md"))
	if err != nil {
		t.Fatal(err)
	}
	const hint = "; write it anew: scripts/house COMMIT > docs/house.md"
	_, packages, _ := strings.Cut(string(doc), "\n## Public packages\n")
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*$").FindAllStringSubmatch(packages, -1) {
		if !strings.Contains(row[0], "no longer public") {
			named = append(named, row[1])
		}
	}
	var public []string
	for _, p := range goList(t, "-f", `{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}`, "./...") {
		if !slices.Contains(strings.Split(p, "/"), "internal") {
			public = append(public, strings.TrimPrefix(strings.Replace(p, module, "winnow", 1), "winnow/"))
		}
	}
	slices.Sort(named)
	slices.Sort(public)
	if !slices.Equal(named, public) {
		t.Errorf("house.md names the public packages\n%q, there are\n%q%s", named, public, hint)
	}
	for label, pkg := range map[string]string{"winnow": module, "transport": module + "/transport", "gateway": module + "/gateway"} {
		others := 0
		for _, m := range goList(t, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg) {
			if m != module {
				others++
			}
		}
		row := regexp.MustCompile(`(?m)^\| ` + label + ` \| \d.*\| (\d+) \(\d+\) \|$`).FindStringSubmatch(string(doc))
		if row == nil || row[1] != strconv.Itoa(others) {
			t.Errorf("house.md says of %s %q; it needs %d packages of others%s", label, row, others, hint)
		}
	}
}

// docs/rows.md names tests that exist, and a test for every row.
func TestRowsNameTests(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("docs", "rows.md"))
	if err != nil {
		t.Fatal(err)
	}
	inside := map[string]string{
		"winnow": ".", "command": "internal/app", "replay": "internal/replay", "peers": "internal/peers", "viewer": "internal/app/viewer", "providersim": "internal/kit/providersim",
		"jsonl": "session/jsonl", "sqlite": "session/sqlite",
		"neurolink": "internal/neurolink", "classify": "wire/internal/classify", "pibase": "internal/pibase", "loop": "internal/app/loop", "config": "internal/config",
	}
	sources := make(map[string]string) // tests of a package
	source := func(pkg string) string {
		if _, ok := sources[pkg]; !ok {
			dir := pkg
			if inner, ok := inside[pkg]; ok {
				dir = inner
			}
			files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
			for _, f := range files {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[pkg] += string(b)
			}
		}
		return sources[pkg]
	}
	name := regexp.MustCompile(`([a-z]+)\.(Test\w+)`)
	row := regexp.MustCompile(`^\| ([ABS][0-9.]+) \|`)
	found := make(map[string]bool)
	for line := range strings.Lines(string(doc)) {
		names := name.FindAllStringSubmatch(line, -1)
		if r := row.FindStringSubmatch(line); r != nil {
			found[r[1]] = len(names) > 0
		}
		for _, n := range names {
			if !strings.Contains(source(n[1]), "func "+n[2]+"(") {
				t.Errorf("there is no %s in package %s", n[2], n[1])
			}
		}
	}
	for _, r := range strings.Fields("S0.1 S0.2 S0.3 S0.4 S0.5 S1.1 S1.2 S1.3 S1.4 S1.5 S1.6 S1.7 S1.8 S1.9 S1.10 S1.11 S1.12 S1.13 S1.14 S1.15 S2.1 S2.2 S2.3 S2.4 S2.5 S2.6 S3.1 S3.2 S3.3 S3.4 S3.5 S3.6 S3.7 S3.8 S3.9 S4.1 S4.2 S4.3 S4.4 S4.5 S4.6 S4.7 S4.8 S4.9 S4.10 S4.11 S4.12 S4.13 S4.14 S4.15 S4.16 S4.17 S4.18 S4.19 S4.20 S4.21 S4.22 S4.23 B1 B2 B3 B4 B5 B6 B7 B8 B9 B10 B11 B12 A1 A2 A3 A4 A5 A6 A7 A8 A9 A10") {
		if !found[r] {
			t.Errorf("row %s has no test", r)
		}
	}
}
