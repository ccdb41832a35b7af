package summary

import (
	"math/rand/v2"
	"testing"
)

// slowCost is textCost as it is defined.
func slowCost(t string) float64 {
	lower, upper, digits, numbers, marks, blanks := 0, 0, 0, 0, 0, 1
	prev := byte(' ')
	for _, c := range []byte(t) {
		switch {
		case 'a' <= c && c <= 'z' || c >= 0x80:
			lower++
		case isCapital(c):
			upper++
			if 'a' <= prev && prev <= 'z' {
				upper++
			}
		case '0' <= c && c <= '9':
			digits++
			if prev < '0' || prev > '9' {
				numbers++
			}
		case c == ' ':
			blanks++
		default:
			marks++
		}
		prev = c
	}
	return 0.2*float64(blanks) + 0.14*float64(lower) + 0.22*float64(upper) + 0.3*float64(digits) + 1.35*float64(numbers) + 0.73*float64(marks)
}

func TestTextCostAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 3000 {
		b := make([]byte, r.IntN(1+i))
		for k := range b {
			b[k] = "abzABZ019 ._\n\x80é"[r.IntN(15)]
		}
		if got, want := textCost(string(b)), slowCost(string(b)); got != want {
			t.Fatalf("%q costs %v, want %v", b, got, want)
		}
		if textCost(string(b)) < leastCost*float64(len(b)) {
			t.Fatalf("%q costs less than %v for each byte", b, leastCost)
		}
	}
}
