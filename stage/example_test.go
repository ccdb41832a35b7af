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
		fmt.Println(stage.ReadBudget(size, 10_000, 0.6), "of", size)
	}
	// Output:
	// 8192 of 8192
	// 24000 of 204800
	// 2000 of 31457280
}

// Several files share what remains.
func ExampleAttachments() {
	fmt.Println(stage.Attachments([]int64{500_000, 2_000, 300_000}, 10_000, 0.6))
	// Output: [11000 2000 11000]
}
