package transport_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/transport"
)

// zip packs a text.
func zip(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// through sends a body and returns what the provider got.
func through(t *testing.T, tr *transport.Transport, s *stub, body []byte, coding string) (sent []byte, answer *http.Response) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if coding != "" {
		req.Header.Set("Content-Encoding", coding)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return s.sent, resp
}

const chatAnswer = `{"id":"c","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`

// TestCrowdedRequests sends requests that are small and cost much to read. They
// pass as they came, packed where they were packed, and take no more memory
// than a few times what they unpack to.
func TestCrowdedRequests(t *testing.T) {
	race.Skip(t)
	const head = `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}`
	many := func(element, between, end string, n int) string {
		return head + between + strings.TrimPrefix(strings.Repeat(","+element, n), ",") + end
	}
	call := `{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}}`
	for _, c := range []struct {
		name, body string
		read       bool
	}{
		{"messages", many(`{"role":"user","content":"a"}`, ",", "]}", 2_100_000), false},
		{"numbers", many("1", ",", "]}", 20_000_000), false},
		{"brackets", head + "],\"x\":" + strings.Repeat("[", 10_000_000), false},
		{"tools", many("{}", `],"tools":[`, "]}", 10_000_000), false},
		{"parts", many(`{"type":"text","text":"a"}`, `,{"role":"user","content":[`, "]}]}", 2_000_000), false},
		{"calls", many(call, `,{"role":"assistant","tool_calls":[`, "]}]}", 20_000), false},
		// Commas and brackets in a text are a text.
		{"text", many("[{,", `,{"role":"user","content":"`, `\"\\"}]}`, 1_000_000), true},
		{"long", many(`{"role":"user","content":"a"}`, ",", "]}", 2_000), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &stub{status: http.StatusOK, kind: "application/json", answer: []byte(chatAnswer)}
			tr := newTransport(t, transport.Options{Base: s})
			packed := zip(t, c.body)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			sent, resp := through(t, tr, s, packed, "gzip")
			runtime.ReadMemStats(&after)
			if read := resp.Header.Get(transport.HeaderTokens) != ""; read != c.read {
				t.Fatalf("read: %v", read)
			}
			if c.read {
				return
			}
			if !bytes.Equal(sent, packed) && string(sent) != c.body {
				t.Error("what was sent is not what came")
			}
			// Some is taken whatever the size, and more with the race detector on.
			if took, most := after.TotalAlloc-before.TotalAlloc, uint64(8*len(c.body)+32<<20); took > most {
				t.Errorf("%d MB to pass %d MB", took>>20, len(c.body)>>20)
			}
			if n := tr.Stats().Unreadable; n != 1 {
				t.Errorf("%d unreadable", n)
			}
		})
	}
}

// gate is a provider that answers when it is told to.
type gate struct{ entered, answer chan string }

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	g.entered <- r.Header.Get("Content-Encoding")
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(<-g.answer)),
	}, nil
}

// TestUnpackedAtOnce bounds what is unpacked at once. A body that is larger
// than all of it passes as it came. One that does not fit now waits until another
// call has its answer, and passes as it came when that takes long.
func TestUnpackedAtOnce(t *testing.T) {
	text := func(n int) []byte {
		return zip(t, `{"model":"gpt-4o","messages":[{"role":"user","content":"`+strings.Repeat("words ", n)+`"}]}`)
	}
	large, medium := text(500_000), text(300_000) // 3 MB and 1.8 MB
	synctest.Test(t, func(t *testing.T) {
		g := &gate{make(chan string), make(chan string)}
		tr := newTransport(t, transport.Options{Base: g, Unpacked: 4 << 20})
		read := make(chan bool, 9)
		send := func(body []byte) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider/v1/chat/completions", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Encoding", "gzip")
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			read <- resp.Header.Get(transport.HeaderTokens) != ""
		}
		arrives := func(coding string) {
			t.Helper()
			synctest.Wait()
			select {
			case got := <-g.entered:
				if got != coding {
					t.Errorf("arrived with coding %q, want %q", got, coding)
				}
			default:
				t.Fatal("nothing arrived")
			}
		}
		answered := func(want bool) {
			t.Helper()
			g.answer <- chatAnswer
			if got := <-read; got != want {
				t.Errorf("read: %v", got)
			}
		}
		go send(large)
		arrives("gzip")
		answered(false)
		for range 3 { // what is held is given back each time
			go send(medium)
			arrives("")
			go send(medium)
			synctest.Wait()
			select {
			case <-g.entered:
				t.Fatal("two were unpacked at once")
			default:
			}
			answered(true)
			arrives("")
			answered(true)
		}
		go send(medium)
		arrives("")
		go send(medium)
		time.Sleep(time.Minute) // of the test's own clock
		arrives("gzip")
		for range 2 {
			g.answer <- chatAnswer
		}
		if a, b := <-read, <-read; a == b {
			t.Errorf("read: %v and %v", a, b)
		}
	})
}

// TestCodingsOnTop passes a body that was packed more often than anybody would.
func TestCodingsOnTop(t *testing.T) {
	s := &stub{status: http.StatusOK, kind: "application/json", answer: []byte(chatAnswer)}
	tr := newTransport(t, transport.Options{Base: s})
	body := []byte(`{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`)
	coding := ""
	for n := 1; n <= 5; n++ {
		body = zip(t, string(body))
		coding = strings.TrimPrefix(coding+", gzip", ", ")
		sent, resp := through(t, tr, s, body, coding)
		if read := resp.Header.Get(transport.HeaderTokens) != ""; read != (n <= 3) || !read && !bytes.Equal(sent, body) {
			t.Errorf("packed %d times: read %v", n, read)
		}
	}
}

// TestZstdWindows reads a small body whose frame has the largest window that
// HTTP allows, as encoders write it that do not know the size, and passes one
// with a larger window as it came.
func TestZstdWindows(t *testing.T) {
	s := &stub{status: http.StatusOK, kind: "application/json", answer: []byte(chatAnswer)}
	tr := newTransport(t, transport.Options{Base: s})
	for window, want := range map[int]bool{1 << 20: true, 8 << 20: true, 64 << 20: false} {
		var b bytes.Buffer
		z, err := zstd.NewWriter(&b, zstd.WithWindowSize(window))
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range []string{`{"model":"gpt-4o","messages":[{"role":"user",`, `"content":"hi"}]}`} {
			if _, err := io.WriteString(z, piece); err != nil {
				t.Fatal(err)
			}
			if err := z.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		sent, resp := through(t, tr, s, b.Bytes(), "zstd")
		if read := resp.Header.Get(transport.HeaderTokens) != ""; read != want || !read && !bytes.Equal(sent, b.Bytes()) {
			t.Errorf("window %d: read %v", window, read)
		}
	}
}
