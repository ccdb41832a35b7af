package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// large is a session of 10,000 messages, over a million tokens, and the file
// that holds it for peers.
func large(b *bench) (chat.Request, string, error) {
	dir, err := b.temp()
	if err != nil {
		return chat.Request{}, "", err
	}
	raw := demo.Large(10_000)
	file := filepath.Join(dir, "large.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return chat.Request{}, "", err
	}
	body, err := wire.Parse(wire.OpenAI, raw)
	if err != nil {
		return chat.Request{}, "", err
	}
	return body.Request(), file, nil
}

func newEngine() (*winnow.Winnow, error) {
	return winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5", Window: 200_000}})
}

func engine(b *bench) error {
	req, file, err := large(b)
	if err != nil {
		return err
	}
	ctx := context.Background()
	peer := func(j nodeJob) func() (float64, error) {
		return func() (float64, error) {
			j.File = file
			r, err := b.node.do(j)
			return r.MS, err
		}
	}
	cold := func() (float64, error) {
		return timed(1, func() error {
			w, err := newEngine()
			if err != nil {
				return err
			}
			_, err = w.Fit(ctx, req, winnow.State{})
			return err
		})
	}
	err = b.compare("cold Fit, 10,000 messages, about 1M tokens", "ms", false, 30, cold,
		contender{"@langchain/core 1.2 trimMessages (Node)", peer(nodeJob{Op: "trim", Limit: 100_000})},
		contender{"ai 7.0 pruneMessages, counts nothing (Node)", peer(nodeJob{Op: "prune"})})
	if err != nil {
		return err
	}
	w, err := newEngine()
	if err != nil {
		return err
	}
	res, err := w.Fit(ctx, req, winnow.State{})
	if err != nil {
		return err
	}
	h := req.History
	check := func() (float64, error) {
		ms, err := timed(2000, func() error {
			h = h.Append(chat.ResultMessage("x", "one line of output that is not very long"))
			_, err := w.Check(chat.Request{History: h}, winnow.State{})
			return err
		})
		h = req.History
		return ms * 1e3, err
	}
	if err := b.compare("append one message and check", "µs", false, 20, check); err != nil {
		return err
	}
	data, err := res.Plan.MarshalJSON()
	if err != nil {
		return err
	}
	first := func() (float64, error) {
		p, err := plan.Decode(data)
		if err != nil {
			return 0, err
		}
		return timed(1, func() error {
			_, err := plan.Apply(req.History, p)
			return err
		})
	}
	if err := b.compare("first Apply of that plan", "ms", false, 1, first); err != nil {
		return err
	}
	longer := req.History.Append(chat.TextMessage(chat.User, "and now?"))
	again := func() (float64, error) {
		ms, err := timed(100_000, func() error {
			_, err := plan.Apply(longer, res.Plan)
			return err
		})
		return ms * 1e3, err
	}
	return b.compare("Apply again after an append", "µs", false, 1, again)
}

// builtin measures the built-in summariser. Its peers are models.
func builtin(b *bench) error {
	req, _, err := large(b)
	if err != nil {
		return err
	}
	h := req.History.Head(1500)
	in := summary.Input{History: h, To: h.Len(), Turn: -1, Max: 4000, Counter: token.New(token.O200K, nil)}
	tokens := token.New(token.O200K, nil).Request(&chat.Request{History: h})
	ours := func() (float64, error) {
		return timed(1, func() error {
			_, err := summary.Builtin().Summarize(context.Background(), in)
			return err
		})
	}
	return b.compare("built-in summary of "+short(float64(tokens)/1e3)+"k tokens to 4k", "ms", false, 0, ours)
}
