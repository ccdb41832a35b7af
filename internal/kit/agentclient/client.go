// Package agentclient is an agent as most are: it keeps its conversation to
// itself and sends all of it with every request. Tests of what stands between
// agents and providers are written with it.
//
// It speaks the four dialects, streaming and not, runs the tools that the model
// calls by asking [Client.Result], and knows nothing about winnow.
package agentclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/wire"
)

// Client is one agent with one conversation. The fields up to Result are set
// before the first request.
type Client struct {
	Dialect wire.Dialect
	Model   string // default: one of the dialect's
	Stream  bool
	URL     string // of the provider, without a path
	HTTP    *http.Client
	Header  http.Header

	// MaxTokens is the output that is asked for (default 1,024); negative asks for
	// none, where the dialect allows that (OpenAI's chat completions).
	MaxTokens int

	// Plain leaves out what makes models think. Budget is what Anthropic's may
	// think, inside MaxTokens (default 1,024, beside it).
	Plain  bool
	Budget int

	// Result is what a tool answers; it is told how many calls there were before.
	Result func(n int) string

	// Shell, if set, runs a command: the agent then declares a tool "bash" instead
	// of "read" and answers calls of it with what Shell returns. Other tools are
	// declared by Others, by their names with their schemas, and answered by Call.
	Shell  func(command string) string
	Others map[string]string
	Call   func(name, arguments string) string

	history []string
	calls   int
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Raw    []byte
	Calls  int
	Prompt int    // tokens as reported
	Text   string // what it says
}

// Say appends a user's message.
func (c *Client) Say(text string) {
	said, err := c.renderElements(chat.Messages{chat.TextMessage(chat.User, text)})
	if err != nil {
		panic(err) // a text can be said in every dialect
	}
	c.history = append(c.history, said...)
}

// Add appends an element as it is: items that only some agents send.
func (c *Client) Add(element string) { c.history = append(c.history, element) }

// Len returns how many elements the conversation has.
func (c *Client) Len() int { return len(c.history) }

// Fork returns an agent that goes on from the first n elements.
func (c *Client) Fork(n int) *Client {
	d := *c
	d.history = slices.Clone(c.history[:n])
	return &d
}

// Rewrite replaces the elements of the conversation, as an agent does that compacts
// by itself.
func (c *Client) Rewrite(f func(elements []string) []string) { c.history = f(slices.Clone(c.history)) }

// Set puts a user's message in place of element i.
func (c *Client) Set(i int, text string) {
	rest := c.history[i+1:]
	c.history = c.history[:i:i]
	c.Say(text)
	c.history = append(c.history, rest...)
}

// Path returns where the request goes.
func (c *Client) Path() string {
	switch c.Dialect {
	case wire.OpenAI:
		return "/v1/chat/completions"
	case wire.Responses:
		return "/v1/responses"
	case wire.Anthropic:
		return "/v1/messages"
	}
	if c.Stream {
		return "/v1beta/models/" + c.modelName() + ":streamGenerateContent?alt=sse"
	}
	return "/v1beta/models/" + c.modelName() + ":generateContent"
}

func (c *Client) modelName() string {
	if c.Model != "" {
		return c.Model
	}
	return map[wire.Dialect]string{wire.OpenAI: "gpt-4.1", wire.Responses: "gpt-5.4", wire.Anthropic: "claude-fable-5-1", wire.Gemini: "gemini-3.1-pro-preview"}[c.Dialect]
}

const schema = `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"},"mode":{"type":"string","enum":["r","w"]}},"required":["path","mode"]}`

const shellSchema = `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`

// toolDeclarations returns the declarations of the tools, in the form of a dialect.
func (c *Client) toolDeclarations(form string) string {
	list := []string{fmt.Sprintf(form, "read", schema)}
	if c.Shell != nil {
		list[0] = fmt.Sprintf(form, "bash", shellSchema)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Others)) {
		list = append(list, fmt.Sprintf(form, name, c.Others[name]))
	}
	return strings.Join(list, ",")
}

// answerCall returns the result of a call.
func (c *Client) answerCall(call *chat.Part) (string, error) {
	var args struct{ Command string }
	switch {
	case c.Shell != nil && call.Name == "bash":
		if err := json.Unmarshal([]byte(call.Args), &args); err != nil {
			return "", fmt.Errorf("the arguments of bash: %w", err)
		}
		return c.Shell(args.Command), nil
	case c.Others[call.Name] != "":
		return c.Call(call.Name, call.Args), nil
	case c.Result != nil:
		return c.Result(c.calls), nil
	}
	return "ok", nil
}

// Body returns the whole conversation as a request.
func (c *Client) Body() []byte {
	most := cmp.Or(c.MaxTokens, 1024)
	var b strings.Builder
	if c.Dialect != wire.Gemini {
		fmt.Fprintf(&b, `{"model":%q,"stream":%v,`, c.modelName(), c.Stream)
	} else {
		b.WriteByte('{')
	}
	list := "messages"
	switch c.Dialect {
	case wire.OpenAI:
		if most > 0 {
			fmt.Fprintf(&b, `"max_completion_tokens":%d,`, most)
		}
		fmt.Fprintf(&b, `"tools":[%s],`, c.toolDeclarations(`{"type":"function","function":{"name":%q,"parameters":%s}}`))
		if c.Stream {
			b.WriteString(`"stream_options":{"include_usage":true},`)
		}
	case wire.Responses:
		list = "input"
		fmt.Fprintf(&b, `"max_output_tokens":%d,"store":false,"tools":[%s],`, most, c.toolDeclarations(`{"type":"function","name":%q,"parameters":%s}`))
		if !c.Plain {
			b.WriteString(`"reasoning":{"effort":"high"},`)
		}
	case wire.Anthropic:
		switch {
		case c.Plain:
			fmt.Fprintf(&b, `"max_tokens":%d,`, most)
		case c.Budget > 0:
			fmt.Fprintf(&b, `"max_tokens":%d,"thinking":{"type":"enabled","budget_tokens":%d},`, most, c.Budget)
		default:
			fmt.Fprintf(&b, `"max_tokens":%d,"thinking":{"type":"enabled","budget_tokens":1024},`, most+1024)
		}
		fmt.Fprintf(&b, `"system":"You are a careful engineer.","tools":[%s],`, c.toolDeclarations(`{"name":%q,"input_schema":%s}`))
	case wire.Gemini:
		list = "contents"
		fmt.Fprintf(&b, `"tools":[{"functionDeclarations":[%s]}],"generationConfig":{"maxOutputTokens":%d`, c.toolDeclarations(`{"name":%q,"parameters":%s}`), most)
		if !c.Plain {
			b.WriteString(`,"thinkingConfig":{"includeThoughts":true}`)
		}
		b.WriteString(`},`)
	}
	b.WriteString(`"` + list + `":[` + strings.Join(c.history, ",") + "]}")
	return []byte(b.String())
}

