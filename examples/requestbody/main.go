// Command requestbody makes a request body for Anthropic's API fit its window:
//
//	go run ./examples/requestbody < body.json > fitted.json
//
// Messages that no edit touches keep their bytes.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/wire"
)

func main() {
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	body, err := wire.Parse(wire.Anthropic, raw)
	if err != nil {
		log.Fatal(err) // says where in the body, and what to do
	}
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: body.Model()}})
	if err != nil {
		log.Fatal(err)
	}
	fit, err := w.Fit(context.Background(), body.Request(), winnow.State{})
	if err != nil {
		log.Fatal(err)
	}
	out, err := body.Encode(fit.View)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("%d -> %d tokens", fit.Before.Tokens.Total, fit.After.Tokens.Total)
	if _, err := os.Stdout.Write(out); err != nil {
		log.Fatal(err)
	}
}
