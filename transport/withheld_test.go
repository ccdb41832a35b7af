package transport

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/wire"
)

type answering string

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// What a provider withholds is not taken for a summary.
func TestWithheldSummary(t *testing.T) {
	m := &caller{
		base: answering(`{"type":"message","role":"assistant","content":[{"type":"text","text":"## Goal\n- half"}],"stop_reason":"refusal","usage":{}}`),
		url:  "http://127.0.0.1/v1/messages", header: http.Header{}, end: Endpoint{Dialect: wire.Anthropic}, model: "m",
	}
	if out, err := m.Complete(t.Context(), summary.Prompt{Text: "x", Output: 100}); err == nil || !strings.Contains(err.Error(), "withheld") {
		t.Errorf("%+v, %v", out, err)
	}
}
