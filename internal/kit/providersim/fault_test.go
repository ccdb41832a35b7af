package providersim

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/winnow-llm/winnow/internal/kit/memnet"
)

func TestParseFault(t *testing.T) {
	for text, want := range map[string]Fault{
		"":                          {},
		"reset-after=3":             {Kind: FaultReset, At: 3},
		"status=429, retry-after=2": {Status: 429, RetryAfter: 2},
		"slow=5ms,stall-after=1":    {Slow: 5 * time.Millisecond, Kind: FaultStall, At: 1},
		"garbage":                   {Kind: FaultGarbage},
		"big=10485760":              {Big: 10 << 20},
		"drop":                      {Drop: true},
		"delay=1s, half-event":      {Delay: time.Second, Kind: FaultHalf},
	} {
		if got, err := ParseFault(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"nonsense", "status=200", "status=x", "slow=fast", "big=-1"} {
		if _, err := ParseFault(text); err == nil {
			t.Errorf("%q accepted", text)
		}
	}
	_, url := sim(t, Options{})
	if status, body := post(t, url+"/v1/messages", am(aUser), "Sim-Fault", "nonsense"); status != 400 || !strings.Contains(body, "no such fault") {
		t.Errorf("%d %s", status, body)
	}
}

func TestStatusFaults(t *testing.T) {
	type want struct{ kind, text string }
	wants := map[string]map[int]want{
		Anthropic: {429: {"rate_limit_error", "rate limit"}, 500: {"api_error", "Internal server error"}, 529: {"overloaded_error", "Overloaded"}, 401: {"authentication_error", "x-api-key"}},
		Chat:      {429: {"tokens", "Rate limit reached"}, 500: {"server_error", "had an error"}, 503: {"server_error", "overloaded"}},
		Responses: {429: {"tokens", "Rate limit reached"}, 500: {"server_error", "had an error"}},
		Gemini:    {429: {"RESOURCE_EXHAUSTED", "exhausted"}, 500: {"INTERNAL", "internal error"}, 503: {"UNAVAILABLE", "overloaded"}},
	}
	for dialect, statuses := range wants {
		s, url := sim(t, Options{})
		c := newClient(dialect)
		c.say("hello")
		for status, w := range statuses {
			req, _ := http.NewRequest(http.MethodPost, url+c.path(), strings.NewReader(c.body()))
			req.Header.Set("Sim-Fault", "retry-after=7,status="+itoa(status))
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			e := parse(t, string(b)).get("error")
			kind := e.get("type").str()
			if dialect == Gemini {
				kind = e.get("status").str()
			}
			if resp.StatusCode != status || kind != w.kind || !strings.Contains(e.get("message").str(), w.text) || resp.Header.Get("Retry-After") != "7" {
				t.Errorf("%s %d: %d %s (Retry-After %q)", dialect, status, resp.StatusCode, b, resp.Header.Get("Retry-After"))
			}
		}
		if r := s.Report(); r.Faulted != len(statuses) || r.Refused != 0 || r.Accepted != 0 {
			t.Errorf("%s: %+v", dialect, r)
		}
	}
}

// TestFaultsInside breaks answers in every way, streaming and not, in every
// dialect; each must end in time and look broken in its own way.
func TestFaultsInside(t *testing.T) {
	for _, dialect := range allDialects {
		for _, stream := range []bool{false, true} {
			s, url := sim(t, Options{StallFor: 50 * time.Millisecond})
			c := newClient(dialect)
			c.stream = stream
			c.say("hello")
			full := func() string {
				_, text := post(t, url+c.path(), c.body(), "Sim-Answer", "text")
				return text
			}()
			for _, fault := range []string{"reset-after=3", "stall-after=3", "half-event=3", "end-after=3", "error-after=3", "drop", "garbage", "empty"} {
				start := time.Now()
				status, body, err := try(http.DefaultClient, url+c.path(), c.body(), "Sim-Answer", "text", "Sim-Fault", fault)
				if d := time.Since(start); d > time.Minute {
					t.Errorf("%s stream=%v %s took %v", dialect, stream, fault, d)
				}
				if len(body) >= len(full) {
					t.Errorf("%s stream=%v %s: %d bytes of %d, not broken", dialect, stream, fault, len(body), len(full))
				}
				name, _, _ := strings.Cut(fault, "=")
				switch name {
				case "reset-after", "stall-after", "drop":
					if err == nil {
						t.Errorf("%s stream=%v %s: no error, status %d, %d bytes", dialect, stream, fault, status, len(body))
					}
					if name == "reset-after" && stream && !errors.Is(err, syscall.ECONNRESET) {
						t.Errorf("%s %s: %v is no reset", dialect, fault, err)
					}
					if name != "drop" && body == "" {
						t.Errorf("%s stream=%v %s: nothing before the break", dialect, stream, fault)
					}
				default:
					if err != nil || status != 200 {
						t.Errorf("%s stream=%v %s: %d %v", dialect, stream, fault, status, err)
					}
					if _, perr := parseValue([]byte(body)); perr == nil {
						t.Errorf("%s stream=%v %s: whole JSON: %.100s", dialect, stream, fault, body)
					}
					if name == "half-event" && stream && strings.HasSuffix(body, "\n\n") {
						t.Errorf("%s %s: the last event is whole", dialect, fault)
					}
					if name == "error-after" && stream && !strings.Contains(strings.ToLower(body), "overloaded") {
						t.Errorf("%s %s: no error event: %s", dialect, fault, body)
					}
				}
			}
			if r := s.Report(); r.Faults["drop"] != 1 || r.Faults["reset-after"] != 1 || r.Faulted != 3 {
				t.Errorf("%s: %+v", dialect, r)
			}
		}
	}
}

func TestBigAnswer(t *testing.T) {
	_, url := sim(t, Options{})
	for _, dialect := range allDialects {
		for _, stream := range []bool{false, true} {
			c := newClient(dialect)
			c.stream = stream
			c.more = strings.Replace(c.more, `"max_tokens":4000`, `"max_tokens":4000000`, 1)
			c.say("hello")
			size := 1 << 20
			if dialect == Anthropic {
				size = 10 << 20
			}
			status, body := post(t, url+c.path(), c.body(), "Sim-Fault", "big="+itoa(size), "Sim-Window", "9000000")
			if status != 200 || len(body) < size {
				t.Errorf("%s stream=%v: %d, %d bytes", dialect, stream, status, len(body))
			}
			if stream {
				if !whollyStreamed(dialect, body) {
					t.Errorf("%s: the stream ends with %q", dialect, body[len(body)-80:])
				}
				continue
			}
			if _, _, out := c.take(t, parse(t, body), ""); out < size/5 {
				t.Errorf("%s: %d output tokens", dialect, out)
			}
		}
	}
}

func TestSlowAndGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{StallFor: time.Hour})
		defer s.Close()
		var busy atomic.Int32
		ts := memnet.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			busy.Add(1)
			defer busy.Add(-1)
			s.Handler().ServeHTTP(w, r)
		}))
		c := newClient(Anthropic)
		c.stream = true
		c.say("hello")
		url := ts.URL + c.path()
		start := time.Now()
		if status, _, err := try(ts.Client(), url, c.body(), "Sim-Fault", "slow=2ms", "Sim-Answer", "text"); status != http.StatusOK || err != nil {
			t.Fatal(status, err)
		}
		if d := time.Since(start); d < 20*time.Millisecond {
			t.Errorf("a slow stream took %v", d)
		}
		// A client that leaves a stalled stream frees the server at once.
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(c.body()))
		req.Header.Set("Sim-Fault", "stall-after=2")
		resp, err := ts.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		cancel()
		resp.Body.Close()
		if synctest.Wait(); busy.Load() > 0 {
			t.Fatal("the stalled handler did not end")
		}
		// Close ends a stall too.
		done := make(chan error, 1)
		go func() {
			_, _, err := try(ts.Client(), url, c.body(), "Sim-Fault", "stall-after=2")
			done <- err
		}()
		if synctest.Wait(); busy.Load() != 1 {
			t.Fatal("the stream did not stall")
		}
		s.Close()
		synctest.Wait()
		select {
		case err := <-done:
			if err == nil {
				t.Error("a stalled stream ended well")
			}
		default:
			t.Fatal("Close did not end the stall")
		}
	})
}

