// Command table puts the rows of runs into a document: table ROWS DOCUMENT.
// Without a document it prints the table.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/winnow-llm/winnow/e2e/agents/rows"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 && len(args) != 2 {
		return fmt.Errorf("usage: table ROWS [DOCUMENT]")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	list, err := rows.Read(f)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := rows.Table(&b, list); err != nil {
		return err
	}
	if len(args) == 1 {
		fmt.Print(b.String())
		return nil
	}
	doc, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	text, err := rows.Replace(string(doc), b.String())
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], []byte(text), 0o644)
}
