package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mattering are the packages that mutations are drawn from: what decides, what is
// sent, and what is kept.
var mattering = []string{
	".", "chat", "internal/budget", "internal/ladder", "internal/typed", "internal/work", "internal/workset", "plan",
	"session", "session/jsonl", "stage", "summary", "transport", "wire",
}

// drivenBy are the packages whose tests drawn mutations are tried against, in this order.
var drivenBy = []string{".", "./session", "./transport", "./gateway", "./internal/app"}

// function is one that mutations are drawn from.
type function struct {
	*ast.FuncDecl
	file, text string // of its file
	set        *token.FileSet
}

// drawMutations returns n mutations that the seed chooses: a package, a function of it, and
// one of the changes that the function allows. Whether they build is found out when
// they are tried, so there are more than will be.
func drawMutations(root string, seed uint64, n int) ([]mutation, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	byPkg := make(map[string][]function)
	for _, pkg := range mattering {
		var err error
		if byPkg[pkg], err = readFunctions(root, pkg); err != nil {
			return nil, err
		}
	}
	var list []mutation
	for tries := 0; len(list) < n && tries < 100*n; tries++ {
		all := byPkg[mattering[r.IntN(len(mattering))]]
		changes := all[r.IntN(len(all))].possibleChanges()
		if len(changes) == 0 {
			continue
		}
		m := changes[r.IntN(len(changes))]
		m.Row = fmt.Sprint("seed ", seed)
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list, nil
}

// readFunctions reads the functions of a package, its tests left out.
func readFunctions(root, pkg string) ([]function, error) {
	built, err := build.ImportDir(filepath.Join(root, pkg), 0)
	if err != nil {
		return nil, err
	}
	var all []function
	for _, name := range built.GoFiles {
		data, err := os.ReadFile(filepath.Join(root, pkg, name))
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, name, data, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				all = append(all, function{f, filepath.ToSlash(filepath.Join(pkg, name)), string(data), set})
			}
		}
	}
	return all, nil
}

// possibleChanges lists what can be changed in a function: a condition is negated, a
// statement is dropped, a border or a number is off by one.
func (f *function) possibleChanges() []mutation {
	var all []mutation
	source := func(n ast.Node) (from int, text string) {
		from = f.set.Position(n.Pos()).Offset
		return from, f.text[from:f.set.Position(n.End()).Offset]
	}
	add := func(n ast.Node, what string, change func(was string) string) {
		from, was := source(n)
		line := strings.Count(f.text[:from], "\n") + 1
		out := fmt.Sprintf("%s:%d %s: %s %q", f.file, line, f.Name.Name, what, strings.Join(strings.Fields(was), " "))
		if !strings.Contains(was, "panic(") {
			all = append(all, mutation{Out: out, File: f.file, Old: f.text, New: f.text[:from] + change(was) + f.text[from+len(was):]})
		}
	}
	drop := func(list []ast.Stmt) {
		for _, n := range list {
			a, assigns := n.(*ast.AssignStmt)
			_, calls := n.(*ast.ExprStmt)
			_, counts := n.(*ast.IncDecStmt)
			if calls || counts || assigns && a.Tok != token.DEFINE {
				add(n, "drop", func(string) string { return "{}" })
			}
		}
	}
	borders := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			add(n.Cond, "negate", func(was string) string { return "!(" + was + ")" })
		case *ast.BlockStmt:
			drop(n.List)
		case *ast.CaseClause:
			drop(n.Body)
		case *ast.BinaryExpr:
			if other := borders[n.Op]; other != "" {
				add(n, "border", func(was string) string {
					_, left := source(n.X)
					_, right := source(n.Y)
					return left + " " + other + " " + right
				})
			}
		case *ast.BasicLit:
			if k, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
				add(n, "one more than", func(string) string { return strconv.Itoa(k + 1) })
			}
		}
		return true
	})
	return all
}

// tryDrawn tries drawn mutations against the tests of one driver after the other, until
// one notices, and prints what became of each. It ends when n were tried that build; with
// -write the page has them then.
func (t *trial) tryDrawn(n int, seed uint64) error {
	list, err := drawMutations(t.root, seed, 2*n)
	if err != nil {
		return err
	}
	rows := fmt.Sprintf("| changed, drawn with seed %d | noticed by |\n|---|---|\n", seed)
	tried, survived := 0, 0
	for i := 0; i < len(list) && tried < n; i++ {
		m := &list[i]
		by, err := t.findNoticingTest(m)
		if err != nil {
			return err
		}
		if by == broken {
			continue
		}
		if by == nobody {
			survived++
		}
		tried++
		fmt.Printf("%2d  %-40s  %s\n", tried, by, m.Out)
		rows += "| " + strings.ReplaceAll(m.Out, "|", "¦") + " | " + by + " |\n"
	}
	fmt.Printf("%d mutations drawn with seed %d: %d noticed, %d not\n", tried, seed, tried-survived, survived)
	if !t.write {
		return nil
	}
	return replaceOnPage(t.root, drawn, rows)
}

// nobody is what the page says where no driver's test notices.
const nobody = "**no driver's test**"

// failed finds the name of a test in what go test prints.
var failed = regexp.MustCompile(`--- FAIL: ([^ ]+)`)

// findNoticingTest returns the first test of a driver that notices a drawn mutation. A
// driver that does not build on the changed package is left out.
func (t *trial) findNoticingTest(m *mutation) (string, error) {
	at, err := filepath.Abs(filepath.Join(t.root, filepath.Dir(m.File)))
	if err != nil {
		return "", err
	}
	for _, m.Pkg = range drivenBy {
		needs := exec.Command("go", "list", "-deps", "-test", "-f", "{{.Dir}}", m.Pkg)
		needs.Dir = t.root
		deps, err := needs.Output()
		if err != nil {
			return "", err
		}
		if !slices.Contains(strings.Split(string(deps), "\n"), at) {
			continue
		}
		m.Test = "Test.*"
		says, text, err := t.try(m)
		switch {
		case err != nil:
			return "", err
		case says == broken:
			return broken, nil
		case says == fails:
			m.Test = "crashes or does not end"
			if f := failed.FindStringSubmatch(text); f != nil {
				m.Test = f[1]
			}
			return m.testName(), nil
		case says != passes:
			return "", fmt.Errorf("%s: %s\n%s", m.Pkg, says, text)
		}
	}
	return nobody, nil
}
