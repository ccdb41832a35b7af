package text_test

import (
	"testing"

	"github.com/winnow-llm/winnow/internal/text"
)

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -100: "-100", -1000: "-1,000", 1234567: "1,234,567"} {
		if got := text.Number(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