func TestChances(t *testing.T) {
	o := Options{Seed: 5, Faults: []Chance{{Fault{Status: 429, RetryAfter: 1}, 0.2}, {Fault{Status: 500}, 0.1}}}
	run := func() (statuses string) {
		_, url := sim(t, o)
		for range 200 {
			status, _ := post(t, url+"/v1/messages", am(aUser))
			statuses += itoa(status) + " "
		}
		return statuses
	}
	a, b := run(), run()
	if a != b {
		t.Error("the same seed gives other faults")
	}
	if n := strings.Count(a, "429"); n < 20 || n > 60 {
		t.Errorf("%d of 200 were 429, want about 40", n)
	}
	if n := strings.Count(a, "500"); n < 8 || n > 35 {
		t.Errorf("%d of 200 were 500, want about 20", n)
	}
}

func TestCompressedBodies(t *testing.T) {
	s, url := sim(t, Options{})
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = io.WriteString(w, am(aUser))
	_ = w.Close()
	if status, body := post(t, url+"/v1/messages", z.String(), "Content-Encoding", "gzip"); status != 200 {
		t.Errorf("gzip: %d %s", status, body)
	}
	post(t, url+"/v1/messages", am(aUser))
	if r := s.Report(); r.Last[0].SHA256 != r.Last[1].SHA256 {
		t.Error("hashes of the same body, compressed and not, differ")
	}
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pack.Close()
	if status, body := post(t, url+"/v1/messages", string(pack.EncodeAll([]byte(am(aUser)), nil)), "Content-Encoding", "zstd"); status != 200 {
		t.Errorf("zstd: %d %s", status, body)
	}
	if status, _ := post(t, url+"/v1/messages", z.String(), "Content-Encoding", "zstd"); status != 400 {
		t.Errorf("broken zstd: %d", status)
	}
	if status, _ := post(t, url+"/v1/messages", z.String(), "Content-Encoding", "br"); status != http.StatusUnsupportedMediaType {
		t.Errorf("br: %d", status)
	}
	if status, _ := post(t, url+"/v1/messages", "no gzip", "Content-Encoding", "gzip"); status != 400 {
		t.Errorf("broken gzip: %d", status)
	}
}

// TestHold holds a stream back until the test lets it go on, and no longer than
// the client stays.
func TestHold(t *testing.T) {
	on := make(chan struct{})
	_, url := sim(t, Options{Hold: func(_ *Ask, event int) <-chan struct{} {
		if event >= 3 {
			return on
		}
		return nil
	}})
	c := newClient(Anthropic)
	c.stream = true
	c.say("hello")
	for _, leave := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+c.path(), strings.NewReader(c.body()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Sim-Answer", "text")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		begun := make([]byte, 50)
		if _, err := io.ReadFull(resp.Body, begun); err != nil {
			t.Fatal(err)
		}
		if leave {
			cancel()
		} else {
			close(on)
		}
		rest, err := io.ReadAll(resp.Body)
		if whole := strings.Contains(string(rest), "message_stop"); whole == leave || leave != errors.Is(err, context.Canceled) {
			t.Errorf("leaving %v: %v after %s%s", leave, err, begun, rest)
		}
	}
}
