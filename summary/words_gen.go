//go:build ignore

// This program writes common.txt: the words that programmers' English is made
// of, by how common they are, counted in the comments of the Go distribution.
// Run it with go run words_gen.go in this folder.
package main

import (
	"go/build"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A word's tier is the number of folders it occurs in.
var tiers = []int{200, 100, 50, 25, 12}

func main() {
	word := regexp.MustCompile(`(?:^|[^\w./-])([A-Za-z]?[a-z]{4,29})(?:$|[^\w/-])`)
	folders := map[string]map[string]bool{}
	root := build.Default.GOROOT
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			_, comment, ok := strings.Cut(line, "//")
			if !ok {
				continue
			}
			// Blanks are doubled so that neighbouring words do not share one.
			for _, m := range word.FindAllStringSubmatch(strings.ReplaceAll(comment, " ", "  "), -1) {
				w := strings.ToLower(m[1])
				if folders[w] == nil {
					folders[w] = map[string]bool{}
				}
				folders[w][filepath.Dir(path)] = true
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	list := make([][]string, len(tiers))
	for w, in := range folders {
		for i, least := range tiers {
			if len(in) >= least {
				list[i] = append(list[i], w)
				break
			}
		}
	}
	var b strings.Builder
	for _, words := range list {
		slices.Sort(words)
		b.WriteString(strings.Join(words, " "))
		b.WriteByte('\n')
	}
	if err := os.WriteFile("common.txt", []byte(b.String()), 0o644); err != nil {
		log.Fatal(err)
	}
}
