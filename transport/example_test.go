package transport_test

import (
	"context"
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

// A program that makes its own calls gets back a body that fits.
func ExampleTransport_Fit() {
	t, err := transport.New(&transport.Options{Settings: winnow.Settings{Window: 8000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()

	turn := `{"role":"user","content":"` + strings.Repeat("A long story. ", 300) + `"},{"role":"assistant","content":"I see."},`
	body := `{"model":"gpt-4.1","messages":[` + strings.Repeat(turn, 12) + `{"role":"user","content":"What was it about?"}]}`
	fitted, done, err := t.Fit(context.Background(), []byte(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("smaller:", len(fitted) < len(body)/2, "under a plan:", done.Get(transport.HeaderPlan) != "")
	// Output: smaller: true under a plan: true
}
