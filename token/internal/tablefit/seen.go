package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/winnow-llm/winnow/internal/input"
	"github.com/winnow-llm/winnow/token/internal/boundary"
)

// readSeen returns a table with a one for every three classes that stand beside
// each other in a text or in a file of sessions.
func readSeen(sessions string, texts []text) (*boundary.Table, error) {
	seen := new(boundary.Table)
	note := func(prev, cur, next uint8) { seen[boundary.Index(prev, cur, next)] = 1 }
	for i := range texts {
		boundary.Each(texts[i].Text, note)
	}
	// The files are JSON; of its escapes these are the ones that hide most.
	plain := strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\t`, "\t", `\\`, `\`)
	err := filepath.WalkDir(sessions, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := input.File(path, 1<<30)
		if err == nil {
			data, _, err = input.Plain(data, 1<<30)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		boundary.Each(plain.Replace(string(data)), note)
		return nil
	})
	return seen, err
}
