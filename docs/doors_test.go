package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/wire"
)

// ownLoop is an agent's loop from the question to the answer.
func ownLoop(ctx context.Context, w *winnow.Winnow, req chat.Request, send provider, run func(tool, args string) string, question string) (string, error) {
	c := w.Conversation(req) // its system prompt and tools
	c.Append(chat.TextMessage(chat.User, question))
	for {
		fit, err := c.Fit(ctx) // below the trigger nothing happens
		if err != nil {
			return "", err // a *winnow.CannotFitError names what cannot shrink
		}
		answer, usage, err := send(ctx, fit.View)
		var refused *wire.Verdict
		if errors.As(err, &refused) && refused.Kind == wire.KindOverflow {
			if fit, err = c.Overflowed(ctx, refused.Limit); err == nil { // smaller than what was refused
				answer, usage, err = send(ctx, fit.View)
			}
		}
		if err != nil {
			return "", err
		}
		c.Answered(answer, usage)
		if !answer.Has(chat.ToolCall) {
			return answer.Text(), nil
		}
		for _, p := range answer.Parts {
			if p.Kind == chat.ToolCall {
				c.Append(chat.ResultMessage(p.ID, run(p.Name, p.Args)))
			}
		}
	}
}

// bodyLoop is the same by bodies, which an SDK's own client sends: post is its Post.
func bodyLoop(ctx context.Context, w *winnow.Winnow, req chat.Request, post func(ctx context.Context, path string, params, res any) error, run func(tool, args string) string, question string) (string, error) {
	c := w.Conversation(req) // its system prompt, tools and output limit
	c.Append(chat.TextMessage(chat.User, question))
	for {
		body, err := c.Body(ctx, wire.OpenAI) // fits, and names the model of the settings
		if err != nil {
			return "", err
		}
		var got json.RawMessage
		if err := post(ctx, "chat/completions", json.RawMessage(body), &got); err != nil {
			return "", err // too long all the same: c.Overflowed, and once more
		}
		answer, err := c.AnswerBody(wire.OpenAI, got)
		if err != nil {
			return "", err
		}
		if !answer.Has(chat.ToolCall) {
			return answer.Text(), nil
		}
		for _, p := range answer.Parts {
			if p.Kind == chat.ToolCall {
				c.Append(chat.ResultMessage(p.ID, run(p.Name, p.Args)))
			}
		}
	}
}

// renderWithSDK returns a provider that calls by an SDK's own client: post is its Post.
func renderWithSDK(post func(ctx context.Context, path string, params, res any) error, model string, req chat.Request) provider {
	return func(ctx context.Context, messages chat.Sequence) (chat.Message, chat.Usage, error) {
		body, err := wire.Render(wire.OpenAI, model, req, messages)
		if err != nil {
			return chat.Message{}, chat.Usage{}, err
		}
		var raw json.RawMessage
		if err := post(ctx, "chat/completions", json.RawMessage(body), &raw); err != nil {
			return chat.Message{}, chat.Usage{}, err
		}
		answer, err := wire.ParseAnswer(wire.OpenAI, raw)
		if err != nil {
			return chat.Message{}, chat.Usage{}, err
		}
		return answer.Message, answer.Usage, nil
	}
}

// Message and ModelFunc stand for a framework's own.
type (
	Message   struct{ chat.Message }
	ModelFunc func(ctx context.Context, messages []*Message) (*Message, chat.Usage, error)
)

func toChat(m *Message) chat.Message   { return m.Message }
func fromChat(m chat.Message) *Message { return &Message{m} }

// wrapModel puts winnow between a framework and its model.
func wrapModel(w *winnow.Winnow, tools []chat.ToolDef, next ModelFunc) ModelFunc {
	a := winnow.NewAdapter(w, toChat, fromChat) // once for all conversations
	return func(ctx context.Context, messages []*Message) (*Message, chat.Usage, error) {
		view, answered, err := a.Fit(ctx, chat.Request{Tools: tools}, messages)
		if err != nil {
			return nil, chat.Usage{}, err
		}
		answer, usage, err := next(ctx, view) // the framework keeps messages, whole
		if err == nil {
			answered(answer, usage)
		}
		return answer, usage, err
	}
}

