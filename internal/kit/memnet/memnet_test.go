package memnet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/memnet"
)

// A server answers its own client, streams, and waits in time that is not the
// clock's.
func TestServer(t *testing.T) {
	begun := time.Now()
	synctest.Test(t, func(t *testing.T) {
		s := memnet.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
			w.(http.Flusher).Flush()
			time.Sleep(time.Hour)
			_, _ = io.WriteString(w, ", and more")
		}))
		start := time.Now()
		resp, err := s.Client().Post(s.URL, "text/plain", strings.NewReader("words"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != "words, and more" || time.Since(start) != time.Hour {
			t.Errorf("%q, %v after %v", body, err, time.Since(start))
		}
	})
	if d := time.Since(begun); d > 10*time.Minute {
		t.Errorf("an hour in the bubble took %v", d)
	}
}

// A client that goes away is noticed, and a closed server takes no more calls.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		s := memnet.Start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			close(gone)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Client().Do(r); !errors.Is(err, context.DeadlineExceeded) { //nolint:bodyclose // there is none
			t.Errorf("err = %v", err)
		}
		<-gone
		s.Close()
		if _, err := s.Client().Get(s.URL); !errors.Is(err, net.ErrClosed) { //nolint:bodyclose // there is none
			t.Errorf("err = %v", err)
		}
	})
}
