package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/openai/openai-go/v3"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// codecs reads and writes a request of some 1.4 MB.
func codecs(b *bench) error {
	dir, err := b.temp()
	if err != nil {
		return err
	}
	raw := demo.Large(2_900)
	file := filepath.Join(dir, "body.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return err
	}
	mb := short(float64(len(raw)) / 1e6)
	decode := func(into func() any) func() (float64, error) {
		return func() (float64, error) {
			return timed(1, func() error { return json.Unmarshal(raw, into()) })
		}
	}
	parse := func() (float64, error) {
		return timed(1, func() error {
			_, err := wire.Parse(wire.OpenAI, raw)
			return err
		})
	}
	err = b.compare("read a request of "+mb+" MB", "ms", false, 0, parse,
		contender{"encoding/json into maps (Go)", decode(func() any { return new(map[string]any) })},
		contender{"openai-go 3.90 (Go)", decode(func() any { return new(openai.ChatCompletionNewParams) })},
		contender{"JSON.parse (Node)", func() (float64, error) {
			r, err := b.node.do(nodeJob{Op: "parse", File: file})
			return r.MS, err
		}})
	if err != nil {
		return err
	}
	body, err := wire.Parse(wire.OpenAI, raw)
	if err != nil {
		return err
	}
	req := body.Request()
	p, err := plan.Compose(nil, req.History, req.Rules, nil, plan.Edit{Kind: plan.Drop, From: 1, To: firstUser(req.History, 200), Part: -1, Text: "[dropped]", Stage: "truncate"})
	if err != nil {
		return err
	}
	view, err := plan.Apply(req.History, p)
	if err != nil {
		return err
	}
	var params openai.ChatCompletionNewParams
	if err := json.Unmarshal(raw, &params); err != nil {
		return err
	}
	encode := func() (float64, error) {
		return timed(1, func() error {
			_, err := body.Encode(view)
			return err
		})
	}
	err = b.compare("write it again after an edit near its start", "ms", false, 0, encode,
		contender{"openai-go 3.90 (Go)", func() (float64, error) {
			return timed(1, func() error {
				_, err := json.Marshal(params)
				return err
			})
		}})
	if err != nil {
		return err
	}
	validate := func() (float64, error) {
		return timed(1, func() error {
			wire.Validate(wire.OpenAI, raw)
			return nil
		})
	}
	return b.compare("check its validity", "ms", false, 0, validate)
}

// firstUser returns the first message from i on that starts a turn.
func firstUser(h chat.History, i int) int {
	for ; i < h.Len(); i++ {
		if h.At(i).Role == chat.User {
			return i
		}
	}
	return h.Len()
}
