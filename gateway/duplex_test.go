package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/gateway"
)

// TestEarlyAnswer: an upstream may begin to answer while a request that passes
// unread is still arriving. It gets all of it, and its answer is whole.
func TestEarlyAnswer(t *testing.T) {
	const head, rest = "first part, ", "and the rest of the file"
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		begin := make([]byte, len(head))
		if _, err := io.ReadFull(r.Body, begin); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusOK)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		end, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(append(begin, end...))
	}))
	defer up.Close()
	defer up.CloseClientConnections() // where it goes wrong, it would wait for ever
	_, url := start(t, gateway.Options{Upstreams: everywhere(up.URL)})
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	body, more := io.Pipe()
	context.AfterFunc(ctx, func() { _ = more.CloseWithError(ctx.Err()) }) // the client waits for what it sends
	go func() { _, _ = io.WriteString(more, head) }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/files", body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req) // it comes back when the answer has begun
	if err != nil {
		t.Fatalf("the answer never began: %v", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(more, strings.NewReader(rest)); err != nil {
		t.Error(err)
	}
	_ = more.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != head+rest {
		t.Errorf("%v: %q", err, got)
	}
}
