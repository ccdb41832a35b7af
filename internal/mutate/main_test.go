package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The table follows the code: each text that it replaces stands where it says.
func TestTable(t *testing.T) {
	root := filepath.Join("..", "..")
	list, err := read(root)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d mutations: %v", len(list), err)
	}
	for i := range list {
		m := &list[i]
		if m.Row == "" || m.Out == "" || m.Pkg == "" || m.Test == "" {
			t.Errorf("mutation %d (%s) lacks a field", i+1, m.Row)
		}
		text, err := os.ReadFile(filepath.Join(root, m.File))
		if err != nil {
			t.Errorf("%s: %v", m.Row, err)
			continue
		}
		if got, err := m.apply(string(text)); err != nil {
			t.Error(err)
		} else if got == string(text) {
			t.Errorf("%s: nothing is taken out", m.Row)
		}
	}
}
