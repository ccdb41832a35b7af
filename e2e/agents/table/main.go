// Command table puts the rows of runs into a document: table [facts] ROWS DOCUMENT.
// Without a document it prints the table. With facts they are those of agents that
// read files.
package main

import (
	"fmt"
	"io"
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
	write, mark := table, rows.Begin
	if len(args) > 0 && args[0] == "facts" {
		write, mark, args = facts, rows.BeginFacts, args[1:]
	}
	if len(args) != 1 && len(args) != 2 {
		return fmt.Errorf("usage: table [facts] ROWS [DOCUMENT]")
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	var b strings.Builder
	if err := write(f, &b); err != nil {
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
	text, err := rows.Replace(string(doc), mark, b.String())
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], []byte(text), 0o644)
}

func table(r io.Reader, w io.Writer) error {
	list, err := rows.Read(r)
	if err != nil {
		return err
	}
	return rows.Table(w, list)
}

func facts(r io.Reader, w io.Writer) error {
	list, err := rows.ReadFacts(r)
	if err != nil {
		return err
	}
	return rows.Facts(w, list)
}
