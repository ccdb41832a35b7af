package winnow_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/wire"
)

// bodies with text files in base64, in each dialect: in an older message, and
// in the request that must stay.
func attached(d wire.Dialect, data string) (older, newest string) {
	var doc, ask, answer, format string
	switch d {
	case wire.OpenAI:
		doc = fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"read"},{"type":"file","file":{"filename":"a.json","file_data":"data:application/json;base64,%s"}}]}`, data)
		ask, answer = `{"role":"user","content":"go on"}`, `{"role":"assistant","content":"read"}`
		format = `{"model":"gpt-4o","messages":[%s]}`
	case wire.Responses:
		doc = fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"read"},{"type":"input_file","filename":"a.txt","file_data":"data:text/plain;base64,%s"}]}`, data)
		ask = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}`
		answer = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"read"}]}`
		format = `{"model":"gpt-4o","input":[%s]}`
	case wire.Anthropic:
		doc = fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"read"},{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"%s"}}]}`, data)
		ask, answer = `{"role":"user","content":"go on"}`, `{"role":"assistant","content":"read"}`
		format = `{"model":"claude-sonnet-4-5","max_tokens":500,"messages":[%s]}`
	case wire.Gemini:
		doc = fmt.Sprintf(`{"role":"user","parts":[{"text":"read"},{"inlineData":{"mimeType":"text/csv","data":"%s"}}]}`, data)
		ask, answer = `{"role":"user","parts":[{"text":"go on"}]}`, `{"role":"model","parts":[{"text":"read"}]}`
		format = `{"contents":[%s]}`
	}
	list := strings.Join([]string{doc, answer, ask}, ",")
	return fmt.Sprintf(format, list), fmt.Sprintf(format, strings.Join([]string{ask, answer, doc}, ","))
}

// Text files in base64 count as their text: such a request is made to fit, or
// it is said that it cannot.
func TestEncodedTextFilesFit(t *testing.T) {
	file := lines("file", 30_000)
	data := base64.StdEncoding.EncodeToString([]byte(file))
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 100_000, MaxTokens: 500})
	want := token.New(token.O200K, &token.Options{Exact: true}).Text(file)
	for _, d := range []wire.Dialect{wire.OpenAI, wire.Responses, wire.Anthropic, wire.Gemini} {
		older, newest := attached(d, data)
		body, err := wire.Parse(d, []byte(older))
		if err != nil {
			t.Fatal(err)
		}
		r := fit(t, w, body.Request(), winnow.State{})
		if r.Before.Fits || r.Before.Count.Upper() < want || r.Before.Count.Tokens > want*5/4 {
			t.Errorf("%s: %d tokens before, the file has %d; fits %v", d, r.Before.Count.Tokens, want, r.Before.Fits)
		}
		out, err := body.Encode(r.View)
		if err != nil || len(out) > 10_000 {
			t.Errorf("%s: %d bytes are left of %d: %v", d, len(out), len(older), err)
		}
		if body, err = wire.Parse(d, []byte(newest)); err != nil {
			t.Fatal(err)
		}
		var cannot *winnow.CannotFitError
		if _, err := w.Fit(context.Background(), body.Request(), winnow.State{}); !errors.As(err, &cannot) || cannot.Floor < want*9/10 {
			t.Errorf("%s: a request that is too large: %v", d, err)
		}
	}
}
