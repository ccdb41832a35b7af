package budget_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/internal/budget"
)

// What a window leaves for the prompt, and from where on to compact.
func ExampleTrigger() {
	limits := budget.NewLimits(200_000, 0, 16_000)
	limits.Carry(42_000) // system prompt and tools
	trigger := budget.Trigger{Threshold: budget.DefaultThreshold}
	fmt.Println(limits)
	fmt.Println("compact above", trigger.At(limits))
	// Output:
	// 184000 tokens available (window 200000, input limit 200000, output reserve 16000)
	// compact above 169800
}
