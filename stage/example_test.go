package stage_test

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/stage"
)

// Cut a tool's output before it enters the conversation; the whole of it goes
// to a writer of the caller's.
func ExampleLimitOutput() {
	output := strings.Repeat("compiling one more package\n", 500) + "ERROR: undefined: leaseTimer\n" + strings.Repeat("linking\n", 500)
	var full strings.Builder
	text, cut, err := stage.LimitOutput(output, stage.OutputLimit{Bytes: 2000, Full: func(all string) (string, error) {
		full.WriteString(all)
		return "build.log", nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cut, len(text) <= 2000, full.Len() == len(output))
	fmt.Println(strings.Contains(text, "ERROR: undefined: leaseTimer"), strings.Contains(text, "[full output: build.log]"))
	// Output:
	// true true true
	// true true
}

// How much of a file to read when 10,000 tokens remain.
func ExampleReadBudget() {
	for _, size := range []int64{8 << 10, 200 << 10, 30 << 20} {
		p := stage.ReadBudget(size, 10_000, stage.FileShare)
		fmt.Printf("%d bytes: %s, %d bytes\n", size, p.Mode, p.Bytes)
	}
	// Output:
	// 8192 bytes: whole, 8192 bytes
	// 204800 bytes: part, 24000 bytes
	// 31457280 bytes: preview, 2000 bytes
}

// Several files share what remains.
func ExampleAttachments() {
	for i, p := range stage.Attachments([]int64{500_000, 2_000, 300_000}, 10_000, stage.FileShare) {
		fmt.Println("file", i, p.Mode, p.Bytes)
	}
	// Output:
	// file 0 part 11000
	// file 1 whole 2000
	// file 2 part 11000
}
