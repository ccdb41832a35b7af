package boundary

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// slowSum is Sum as it is defined.
func slowSum(t *Table, s string) uint64 {
	var n uint64
	Each(s, func(prev, cur, next uint8) { n += uint64(t[Index(prev, cur, next)]) })
	return n
}

// slowGroups counts groups of digits as they are defined.
func slowGroups(s string) int {
	n, run := 0, 0
	for i := range len(s) + 1 {
		if i < len(s) && '0' <= s[i] && s[i] <= '9' {
			run++
			continue
		}
		if run > 3 {
			n += (run - 1) / 3
		}
		run = 0
	}
	return n
}

func randomTable() *Table {
	r := rand.New(rand.NewPCG(1, 2))
	t := new(Table)
	for i := range t {
		t[i] = byte(r.Uint32())
	}
	return t
}

func check(t *testing.T, table *Table, s string) {
	t.Helper()
	sum, groups, _ := table.Sum(s)
	if want := slowSum(table, s); sum != want {
		t.Fatalf("the sum of %q is %d, want %d", s, sum, want)
	}
	if want := slowGroups(s); groups != want {
		t.Fatalf("%q has %d groups of digits beyond the first, want %d", s, groups, want)
	}
}

func TestAgainstDefinition(t *testing.T) {
	table := randomTable()
	r := rand.New(rand.NewPCG(3, 4))
	alphabets := []string{"0123456789", "0123456789 ", "01a", "/0:9", "abc 12\n\xff\x80é"}
	for _, s := range []string{"", "1", "1234", "123 1234 1234567", strings.Repeat("7", 1000)} {
		check(t, table, s)
	}
	for range 3000 {
		a := alphabets[r.IntN(len(alphabets))]
		b := make([]byte, r.IntN(300))
		for i := range b {
			b[i] = a[r.IntN(len(a))]
		}
		check(t, table, string(b))
	}
}

func FuzzAgainstDefinition(f *testing.F) {
	table := randomTable()
	f.Add("")
	f.Add("12345678901234567890123456789012345678901234567890123456789012345678")
	f.Add("a\x00é世界 2026-11-15T02:36:25Z")
	f.Fuzz(func(t *testing.T, s string) { check(t, table, s) })
}

func TestClasses(t *testing.T) {
	seen := map[uint8]bool{}
	for _, c := range class {
		seen[c] = true
		if c >= 64 {
			t.Fatalf("class %d does not fit in six bits", c)
		}
	}
	if len(seen) != 64 {
		t.Errorf("%d classes are in use, want all 64", len(seen))
	}
}

func TestTableEdits(t *testing.T) {
	table := randomTable()
	table.ClearDigits()
	table.SetOtherScripts(0.5)
	if got, _ := table.Estimate("1234567", true); got != 3 {
		t.Errorf("a number of seven digits has %v tokens, want 3", got)
	}
	const arabic = "مرحبا" // two bytes a letter, so every entry but the last is set
	if got, _ := table.Estimate(arabic, false); math.Abs(got-5.5) > 0.7 {
		t.Errorf("%d bytes at half a token each have %v tokens", len(arabic), got)
	}
	for _, p := range []float64{0, 0.5, 1} {
		if got := Likelihood(Entry(p)); math.Abs(got-p) > 0.003 {
			t.Errorf("the likelihood %v is stored as %v", p, got)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	table, s := randomTable(), strings.Repeat("func (s *Store) Get(id int) error { return s.err[2026] }\n", 1<<12)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		table.Sum(s)
	}
}
