package budget_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/budget"
)

// What a window leaves for the prompt, and from where on to compact.
func ExampleTrigger() {
	limits := budget.NewLimits(200_000, 0, 64_000)
	trigger := budget.Trigger{Threshold: budget.DefaultThreshold, Reserve: budget.DefaultReserve}
	fmt.Println(limits)
	fmt.Println("compact above", trigger.At(limits))
	// Output:
	// 136000 tokens available (window 200000, input limit 200000, output reserve 64000)
	// compact above 108800
}
