package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// exportedNames counts the exported functions, types, variables, constants and
// methods of a package. Fields and methods of interfaces belong to their types.
func exportedNames(dir string, files []string) (int, error) {
	n := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return 0, err
		}
		for _, d := range f.Decls {
			n += exported(d)
		}
	}
	return n, nil
}

func exported(d ast.Decl) (n int) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
			n++
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					n++
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}

// receiver is the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// area is a part of the tree whose code is counted together. A package belongs
// to the first area with a prefix of its path, in the layout of today or in an
// earlier one.
type area struct {
	name     string
	prefixes []string
}

var areas = []area{
	{"evidence, summary and the working set", []string{"evidence", "summary", "internal/workset"}},
	{"measurement", []string{"replay", "internal/replay", "internal/peers", "internal/sweep"}},
	{"test kits", []string{
		"internal/kit", "internal/agentclient", "internal/compat", "internal/corpus", "internal/cputime", "internal/largejson", "internal/memnet",
		"internal/providersim", "internal/ptytest", "internal/randhist", "internal/replaygen", "session/sessiontest", "transport/planstore/storetest",
	}},
	{"everything else", []string{""}},
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// codeLines counts, by area, the lines of Go with code on them: no tests, no
// comments, no blank lines, no generated files.
func codeLines(all []listed, module string) (map[string]int, error) {
	lines := map[string]int{}
	for _, l := range all {
		inside := strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, module), "/")
		at := slices.IndexFunc(areas, func(a area) bool {
			return slices.ContainsFunc(a.prefixes, func(p string) bool { return p == "" || inside == p || strings.HasPrefix(inside, p+"/") })
		})
		for _, name := range l.GoFiles {
			text, err := os.ReadFile(filepath.Join(l.Dir, name))
			if err != nil {
				return nil, err
			}
			if !generated.Match(text) {
				lines[areas[at].name] += linesOf(text)
			}
		}
	}
	return lines, nil
}

// linesOf counts the lines that a token stands on.
func linesOf(text []byte) int {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // put there by the scanner
		}
		first := file.Line(pos)
		for i := range strings.Count(literal, "\n") + 1 {
			lines[first+i] = true
		}
	}
}
