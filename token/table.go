package token

import (
	"bytes"
	"compress/flate"
	"embed"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/winnow-llm/winnow/token/internal/boundary"
)

//go:generate go run ./internal/tablefit

//go:embed tables/*.flate
var tableFiles embed.FS

// tables holds a loader per table: reading one takes a few milliseconds, and
// only what is used is read.
var tables = func() map[string]func() *boundary.Table {
	m := make(map[string]func() *boundary.Table)
	for _, p := range profiles {
		m[p.table] = sync.OnceValue(func() *boundary.Table { return readTable(p.table) })
	}
	return m
}()

func readTable(name string) *boundary.Table {
	packed, err := tableFiles.ReadFile("tables/" + name + ".flate")
	if err != nil {
		panic(fmt.Sprintf("token: the boundary table %s is not in the binary: %v", name, err))
	}
	t := new(boundary.Table)
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(packed)), t[:]); err != nil {
		panic(fmt.Sprintf("token: the boundary table %s is damaged: %v", name, err))
	}
	return t
}

// estimator returns the function that estimates text with a family's table.
func estimator(p *profile) func(string) float64 {
	load, scale, threes := tables[p.table], p.scale, boundary.DigitsInThrees(p.table)
	return func(s string) float64 { return load().Estimate(s, threes) * scale }
}

// byTable is the same in whole tokens.
func byTable(p *profile) func(string) int {
	estimate := estimator(p)
	return func(s string) int { return int(math.Round(estimate(s))) }
}
