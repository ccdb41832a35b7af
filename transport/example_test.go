package transport_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/transport"
)

// A program that sends more than the model can take, and gets its answer.
func Example() {
	provider := httptest.NewServer(providersim.New(providersim.Options{Window: 8000}).Handler())
	defer provider.Close()

	t, err := transport.New(&transport.Options{Settings: winnow.Settings{Window: 8000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: t} // hand this to any SDK

	turn := `{"role":"user","content":"` + strings.Repeat("A long story. ", 300) + `"},{"role":"assistant","content":"I see."},`
	body := `{"model":"gpt-4.1","messages":[` + strings.Repeat(turn, 12) + `{"role":"user","content":"What was it about?"}]}`
	resp, err := client.Post(provider.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status, "under a plan:", resp.Header.Get(transport.HeaderPlan) != "", "plans:", t.Stats().Plans)
	// Output: 200 OK under a plan: true plans: 1
}
