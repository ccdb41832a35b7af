// Command table prints the rows of runs as tables: table ROWS.
package main

import (
	"fmt"
	"os"

	"github.com/winnow-llm/winnow/e2e/agents/rows"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: table ROWS")
		os.Exit(2)
	}
	f, err := os.Open(os.Args[1])
	if err == nil {
		err = rows.Print(os.Stdout, f)
		_ = f.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}
