package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
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

// change is one way to change a function: a text in the place of a piece of it.
type change struct {
	from, to int
	text     string
	what     string
}

// source is a file that mutations are drawn from.
type source struct {
	name, text string
	set        *token.FileSet
	functions  []*ast.FuncDecl
}

// drawMutations returns n mutations that the seed chooses: a package, a function of it, and
// one of the changes that the function allows. Whether they build is found out when
// they are tried, so there are more than will be.
func drawMutations(root string, seed uint64, n int) ([]mutation, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	byPkg := make(map[string][]source)
	var list []mutation
	taken := make(map[string]bool)
	for tries := 0; len(list) < n && tries < 100*n; tries++ {
		pkg := mattering[r.IntN(len(mattering))]
		if byPkg[pkg] == nil {
			files, err := readSources(root, pkg)
			if err != nil {
				return nil, err
			}
			byPkg[pkg] = files
		}
		file, f := pickFunction(r, byPkg[pkg])
		changes := file.possibleChanges(f)
		if len(changes) == 0 {
			continue
		}
		c := changes[r.IntN(len(changes))]
		out := fmt.Sprintf("%s:%d %s: %s", file.name, strings.Count(file.text[:c.from], "\n")+1, f.Name.Name, c.what)
		if !taken[out] {
			taken[out] = true
			list = append(list, mutation{Row: fmt.Sprint("seed ", seed), Out: out, File: file.name, Old: file.text, New: file.text[:c.from] + c.text + file.text[c.to:]})
		}
	}
	return list, nil
}

// readSources reads the files of a package that are not tests.
func readSources(root, pkg string) ([]source, error) {
	names, err := fs.Glob(os.DirFS(filepath.Join(root, pkg)), "*.go")
	if err != nil {
		return nil, err
	}
	var files []source
	for _, name := range names {
		if built, err := build.Default.MatchFile(filepath.Join(root, pkg), name); err != nil || !built || strings.HasSuffix(name, "_test.go") {
			continue // a test, or a file for another system
		}
		data, err := os.ReadFile(filepath.Join(root, pkg, name))
		if err != nil {
			return nil, err
		}
		s := source{name: filepath.ToSlash(filepath.Join(pkg, name)), text: string(data), set: token.NewFileSet()}
		tree, err := parser.ParseFile(s.set, name, data, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				s.functions = append(s.functions, f)
			}
		}
		files = append(files, s)
	}
	return files, nil
}

// pickFunction chooses a function of a package.
func pickFunction(r *rand.Rand, files []source) (*source, *ast.FuncDecl) {
	n := 0
	for i := range files {
		n += len(files[i].functions)
	}
	k := r.IntN(n)
	for i := range files {
		if k < len(files[i].functions) {
			return &files[i], files[i].functions[k]
		}
		k -= len(files[i].functions)
	}
	panic("unreachable")
}

// possibleChanges lists what can be changed in a function: a condition is negated, a
// statement is dropped, a border or a number is off by one.
func (s *source) possibleChanges(f *ast.FuncDecl) []change {
	var all []change
	at := func(p token.Pos) int { return s.set.Position(p).Offset }
	add := func(n ast.Node, text, what string) {
		from, to := at(n.Pos()), at(n.End())
		all = append(all, change{from, to, text, what + " " + strconv.Quote(strings.Join(strings.Fields(s.text[from:to]), " "))})
	}
	source := func(n ast.Node) string { return s.text[at(n.Pos()):at(n.End())] }
	drop := func(list []ast.Stmt) {
		for _, n := range list {
			a, assigns := n.(*ast.AssignStmt)
			_, calls := n.(*ast.ExprStmt)
			_, counts := n.(*ast.IncDecStmt)
			if calls || counts || assigns && a.Tok != token.DEFINE {
				add(n, "{}", "drop")
			}
		}
	}
	borders := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			add(n.Cond, "!("+source(n.Cond)+")", "negate")
		case *ast.BlockStmt:
			drop(n.List)
		case *ast.CaseClause:
			drop(n.Body)
		case *ast.BinaryExpr:
			if other := borders[n.Op]; other != "" {
				add(n, source(n.X)+" "+other+" "+source(n.Y), "border")
			}
		case *ast.BasicLit:
			if k, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
				add(n, strconv.Itoa(k+1), "one more than")
			}
		}
		return true
	})
	return slices.DeleteFunc(all, func(c change) bool { return strings.Contains(c.what, "panic(") })
}

// tryDrawn tries drawn mutations against the tests of one driver after the other,
// until one notices, and prints what became of each. A driver that does not build
// on the changed package is left out. It ends when n were tried that build; with
// -write the page has them, one by one.
func tryDrawn(root, dir string, o *options, n int) error {
	list, err := drawMutations(root, o.seed, 2*n)
	if err != nil {
		return err
	}
	head, inside, tail, err := cutPage(root, drawn)
	if err != nil {
		return err
	}
	noticed := make(map[string]string)
	for _, f := range splitCells(inside) {
		if o.open && len(f) == 2 && f[1] != nobody {
			noticed[f[0]] = f[1]
		}
	}
	passed := make(map[string]string)
	tried, survived := 0, 0
	rows := fmt.Sprintf("| changed, drawn with seed %d | noticed by |\n|---|---|\n", o.seed)
	for i := range list {
		m := &list[i]
		name := strings.ReplaceAll(m.Out, "|", "¦")
		by, known := noticed[name]
		if !known {
			if by, err = m.findNoticingTest(root, dir, o, passed); err != nil {
				return err
			}
		}
		if by == broken {
			continue
		}
		if by == nobody {
			survived++
		}
		tried++
		fmt.Printf("%2d  %-40s  %s\n", tried, by, m.Out)
		rows += "| " + name + " | " + by + " |\n"
		if o.write {
			if err := os.WriteFile(filepath.Join(root, page), []byte(head+rows+tail), 0o644); err != nil {
				return err
			}
		}
		if tried == n {
			break
		}
	}
	fmt.Printf("%d mutations drawn with seed %d: %d noticed, %d not\n", tried, o.seed, tried-survived, survived)
	return nil
}

// nobody is what the page says where no driver's test notices.
const nobody = "**no driver's test**"

// findNoticingTest returns the first test of a driver that notices a drawn mutation.
func (m *mutation) findNoticingTest(root, dir string, o *options, passed map[string]string) (string, error) {
	for _, m.Pkg = range strings.Split(o.drivers, ",") {
		needs := exec.Command("go", "list", "-deps", "-test", "-f", "{{.Dir}}", m.Pkg)
		needs.Dir = root
		deps, err := needs.Output()
		if err != nil {
			return "", err
		}
		at, err := filepath.Abs(filepath.Join(root, filepath.Dir(m.File)))
		if err != nil {
			return "", err
		}
		if !slices.Contains(strings.Split(string(deps), "\n"), at) {
			continue
		}
		m.Test = o.tests
		says, text, err := m.try(root, dir, passed)
		switch {
		case err != nil:
			return "", err
		case says == broken:
			return broken, nil
		case says == fails:
			m.Test = "crashes or does not end"
			if f := regexp.MustCompile(`--- FAIL: ([^ ]+)`).FindStringSubmatch(text); f != nil {
				m.Test = f[1]
			}
			return m.testName(), nil
		case says != passes:
			return "", fmt.Errorf("%s: %s\n%s", m.Pkg, says, text)
		}
	}
	return nobody, nil
}
