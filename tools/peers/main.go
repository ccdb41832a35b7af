// Command peers measures how fast winnow is, beside other programs that do the
// same work, in one run and in turns, so that a busy machine slows all of them
// alike. It prints one table.
//
//	go run .                        everything
//	go run . -only count -rounds 3  one group, fewer rounds
//
// Peers in Go are compiled in. Those for Node are installed from package-lock.json
// into node/node_modules on the first run; without node or npm their rows say so.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	rounds := flag.Int("rounds", 8, "how often everything is measured; the best counts")
	only := flag.String("only", "", "measure only groups whose name starts with this: "+strings.Join(groupNames(), ", "))
	flag.Parse()
	if err := run(*rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// groups are the parts of the table.
var groups = []struct {
	name string
	make func(*bench) error
}{
	{"count", counting},
	{"errors", countingErrors},
	{"worst", worst},
	{"engine", engine},
	{"summary", builtin},
	{"codec", codecs},
	{"store", stores},
	{"command", command},
}

func groupNames() []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

func run(rounds int, only string) error {
	b := &bench{rounds: rounds, node: startNode()}
	defer b.close()
	for _, g := range groups {
		if !strings.HasPrefix(g.name, only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s\n", g.name)
		if err := g.make(b); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	b.print(os.Stdout)
	return nil
}
