package work

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
)

func TestHeadline(t *testing.T) {
	long := strings.Repeat("é", 60)
	tests := []struct {
		name, args string
		max        int
		want       string
	}{
		{"search", `{"pattern":"query-1"}`, 0, "search(pattern=query-1)"},
		{"a", `{"x":1,"y":[2, 3],"z":4}`, 0, "a(x=1, y=[2, 3])"},
		{"a", `{"x":"two\n  lines\tand more"}`, 0, "a(x=two lines and more)"},
		{"a", `{"x":"` + strings.Repeat("y", 41) + `"}`, 0, "a(x=" + strings.Repeat("y", 40) + "…)"},
		{"a", `{"x":"` + strings.Repeat("y", 40) + `"}`, 0, "a(x=" + strings.Repeat("y", 40) + ")"},
		{"a", `{"x":"` + long + `"}`, 0, "a(x=" + strings.Repeat("é", 40) + "…)"},
		{"a", `{}`, 0, "a()"},
		{"a", ``, 0, "a()"},
		{"patch", "*** Begin Patch\n*** Add File: x", 0, "patch(*** Begin Patch *** Add File: x)"},
		{"search", `{"pattern":"query-1"}`, 12, "search(pa…"},
	}
	for _, tt := range tests {
		call := chat.Call("1", tt.name, tt.args)
		if got := Headline(&call, tt.max); got != tt.want {
			t.Errorf("Headline(%s, %s, %d) = %q, want %q", tt.name, tt.args, tt.max, got, tt.want)
		}
	}
	call := chat.Call("1", "é", `{"x":"`+long+`"}`)
	for n := 1; n < 100; n++ {
		if got := Headline(&call, n); len(got) > n || !utf8.ValidString(got) {
			t.Errorf("Headline with max %d is %q", n, got)
		}
	}
}
