package ladder

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// parseGo finds what Go source defines. Of a piece of a file, what comes behind the
// first error is read by the rules on lines.
func parseGo(lang *language, lines []string) []mark {
	src := strings.Join(lines, "\n")
	at := 0 // the byte at which the lines begin
	if !strings.HasPrefix(strings.TrimLeft(src, " \t\n"), "package ") && !strings.Contains(src, "\npackage ") {
		const head = "package p;"
		src, at = head+src, len(head)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if file == nil {
		return lang.markDefinitions(lines, 0)
	}
	g := goLines{lines: lines, src: src, fset: fset, until: len(lines)}
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		g.until = list[0].Pos.Line - 1
	}
	if at == 0 && g.lineOf(file.Package) < g.until {
		g.addSource(file.Package, file.Name.End(), heading)
	}
	last := 0 // the line behind what was read last
	if len(g.marks) > 0 {
		last = g.lineOf(file.Name.End()) + 1
	}
	for _, d := range file.Decls {
		if g.lineOf(d.End()) >= g.until {
			break
		}
		g.addDeclaration(d)
		last = g.lineOf(d.End()) + 1
	}
	if g.until < len(lines) {
		g.marks = append(g.marks, lang.markDefinitions(lines, last)...)
	}
	return g.marks
}

// goLines collects the lines of declarations.
type goLines struct {
	lines []string
	src   string
	fset  *token.FileSet
	until int // the line of the first error
	marks []mark
}

// positionOf returns where a position stands in the source, whatever its comments say of
// lines. What the parser makes up for a piece that breaks off stands at its end.
func (g *goLines) positionOf(p token.Pos) token.Position {
	return g.fset.PositionFor(min(max(p, 1), token.Pos(len(g.src)+1)), false)
}

// lineOf returns the index of a position's line.
func (g *goLines) lineOf(p token.Pos) int { return g.positionOf(p).Line - 1 }

// addSource shows the source between two positions as one line.
func (g *goLines) addSource(from, to token.Pos, r rank) {
	text := g.src[g.positionOf(from).Offset:g.positionOf(max(from, to)).Offset]
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > outlineWidth {
		text = text[:strings.LastIndexByte(text[:outlineWidth], ' ')+1] + "…"
	}
	g.addMark(g.lineOf(from), g.lineOf(to), r, text)
}

// addMark shows a line that is not shown yet.
func (g *goLines) addMark(i, last int, r rank, text string) {
	if n := len(g.marks); n > 0 && g.marks[n-1].line == i {
		return
	}
	g.marks = append(g.marks, mark{i, last, r, text})
}

// addWholeLine shows the line that a position stands in as it is.
func (g *goLines) addWholeLine(p token.Pos, r rank) {
	if i := g.lineOf(p); len(g.lines[i]) <= outlineWidth {
		g.addMark(i, i, r, g.lines[i])
	}
}

func (g *goLines) addDeclaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		g.addSource(d.Pos(), d.Type.End(), signature)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ImportSpec:
				g.addSource(s.Pos(), s.End(), imported)
			case *ast.ValueSpec:
				g.addWholeLine(s.Pos(), value)
			case *ast.TypeSpec:
				g.addWholeLine(s.Pos(), signature)
				if t, ok := s.Type.(*ast.InterfaceType); ok {
					for _, m := range t.Methods.List {
						g.addSource(m.Pos(), m.End(), signature)
					}
				}
			}
		}
	}
}
