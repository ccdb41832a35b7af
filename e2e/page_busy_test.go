package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// stream is an agent's conversation through a gateway that is too long to be
// written anew for every request.
type stream struct {
	talk
	body     bytes.Buffer // of the messages
	messages int
	requests int
}

// add puts messages at the end.
func (s *stream) add(t *testing.T, messages ...message) {
	t.Helper()
	for _, m := range messages {
		if s.messages > 0 {
			s.body.WriteByte(',')
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		s.body.Write(text)
		s.messages++
	}
}

// request sends what there is.
func (s *stream) request(t *testing.T) {
	t.Helper()
	body := io.MultiReader(strings.NewReader(`{"model":"gpt-5","messages":[`), bytes.NewReader(s.body.Bytes()), strings.NewReader("]}"))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("request %d: %s %.500s", s.requests+1, resp.Status, text)
	}
	s.requests++
}

// exchange is a call with a short result.
func exchange(i int) []message {
	id := fmt.Sprintf("step_%d", i)
	return []message{
		{"role": "assistant", "content": fmt.Sprintf("Step %d.", i), "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{
			"name": "read_file", "arguments": fmt.Sprintf(`{"path":"services/part%d.go"}`, i%40),
		}}}},
		{"role": "tool", "tool_call_id": id, "content": fmt.Sprintf("1\tfunc part%d(total int) int {\n2\t\treturn total + %d\n3\t}\n", i, i)},
	}
}

// step adds an exchange and sends it.
func (s *stream) step(t *testing.T) {
	t.Helper()
	s.add(t, exchange(s.requests)...)
	s.request(t)
}

// watch notes in the page what keeps it from answering its reader.
const watch = `window.tasks = []; new PerformanceObserver((l) => l.getEntries().forEach((e) => tasks.push(e.duration))).observe({type: "longtask"}); 0`

// after is how long a reader waits after a click until the page shows something
// and has been painted, in milliseconds.
func after(t *testing.T, ctx context.Context, clicked, shown string) float64 {
	t.Helper()
	took, err := chromedp.Run(ctx, chromedp.Evaluate[float64](fmt.Sprintf(`new Promise((done) => {
		const start = performance.now()
		document.querySelector(%s).click()
		const look = () => document.querySelector(%s) ? requestAnimationFrame(() => done(performance.now() - start)) : requestAnimationFrame(look)
		look()
	})`, quoted(clicked), quoted(shown)), chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", clicked, err)
	}
	return took
}

// used is the time of processors that a process has used, in ticks of the kernel;
// -1 where that cannot be known.
func used(t *testing.T, pid int) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return -1
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		t.Fatalf("/proc/%d/stat says %q", pid, data)
	}
	return user + system
}

// TestPageOfABusyGateway looks at a conversation of 10,000 messages and 500
// requests while further ones come in: the page opens in under a second, answers
// its reader at once and asks for nothing that nobody wants to see; and the
// gateway does not work more because somebody looks.
//
// Times by the clock are held to their bars with WINNOW_BARS=1 alone, on a quiet
// machine: WINNOW_BARS=1 e2e/run -run TestPageOfABusyGateway -v
func TestPageOfABusyGateway(t *testing.T) {
	sim, end, err := startProcess(t.TempDir(), "sim", "--listen", "127.0.0.1:0", "--window", "200000")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	g, _ := gatewayOf(t, 200_000, sim)
	s := &stream{talk: talk{url: g.url, key: "sk-carol-0123456789abcdef"}}
	s.add(t, message{"role": "user", "content": "Rename the field total to sum in every service."})
	for s.requests < 479 {
		s.step(t)
	}
	for i := 1000; s.messages < 9_998; i++ { // an agent that worked elsewhere meanwhile
		s.add(t, exchange(i)...)
	}
	s.step(t)
	if s.messages < 10_000 || s.requests != 480 {
		t.Fatalf("%d messages, %d requests", s.messages, s.requests)
	}

	ctx := tab(t)
	s.enter(t, ctx)
	do(t, ctx, shows(".bar"))
	page := js[string](t, ctx, "location.href")
	view := 1000.0
	open := func() float64 {
		do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(page), shows(".bar"))
		return js[float64](t, ctx, "performance.getEntriesByName('winnow-shown')[0].startTime")
	}
	leave := func() { do(t, ctx, chromedp.Navigate("about:blank")) }

	// Requests with the page open and without, by turns, so that what else the
	// machine does falls on both.
	var opened, waited, longest float64
	var alone, watched int
	for range 4 {
		leave()
		before := used(t, g.pid)
		for range 20 {
			s.step(t)
		}
		alone += used(t, g.pid) - before

		opened = max(opened, open())
		js[int](t, ctx, watch)
		asked := js[int](t, ctx, "performance.getEntriesByType('resource').length")
		before = used(t, g.pid)
		for range 20 {
			s.step(t)
		}
		watched += used(t, g.pid) - before
		until(t, ctx, "document.querySelector('main .fresh').textContent.startsWith('20 new requests')")
		// The list of conversations is looked after every five seconds; the
		// conversation itself is not read again before the reader asks for it.
		if again := js[int](t, ctx, fmt.Sprintf("performance.getEntriesByType('resource').slice(%d).filter((e) => !/\\/conversations$/.test(e.name)).length", asked)); again != 0 {
			t.Errorf("the page asked %d times for what its reader did not want to see", again)
		}
		waited = max(waited, after(t, ctx, ".tabs a[href$='/messages']", "#m49"), after(t, ctx, plansTab, "#plans-title"), after(t, ctx, ".tabs a:first-child", ".bar"), after(t, ctx, "main .fresh button", "main .fresh:empty"))
		longest = max(longest, js[float64](t, ctx, "Math.max(0, ...tasks)"))
	}
	var d struct {
		Messages int
		Requests []any
		Totals   struct{ Requests int }
	}
	getJSON(t, g.url+"/winnow/conversations/"+js[string](t, ctx, "location.hash.split('/')[2]"), http.Header{"Authorization": {"Bearer " + s.key}}, &d)
	if d.Totals.Requests != s.requests || len(d.Requests) != s.requests || d.Messages != s.messages {
		t.Errorf("%d requests and %d messages were sent; it shows %+v and %d", s.requests, s.messages, d.Totals, d.Messages)
	}
	ratio := float64(watched) / float64(max(alone, 1))
	t.Logf("%d messages, %d requests: the page opens in %.0f ms, shows what was clicked in %.0f ms, its longest task has %.0f ms; the gateway uses %.2f times as much with the page open (%d and %d ticks for 80 requests)",
		d.Messages, d.Totals.Requests, opened, waited, longest, ratio, watched, alone)
	bars := 1.0
	if !strictBars {
		bars = 10 // for a machine that does other things too
	}
	if opened > bars*view {
		t.Errorf("the page opens in %.0f ms, more than %.0f", opened, bars*view)
	}
	if waited > bars*view/2 {
		t.Errorf("its reader waits %.0f ms after a click, more than %.0f", waited, bars*view/2)
	}
	if longest > bars*view/4 {
		t.Errorf("it is busy for %.0f ms at once, more than %.0f", longest, bars*view/4)
	}
	if most := map[bool]float64{true: 1.25, false: 2.5}[strictBars]; alone > 0 && ratio > most {
		t.Errorf("the gateway uses %.2f times as much while somebody looks, more than %.2f", ratio, most)
	}
}
