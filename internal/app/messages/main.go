// Command messages prints everything that the command can print, in one text to be
// read in one sitting: the help of every command, and the sentences in the source.
//
//	go run ./internal/app/messages > bin/messages.txt
//
// A sentence is a string of several words outside of tests. It stands with its
// place, so that it can be found and mended. Sentences for models (summaries,
// markers) are among them: people read those too.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/winnow-llm/winnow/internal/app"
)

// left are the folders whose strings nobody sees: test kits, tools, measurement of
// others, generated data.
var left = []string{"internal/kit", "internal/app/sweep", "internal/app/mutate", "internal/app/messages", "internal/app/release", "internal/app/compat", "internal/app/ptytest", "internal/app/agents/agenthome", "internal/pg/pgtest", "internal/app/peers", "tools", "e2e", "docs", "examples", "dist", "bin"}

func main() {
	if err := run(os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, "messages:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, root string) error {
	fmt.Fprintln(w, "# Help")
	for _, name := range commands(nil) {
		fmt.Fprintf(w, "\n## winnow %s\n\n%s", strings.Join(name, " "), help(name))
	}
	fmt.Fprintln(w, "\n# Sentences")
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if e.IsDir() {
			if path != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata" || e.Name() == "node_modules" || slices.Contains(left, rel)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || strings.HasSuffix(rel, "_gen.go") {
			return nil
		}
		found, err := sentences(path)
		if err != nil || len(found) == 0 {
			return err
		}
		fmt.Fprintf(w, "\n## %s\n\n", rel)
		for _, s := range found {
			fmt.Fprintf(w, "%4d  %s\n", s.line, s.text)
		}
		return nil
	})
}

// help is what a command says of itself.
func help(name []string) string {
	var out bytes.Buffer
	app.Run(append([]string{"help"}, name...), strings.NewReader(""), &out, &out)
	return out.String()
}

// commands lists the commands below one, itself first, as its help names them.
func commands(under []string) [][]string {
	all := [][]string{under}
	var doc struct{ Commands []string }
	if err := json.Unmarshal([]byte(help(append(under[:len(under):len(under)], "--json"))), &doc); err != nil {
		panic(err) // every help is one document
	}
	for _, name := range doc.Commands {
		if name != "help" {
			all = append(all, commands(append(under[:len(under):len(under)], name))...)
		}
	}
	return all
}

type sentence struct {
	line int
	text string
}

// sentences returns the strings of several words in a file. A constant in several
// pieces is put together.
func sentences(path string) ([]sentence, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []sentence
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BasicLit:
			if n.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(n.Value)
			if err == nil && words(text) >= 3 {
				out = append(out, sentence{fset.Position(n.Pos()).Line, strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ")})
			}
		}
		return true
	})
	return out, nil
}

// words counts words: runs of letters.
func words(s string) int {
	return len(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' }))
}
