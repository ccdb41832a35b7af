package o200k

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestMin(t *testing.T) {
	m := map[string]*strings.Builder{}
	order := []string{"mixed"}
	m["mixed"] = &strings.Builder{}
	for _, c := range counted(t) {
		if m[c.Class] == nil {
			m[c.Class] = &strings.Builder{}
			order = append(order, c.Class)
		}
		m[c.Class].WriteString(c.Text + "\n")
		m["mixed"].WriteString(c.Text + "\n")
	}
	for i, k := range order {
		s := m[k].String()
		best, cold := time.Hour, time.Hour
		n := 40
		if i == 0 {
			n = 80
		}
		for range n {
			a := time.Now()
			Count(s)
			best = min(best, time.Since(a))
		}
		for range n {
			v := load()
			for i := range v.cache {
				v.cache[i][0].state.Store(0)
				v.cache[i][1].state.Store(0)
			}
			a := time.Now()
			Count(s)
			cold = min(cold, time.Since(a))
		}
		np := len(pieces(s))
		multi := 0
		Each(s, func(p string, n int) {
			if n > 1 {
				multi++
			}
		})
		fmt.Printf("%-12s warm %6.1f cold %6.1f MB/s  pieces %d multi %d  %.1f ns/piece\n", k, float64(len(s))/1e6/best.Seconds(), float64(len(s))/1e6/cold.Seconds(), np, multi, float64(best.Nanoseconds())/float64(np))
	}
	best := time.Hour
	for range 20 {
		a := time.Now()
		unpack()
		best = min(best, time.Since(a))
	}
	fmt.Println("load", best)
}
