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
func parseGo(lang *language, lines []string) (marks []mark) {
	src := strings.Join(lines, "\n")
	piece := !strings.HasPrefix(strings.TrimLeft(src, " \t\n"), "package ") && !strings.Contains(src, "\npackage ")
	if piece {
		src = "package p;" + src
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if file == nil {
		return lang.markDefinitions(lines, 0)
	}
	at := func(p token.Pos) token.Position { // whatever comments say of lines; what the parser makes up stands at the end
		return fset.PositionFor(min(max(p, 1), token.Pos(len(src)+1)), false)
	}
	show := func(from, to token.Pos, r rank) {
		m := mark{at(from).Line - 1, at(from).Line - 1, r, ""}
		m.text = lines[m.line]
		if n := len(marks); n > 0 && marks[n-1].line == m.line || !to.IsValid() && len(m.text) > outlineWidth { // it is data
			return
		}
		if to.IsValid() {
			m.last = at(max(from, to)).Line - 1
			m.text = strings.Join(strings.Fields(src[at(from).Offset:at(max(from, to)).Offset]), " ")
		}
		if len(m.text) > outlineWidth {
			m.text = m.text[:strings.LastIndexByte(m.text[:outlineWidth], ' ')+1] + "…"
		}
		marks = append(marks, m)
	}
	var errs scanner.ErrorList
	sound, read := len(lines), 0 // the line of the first error, and the one behind what was read last
	if errors.As(err, &errs) {
		sound = errs[0].Pos.Line - 1
	}
	if name := at(file.Name.End()); !piece && name.Line <= sound {
		show(file.Package, file.Name.End(), heading)
		read = name.Line
	}
	for _, d := range file.Decls {
		if end := at(d.End()); end.Line <= sound {
			showGo(d, show)
			read = end.Line
		}
	}
	if sound < len(lines) {
		marks = append(marks, lang.markDefinitions(lines, read)...)
	}
	return marks
}

// showGo shows the source of what a declaration declares, between two positions; the line
// of the first as it is where there is no second.
func showGo(d ast.Decl, show func(from, to token.Pos, r rank)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		show(d.Pos(), d.Type.End(), signature)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ImportSpec:
				show(s.Pos(), s.End(), imported)
			case *ast.ValueSpec:
				show(s.Pos(), token.NoPos, value)
			case *ast.TypeSpec:
				show(s.Pos(), token.NoPos, signature)
				if t, ok := s.Type.(*ast.InterfaceType); ok {
					for _, m := range t.Methods.List {
						show(m.Pos(), m.End(), signature)
					}
				}
			}
		}
	}
}
