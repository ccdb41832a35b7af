// Command httpclient sends a request body through winnow without a gateway: the
// transport of an ordinary http.Client makes it fit. Give such a client to the SDK
// of any provider.
//
//	ANTHROPIC_API_KEY=… go run ./examples/httpclient https://api.anthropic.com/v1/messages < body.json
package main

import (
	"io"
	"log"
	"net/http"
	"os"

	"github.com/winnow-llm/winnow/transport"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: httpclient URL < BODY")
	}
	t, err := transport.New(&transport.Options{}) // the window is that of the model in the body
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	client := &http.Client{Transport: t}
	req, err := http.NewRequest(http.MethodPost, os.Args[1], os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", os.Getenv("ANTHROPIC_API_KEY"))
	resp, err := client.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	log.Printf("%s, plan %q", resp.Status, resp.Header.Get(transport.HeaderPlan))
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		log.Fatal(err)
	}
}