// Send sends the conversation and returns the answer, without taking it.
func (c *Client) Send(ctx context.Context) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+c.Path(), bytes.NewReader(c.Body()))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, c.Header)
	req.Header.Set("Content-Type", "application/json")
	client := cmp.Or(c.HTTP, http.DefaultClient)
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return &Answer{Status: resp.StatusCode, Header: resp.Header, Raw: raw}, err
}

// Step sends the conversation, takes the answer into it and answers its calls.
func (c *Client) Step(ctx context.Context) (*Answer, error) {
	a, err := c.Send(ctx)
	if err != nil || a.Status != http.StatusOK {
		return a, err
	}
	return a, c.Take(a)
}

// Take appends an answer and the results of its calls.
func (c *Client) Take(a *Answer) error {
	var got *wire.Answer
	var err error
	if c.Stream {
		got, err = wire.ReadStream(c.Dialect, bytes.NewReader(a.Raw), nil)
	} else {
		got, err = wire.ParseAnswer(c.Dialect, a.Raw)
	}
	if err != nil {
		return err
	}
	if got.Failure != nil {
		return got.Failure
	}
	a.Prompt, a.Text = got.Usage.Prompt(), got.Message.Text()
	messages := chat.Messages{got.Message}
	for i := range got.Message.Parts {
		if p := &got.Message.Parts[i]; p.Kind == chat.ToolCall {
			a.Calls++
			text, err := c.answerCall(p)
			if err != nil {
				return err
			}
			c.calls++
			r := chat.ResultMessage(p.ID, text)
			r.Parts[0].Name = p.Name
			messages = append(messages, r)
		}
	}
	elems, err := c.renderElements(messages)
	if err == nil {
		elems, err = c.useOriginalBytes(a.Raw, elems)
	}
	c.history = append(c.history, elems...)
	return err
}

// renderElements returns messages as elements of a body.
func (c *Client) renderElements(m chat.Messages) ([]string, error) {
	body, err := wire.Render(c.Dialect, c.modelName(), chat.Request{}, m)
	if err != nil {
		return nil, err
	}
	var doc struct{ Messages, Input, Contents []json.RawMessage }
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, err
	}
	var out []string
	for _, e := range slices.Concat(doc.Messages, doc.Input, doc.Contents) {
		out = append(out, string(e))
	}
	return out, nil
}

// useOriginalBytes puts the provider's own bytes in place of ours where the answer came
// in one piece, as agents do.
func (c *Client) useOriginalBytes(raw []byte, elems []string) ([]string, error) {
	if c.Stream || len(elems) == 0 {
		return elems, nil
	}
	switch c.Dialect {
	case wire.OpenAI:
		var doc struct {
			Choices []struct{ Message json.RawMessage }
		}
		if err := json.Unmarshal(raw, &doc); err != nil || len(doc.Choices) == 0 {
			return nil, fmt.Errorf("no choices: %w", err)
		}
		elems[0] = string(doc.Choices[0].Message)
	case wire.Anthropic:
		var doc struct{ Content json.RawMessage }
		if err := json.Unmarshal(raw, &doc); err != nil {
			return nil, err
		}
		elems[0] = `{"role":"assistant","content":` + string(doc.Content) + `}`
	}
	return elems, nil
}

// Output returns what a tool prints, for [Client.Result]: some kilobytes with things
// in them worth keeping.
func Output(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "$ go test ./pkg%d/...\n", n)
	for i := range 60 {
		fmt.Fprintf(&b, "internal/pkg%d/file%d.go:%d: func handle%d(ctx context.Context) error // call %d line %d\n", n, i%7, i*3, i, n, i)
	}
	fmt.Fprintf(&b, "FAIL pkg%d exit status %d\n", n, n%3)
	return b.String()
}

// Question returns what a user asks in a turn.
func Question(turn int) string {
	return fmt.Sprintf("Turn %d: look at internal/store/retry%d.go and mend what is broken.", turn, turn)
}

// Drive lets the agent work, turn after turn, until it has sent that number of
// requests, which must all be answered. It calls each, which may be nil, after
// every answer.
func (c *Client) Drive(t testing.TB, requests int, each func(i int, a *Answer)) {
	t.Helper()
	for i, turn := 0, 0; i < requests; turn++ {
		c.Say(Question(turn))
		for i < requests {
			a, err := c.Step(t.Context())
			if err != nil || a.Status != http.StatusOK {
				t.Fatalf("request %d: %v %+v", i, err, a)
			}
			i++
			if each != nil {
				each(i, a)
			}
			if a.Calls == 0 {
				break
			}
		}
	}
}
