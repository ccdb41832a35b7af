package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
)

// failingStore is a store that cannot be read.
type failingStore struct{ transport.Store }

func (failingStore) List(context.Context, transport.Tenant, int) ([]planstore.Entry, error) {
	return nil, errors.New("the disk is gone")
}

// TestReady tells whether calls are taken: not while the gateway ends, and not
// where its plans cannot be read. It is up all the same.
func TestReady(t *testing.T) {
	g, url := start(t, gateway.Options{Upstreams: everywhere("http://127.0.0.1:1")})
	if status, text := get(t, url+"/readyz"); status != 200 || !strings.Contains(text, "ready") {
		t.Errorf("%d %s", status, text)
	}
	_, broken := start(t, gateway.Options{Upstreams: everywhere("http://127.0.0.1:1"), Transport: transport.Options{Store: failingStore{transport.NewMemory(transport.Bounds{})}}})
	if status, text := get(t, broken+"/readyz"); status != 503 || strings.Contains(text, "disk") {
		t.Errorf("without a store: %d %s", status, text)
	}
	if status, _ := get(t, broken+"/healthz"); status != 200 {
		t.Errorf("without a store it is up: %d", status)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Serve(ctx, l); err != nil {
		t.Error(err)
	}
	if status, text := get(t, url+"/readyz"); status != 503 || !strings.Contains(text, "shutting down") {
		t.Errorf("at the end: %d %s", status, text)
	}
}

// TestErrorsForAll checks that an error of the gateway's own has what the
// clients of each dialect look for.
func TestErrorsForAll(t *testing.T) {
	_, url := start(t, gateway.Options{Upstreams: []gateway.Upstream{{"openai", "http://127.0.0.1:1"}}})
	status, text := get(t, url+"/v1beta/models")
	var doc struct {
		Type  string
		Error struct {
			Type, Message, Status string
			Code                  int
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || status != 404 || doc.Type != "error" || doc.Error.Type != "not_found" ||
		doc.Error.Code != 404 || doc.Error.Status != "NOT_FOUND" || !strings.Contains(doc.Error.Message, "--upstream") {
		t.Errorf("%d %v %s", status, err, text)
	}
}
