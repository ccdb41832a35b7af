package summary

import (
	"context"
	"runtime"
	"testing"
)

// What is found does not depend on how many goroutines look for it.
func TestReadingOnManyCores(t *testing.T) {
	h := session(700_000, 3)
	in := Input{History: h, To: h.Len() - 4, Turn: -1, Max: 3000}
	texts := map[int]string{}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(cores)
		out, err := Builtin().Summarize(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		texts[cores] = out.Text
	}
	if texts[1] != texts[2] || texts[1] != texts[4] {
		t.Error("the text differs with the number of cores")
	}
}
