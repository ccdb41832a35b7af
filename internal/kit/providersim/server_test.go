package providersim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestDeterminism(t *testing.T) {
	ck := newClock()
	for _, dialect := range allDialects {
		for _, stream := range []bool{false, true} {
			answer := func(seed uint64, text string) string {
				_, url := sim(t, Options{Seed: seed, Now: ck.Now})
				c := newClient(dialect)
				c.stream = stream
				c.say(text)
				_, body := post(t, url+c.path(), c.body())
				return body
			}
			a := answer(1, "hello")
			if b := answer(1, "hello"); a != b {
				t.Errorf("%s: the same request and seed give\n%.300s\n%.300s", dialect, a, b)
			}
			if b := answer(2, "hello"); a == b {
				t.Errorf("%s: another seed gives the same", dialect)
			}
			if b := answer(1, "hello!"); a == b {
				t.Errorf("%s: another request gives the same", dialect)
			}
		}
	}
}

func TestReport(t *testing.T) {
	var seen []string
	_, url := sim(t, Options{Keep: 2, OnRequest: func(r Record, body []byte) {
		seen = append(seen, fmt.Sprint(r.Status, " ", len(body)))
	}})
	bodies := []string{am(aUser), am(user(aRes1)), am(aUser + "," + aDone + "," + aUser)}
	for _, b := range bodies {
		post(t, url+"/v1/messages", b)
	}
	post(t, url+"/v1/messages/count_tokens", bodies[0])
	resp, err := http.Get(url + "/sim/requests")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	v := parse(t, string(text))
	for name, want := range map[string]int{"accepted": 2, "refused": 1, "counted": 1, "faulted": 0} {
		if got := v.get(name).num(-1); got != want {
			t.Errorf("%s %d, want %d", name, got, want)
		}
	}
	if v.path("refused_by", ruleResult).num(0) != 1 || v.path("tokens", "input").num(0) == 0 || v.path("tokens", "output").num(0) == 0 {
		t.Errorf("report %s", text)
	}
	last := v.get("last").elems
	sum := sha256.Sum256([]byte(bodies[2]))
	if len(last) != 2 || last[0].get("sha256").str() != hex.EncodeToString(sum[:]) {
		t.Errorf("last: %s", v.get("last").raw)
	}
	if len(seen) != 4 || !strings.HasPrefix(seen[1], "400 ") {
		t.Errorf("OnRequest saw %v", seen)
	}
}

func TestToolChoice(t *testing.T) {
	_, url := sim(t, Options{})
	tools := `"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"b","input_schema":{"type":"object"}}]`
	for i := range 10 {
		msg := user(`{"type":"text","text":"task ` + itoa(i) + `"}`)
		for choice, check := range map[string]func(calls []string) bool{
			`{"type":"none"}`: func(c []string) bool { return len(c) == 0 },
			`{"type":"any"}`:  func(c []string) bool { return len(c) > 0 },
			`{"type":"any","disable_parallel_tool_use":true}`: func(c []string) bool { return len(c) == 1 },
			`{"type":"tool","name":"b"}`:                      func(c []string) bool { return len(c) > 0 && strings.Count(strings.Join(c, ""), "b") == len(c) },
		} {
			_, body := post(t, url+"/v1/messages", am(msg, tools, `"tool_choice":`+choice))
			var calls []string
			for _, b := range parse(t, body).get("content").elems {
				if b.get("type").str() == "tool_use" {
					calls = append(calls, b.get("name").str())
				}
			}
			if !check(calls) {
				t.Errorf("%s: calls %v", choice, calls)
			}
		}
	}
}

func TestOwnAgentAndCounter(t *testing.T) {
	_, url := sim(t, Options{
		Count: func(b []byte) int { return len(b) },
		Agent: func(a *Ask) []Block { return []Block{{Kind: Text, Text: "I am " + a.Model}} },
	})
	_, body := post(t, url+"/v1/messages", am(user(`{"type":"text","text":"12345"}`)))
	v := parse(t, body)
	if got := v.get("content").elems[0].get("text").str(); got != "I am claude-opus-5" {
		t.Errorf("answer %q", got)
	}
	if got := v.path("usage", "input_tokens").num(0); got != 5+tokensPerPrompt+tokensPerMessage {
		t.Errorf("input_tokens %d", got)
	}
}

