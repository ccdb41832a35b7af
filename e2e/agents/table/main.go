// Command table prints the rows of runs as a table: table ROWS. With facts they are
// those of agents that read files, with recall those in which handles were redeemed,
// and a document can take them: table facts ROWS DOCUMENT.
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
	write, most, name := writeRows(rows.Table), 1, ""
	if len(args) > 0 {
		switch name = args[0]; name {
		case "facts":
			write, most, args = writeFacts, 2, args[1:]
		case "recall":
			write, most, args = writeRows(rows.Recalls), 2, args[1:]
		}
	}
	if len(args) < 1 || len(args) > most {
		return fmt.Errorf("usage: table ROWS, or table facts|recall ROWS [DOCUMENT]")
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
	text, err := rows.Replace(string(doc), name, b.String())
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], []byte(text), 0o644)
}

// writeRows writes rows by one of their tables.
func writeRows(table func(io.Writer, []rows.Row) error) func(io.Reader, io.Writer) error {
	return func(r io.Reader, w io.Writer) error {
		list, err := rows.Read(r)
		if err != nil {
			return err
		}
		return table(w, list)
	}
}

func writeFacts(r io.Reader, w io.Writer) error {
	list, err := rows.ReadFacts(r)
	if err != nil {
		return err
	}
	return rows.Facts(w, list)
}
