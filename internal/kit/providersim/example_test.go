package providersim_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/winnow-llm/winnow/internal/kit/providersim"
)

// A prompt that is too long gets the provider's own words, and the same prompt
// in a larger window an answer.
func Example() {
	sim := providersim.New(providersim.Options{Window: 1000})
	defer sim.Close()
	srv := httptest.NewServer(sim.Handler())
	defer srv.Close()

	body := `{"model":"claude-opus-5","max_tokens":100,"messages":[{"role":"user","content":"` + strings.Repeat("word ", 1000) + `"}]}`
	for _, window := range []string{"1000", "5000"} {
		req, _ := http.NewRequest(http.MethodPost, srv.URL+"/v1/messages", strings.NewReader(body))
		req.Header.Set("Sim-Window", window)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		fmt.Println(resp.StatusCode, strings.Contains(string(text), "prompt is too long: 1257 tokens > 1000 maximum"))
	}
	r := sim.Report()
	fmt.Println("accepted", r.Accepted, "refused", r.RefusedBy["overflow"])
	// Output:
	// 400 true
	// 200 false
	// accepted 1 refused 1
}
