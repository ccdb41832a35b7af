package model_test

import (
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
)

func Example() {
	m := model.Default().Lookup("anthropic/claude-opus-5.5")
	fmt.Println(m.Context, m.Output, m.Family)
	fmt.Println("room for input:", m.Available(0))

	cost := m.Prices.Cost(chat.Usage{Input: 1_000, CacheRead: 150_000, CacheWrite: 4_000, Output: 800})
	fmt.Printf("a warm call: $%.3f\n", cost)
	// Output:
	// 1000000 128000 claude5
	// room for input: 936000
	// a warm call: $0.070
}

// A name that nobody has heard of still gets an answer, and says how good it is.
func ExampleRegistry_Lookup() {
	for _, name := range []string{"us.anthropic.claude-opus-5", "gpt-4o-2099-01-01", "claude-opus-9", "our-own-model"} {
		m := model.Default().Lookup(name)
		fmt.Printf("%s: %d tokens (%s)\n", name, m.Context, m.Source)
	}
	// Output:
	// us.anthropic.claude-opus-5: 1000000 tokens (exact)
	// gpt-4o-2099-01-01: 128000 tokens (date suffix)
	// claude-opus-9: 1000000 tokens (earlier version)
	// our-own-model: 128000 tokens (default)
}

func ExampleRegistry_WithOverrides() {
	r, err := model.Default().WithOverrides([]byte(`{"models": {"ollama/*": {"context": 32768}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	m := r.Lookup("ollama/our-own-model")
	fmt.Println(m.Context, m.Source)

	_, err = r.WithOverrides([]byte(`{"models": {"ollama/*": {"contxt": 32768}}}`))
	fmt.Println(err)
	// Output:
	// 32768 override
	// model overrides: models."ollama/*": unknown field "contxt"
}
