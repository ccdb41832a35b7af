// Command largejson writes the request body that benchmarks use: 10,000
// messages, about 5 MB and a million tokens.
package main

import (
	"fmt"
	"os"

	"github.com/winnow-llm/winnow/internal/app/demo"
)

func main() {
	if _, err := os.Stdout.Write(demo.Large(10000)); err != nil {
		fmt.Fprintln(os.Stderr, "largejson:", err)
		os.Exit(1)
	}
}
