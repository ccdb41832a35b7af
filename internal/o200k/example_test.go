package o200k_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/internal/o200k"
)

func ExampleCount() {
	fmt.Println(o200k.Count("Compaction is a plan, not a loss."))
	fmt.Println(o200k.Count("<|endoftext|>"), "tokens, because it is only text here")
	// Output:
	// 10
	// 7 tokens, because it is only text here
}
