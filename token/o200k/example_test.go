package o200k_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/token/o200k"
)

func ExampleCount() {
	fmt.Println(o200k.Count("Compaction is a plan, not a loss."))
	fmt.Println(o200k.Count("<|endoftext|>"), "tokens, because it is only text here")
	// Output:
	// 10
	// 7 tokens, because it is only text here
}

func ExampleEach() {
	o200k.Each("don't recompute 12345", func(piece string, tokens int) {
		fmt.Printf("%q %d\n", piece, tokens)
	})
	// Output:
	// "don't" 1
	// " recompute" 2
	// " " 1
	// "123" 1
	// "45" 1
}

func ExampleTruncate() {
	text := "Every edit can be shown, checked and taken back."
	n := o200k.Truncate(text, 6)
	fmt.Printf("%q has %d tokens\n", text[:n], o200k.Count(text[:n]))
	// Output:
	// "Every edit can be shown," has 6 tokens
}
