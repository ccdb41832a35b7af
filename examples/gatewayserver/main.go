// Command gatewayserver runs the gateway inside a server of its own, beside other
// handlers:
//
//	go run ./examples/gatewayserver
//	ANTHROPIC_BASE_URL=http://127.0.0.1:8080 claude
package main

import (
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/winnow-llm/winnow/gateway"
)

func main() {
	g, err := gateway.New(&gateway.Options{Upstreams: []gateway.Upstream{{Name: "anthropic", URL: "https://api.anthropic.com"}}})
	if err != nil {
		log.Fatal(err) // says which option is wrong
	}
	mux := http.NewServeMux()
	mux.Handle("/", g.Handler())
	mux.HandleFunc("/stats", func(w http.ResponseWriter, _ *http.Request) {
		s := g.Stats()
		fmt.Fprintf(w, "%d requests, %d plans made\n", s.Requests, s.Plans)
	})
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	log.Print("listening on http://", server.Addr)
	log.Fatal(server.ListenAndServe())
}