// poster posts as the SDKs of OpenAI and Anthropic do.
func poster(client *http.Client, base string) func(ctx context.Context, path string, params, res any) error {
	return func(ctx context.Context, path string, params, res any) error {
		body, err := json.Marshal(params)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/"+path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		answer, err := client.Do(req)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		raw, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != http.StatusOK {
			v := wire.Classify(answer.StatusCode, answer.Header, raw)
			return &v
		}
		*res.(*json.RawMessage) = raw
		return err
	}
}

// Every door lets an agent through that reads several windows of logs.
func TestDoors(t *testing.T) {
	req := chat.Request{
		System: []chat.Part{{Kind: chat.Text, Text: "You read logs."}},
		Tools:  []chat.ToolDef{{Name: "read_log", Schema: `{"type":"object","properties":{"n":{"type":"integer"}}}`}},
	}
	readLog := func(_, args string) string { return strings.Repeat("the log "+args+"\n", 200) }
	const window, question = 12_000, "Find the slow query."
	doors := map[string]func(w *winnow.Winnow, url string) error{
		"http.Client": func(_ *winnow.Winnow, url string) error {
			client, tr, err := newClient(winnow.Settings{Window: window, OutputReserve: 1000})
			if err != nil {
				return err
			}
			defer tr.Close()
			off, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: window, Disabled: true}}) // the program sends all it has
			if err != nil {
				return err
			}
			_, err = ownLoop(t.Context(), off, req, renderWithSDK(poster(client, url), "gpt-5", req), readLog, question)
			return err
		},
		"own loop, wire.Render": func(w *winnow.Winnow, url string) error {
			_, err := ownLoop(t.Context(), w, req, renderWithSDK(poster(http.DefaultClient, url), "gpt-5", req), readLog, question)
			return err
		},
		"bodies": func(w *winnow.Winnow, url string) error {
			_, err := bodyLoop(t.Context(), w, req, poster(http.DefaultClient, url), readLog, question)
			return err
		},
		"framework": func(w *winnow.Winnow, url string) error {
			send := renderWithSDK(poster(http.DefaultClient, url), "gpt-5", req)
			model := wrapModel(w, req.Tools, func(ctx context.Context, messages []*Message) (*Message, chat.Usage, error) {
				var all chat.Messages
				for _, m := range messages {
					all = append(all, m.Message)
				}
				answer, usage, err := send(ctx, all)
				return &Message{answer}, usage, err
			})
			history := []*Message{{chat.TextMessage(chat.User, question)}}
			for {
				answer, _, err := model(t.Context(), history)
				if err != nil || !answer.Has(chat.ToolCall) {
					return err
				}
				history = append(history, answer)
				for _, p := range answer.Parts {
					if p.Kind == chat.ToolCall {
						history = append(history, &Message{chat.ResultMessage(p.ID, readLog(p.Name, p.Args))})
					}
				}
			}
		},
	}
	for name, through := range doors {
		t.Run(name, func(t *testing.T) {
			var step atomic.Int64
			sim := providersim.New(providersim.Options{Window: window, Agent: func(*providersim.Ask) []providersim.Block {
				if n := step.Add(1); n <= 40 {
					return []providersim.Block{{Kind: providersim.Call, Name: "read_log", Args: fmt.Sprintf(`{"n":%d}`, n)}}
				}
				return []providersim.Block{{Kind: providersim.Text, Text: "It is the last one."}}
			}})
			server := httptest.NewServer(sim.Handler())
			defer server.Close()
			w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "gpt-5", Window: window, OutputReserve: 1000}})
			if err != nil {
				t.Fatal(err)
			}
			if err := through(w, server.URL); err != nil {
				t.Error(err)
			}
			if r := sim.Report(); r.Accepted != 41 || r.Refused != 0 {
				t.Errorf("%d accepted, %d refused: %v", r.Accepted, r.Refused, r.RefusedBy)
			}
		})
	}
}