func TestMediaIsNotText(t *testing.T) {
	_, url := sim(t, Options{})
	data := strings.Repeat("QUJD", 100_000)
	for path, body := range map[string]string{
		"/v1/messages/count_tokens":                 am(user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`)),
		"/v1/responses/input_tokens":                rm(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,` + data + `"}]}`),
		"/v1beta/models/gemini-2.5-pro:countTokens": gm(`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"` + data + `"}}]}`),
	} {
		_, text := post(t, url+path, body)
		v := parse(t, text)
		if n := v.firstOf("input_tokens", "totalTokens").num(0); n < tokensPerImage || n > tokensPerImage+20 {
			t.Errorf("%s: %d tokens", path, n)
		}
	}
}

// TestManyClients runs 32 agents at once, with faults, and looks for answers
// that are not theirs and for goroutines that stay.
func TestManyClients(t *testing.T) {
	before := runtime.NumGoroutine()
	s := New(Options{Seed: 11, StallFor: 20 * time.Millisecond, Faults: []Chance{
		{Fault{Status: 429, RetryAfter: 1}, 0.05},
		{Fault{Status: 500}, 0.03},
		{Fault{Kind: FaultReset, At: 3}, 0.04},
		{Fault{Kind: FaultStall, At: 2}, 0.03},
		{Fault{Kind: FaultHalf, At: 4}, 0.03},
		{Fault{Drop: true}, 0.02},
		{Fault{Slow: time.Millisecond}, 0.02},
	}})
	ts := httptest.NewServer(s.Handler())
	tr := &http.Transport{MaxIdleConnsPerHost: 32}
	hc := &http.Client{Transport: tr, Timeout: 5 * time.Minute}
	// What a quiet server with the same seed answers is what each must get.
	quiet := New(Options{Seed: 11})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			c := newClient(allDialects[i%4])
			c.stream = i%8 < 4
			done := 0
			for attempt := 0; done < 6 && attempt < 200; attempt++ {
				if len(c.history) == 0 {
					c.say(fmt.Sprintf("client %d starts with %s", i, tokens(200+r.IntN(2000), "w")))
				}
				status, text, err := try(hc, ts.URL+c.path(), c.body())
				if err != nil || status != 200 {
					if status >= 400 && status < 429 {
						t.Errorf("client %d refused: %s", i, text)
						return
					}
					continue
				}
				if c.stream && !whollyStreamed(c.dialect, text) {
					continue
				}
				w := httptest.NewRecorder()
				quiet.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, c.path(), strings.NewReader(c.body())))
				want, got := *c, *c
				want.history, got.history = nil, nil
				want.take(t, parse(t, text0(t, c.dialect, c.stream, w.Body.String())), "ok")
				v, perr := parseValue([]byte(text))
				if !c.stream && perr != nil {
					continue // half a body
				}
				if c.stream {
					v = parse(t, text0(t, c.dialect, true, text))
				}
				calls, _, _ := got.take(t, v, "ok")
				if strings.Join(want.history, "") != strings.Join(got.history, "") {
					t.Errorf("client %d got an answer that is not its own", i)
					return
				}
				c.history = append(c.history, got.history...)
				if calls == 0 {
					c.say("go on with api/handler.go")
				}
				done++
			}
			if done < 6 {
				t.Errorf("client %d came only to %d answers", i, done)
			}
		})
	}
	wg.Wait()
	r := s.Report()
	if r.Refused != 0 || r.Accepted < 32*6 || r.Faulted == 0 {
		t.Errorf("report: accepted %d, refused %v, faulted %d", r.Accepted, r.RefusedBy, r.Faulted)
	}
	if r.CacheShare() <= 0 {
		t.Error("nothing was read from the cache")
	}
	s.Close()
	quiet.Close()
	tr.CloseIdleConnections()
	ts.Close()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before, %d after\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
		}
	}
}

// whollyStreamed tells whether a stream came to its end.
func whollyStreamed(dialect, text string) bool {
	end := map[string]string{Chat: "[DONE]\n\n", Responses: "event: response.completed", Anthropic: "event: message_stop", Gemini: `"finishReason"`}[dialect]
	return strings.Contains(text, end) && strings.HasSuffix(text, "\n\n")
}

func BenchmarkServe(b *testing.B) {
	for _, size := range []int{4 << 10, 100 << 10, 600 << 10, 2 << 20} {
		for _, dialect := range allDialects {
			b.Run(fmt.Sprintf("%s/%dKB", dialect, size>>10), func(b *testing.B) {
				s := New(Options{Window: 10_000_000})
				c := newClient(dialect)
				for i := 0; i < 50; i++ {
					c.say(tokens(size/200, fmt.Sprint("m", i, " ")))
				}
				body := c.body()
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					w := httptest.NewRecorder()
					s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, c.path(), strings.NewReader(body)))
					if w.Code != 200 {
						b.Fatal(w.Body.String())
					}
				}
			})
		}
	}
}
