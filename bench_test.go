package winnow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/plan"
)

// large returns the messages of a long coding session: 10,000 messages, about
// a million tokens, most of it tool output.
var large = sync.OnceValue(func() []chat.Message { return longSession(10000, 4, 13) })

// longSession returns messages of a coding session; each result has at least that
// many lines, and some more.
func longSession(messages, lines, more int) []chat.Message {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("lease renew expiry worker shard queue retry batch manifest route plan token budget cache index commit branch handler request response timeout context parse build deploy")
	line := func(i int) string {
		w := func() string { return words[r.IntN(len(words))] }
		switch r.IntN(5) {
		case 0:
			return fmt.Sprintf("\tif err := %s.%s(ctx, %q); err != nil {", w(), strings.ToUpper(w()[:1])+w(), w())
		case 1:
			return fmt.Sprintf("internal/%s/%s.go:%d: %s %s %s", w(), w(), i, w(), w(), w())
		case 2:
			return fmt.Sprintf("2026-11-%02dT%02d:%02d:00Z INFO %s=%d %s=%s", 1+r.IntN(28), r.IntN(24), r.IntN(60), w(), r.IntN(100000), w(), w())
		case 3:
			return fmt.Sprintf("\t%s := new%s(%s, %d)", w(), w(), w(), r.IntN(1000))
		}
		return fmt.Sprintf("// %s the %s before the %s is %s", w(), w(), w(), w())
	}
	var msgs []chat.Message
	for len(msgs) < messages {
		if len(msgs)%101 == 0 {
			msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("Step %d: %s. You must keep the public API as it is.", len(msgs)/101, line(1))))
			continue
		}
		id := fmt.Sprintf("call_%d", len(msgs))
		path := fmt.Sprintf("internal/%s/%s.go", words[r.IntN(len(words))], words[r.IntN(len(words))])
		call := chat.Call(id, "read_file", fmt.Sprintf(`{"path":%q,"offset":%d,"limit":40}`, path, 1+r.IntN(400)))
		if r.IntN(4) == 0 {
			call = chat.Call(id, "bash", fmt.Sprintf(`{"command":"go test ./internal/%s/..."}`, words[r.IntN(len(words))]))
		}
		var out strings.Builder
		for k := range lines + r.IntN(more) {
			out.WriteString(line(k))
			out.WriteByte('\n')
		}
		msgs = append(msgs, chat.CallMessage("Next: "+line(0), call), chat.ResultMessage(id, out.String()))
	}
	return msgs
}

func newLarge(b *testing.B) (*winnow.Winnow, chat.Request) {
	b.Helper()
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5", Window: 200000}})
	if err != nil {
		b.Fatal(err)
	}
	return w, chat.Request{History: chat.NewHistory(large()...)}
}

// BenchmarkFitCold compacts a million tokens with nothing cached.
func BenchmarkFitCold(b *testing.B) {
	_, req := newLarge(b)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		req.History = chat.NewHistory(large()...) // one that remembers nothing
		b.StartTimer()
		w, _ := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: "claude-sonnet-4-5", Window: 200000}})
		r, err := w.Fit(context.Background(), req, winnow.State{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Before.Tokens.Total), "tokens")
		b.ReportMetric(float64(r.After.Tokens.Total), "tokens_after")
	}
}

// BenchmarkHistory builds and hashes the history.
func BenchmarkHistory(b *testing.B) {
	msgs := large()
	for b.Loop() {
		chat.NewHistory(msgs...)
	}
}

// BenchmarkCheckWarm appends one message and checks, again and again; the time
// for the append is part of it.
func BenchmarkCheckWarm(b *testing.B) {
	w, req := newLarge(b)
	if _, err := w.Check(req, winnow.State{}); err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("word ", 100)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i++
		req.History = req.History.Append(chat.ResultMessage("x", text[:len(text)-i%64]))
		if _, err := w.Check(req, winnow.State{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFitBelow is Fit when there is nothing to do.
func BenchmarkFitBelow(b *testing.B) {
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 8000000}})
	if err != nil {
		b.Fatal(err)
	}
	req := chat.Request{History: chat.NewHistory(large()...)}
	if _, err := w.Fit(context.Background(), req, winnow.State{}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Fit(context.Background(), req, winnow.State{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApplyFirst and BenchmarkApplyAgain apply the plan for the history.
func BenchmarkApplyFirst(b *testing.B) {
	w, req := newLarge(b)
	r, err := w.Fit(context.Background(), req, winnow.State{})
	if err != nil {
		b.Fatal(err)
	}
	data, err := r.Plan.MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		p, err := plan.Decode(data)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := plan.Apply(req.History, p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApplyAgain(b *testing.B) {
	w, req := newLarge(b)
	r, err := w.Fit(context.Background(), req, winnow.State{})
	if err != nil {
		b.Fatal(err)
	}
	h := req.History.Append(chat.TextMessage(chat.User, "and now?"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plan.Apply(h, r.Plan); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPeakMemory fits the large history and looks at the heap while it does:
// together with the history it stays below three times the size of its JSON.
func TestPeakMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	body, err := json.Marshal(large())
	if err != nil {
		t.Fatal(err)
	}
	size := len(body)
	msgs := large()
	w := mustNew(winnow.Settings{Model: "claude-sonnet-4-5", Window: 200000})
	o200k.Count("x") // loads the vocabulary, which all conversations share
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	history, used := heapOf(msgs), math.MaxInt
	for range 3 { // a loaded machine collects late
		used = min(used, peakOf(t, w, msgs)+history)
	}
	t.Logf("JSON %.1f MB; history %.1f MB, with everything Fit makes at most %.1f MB: %.1f x the JSON", float64(size)/1e6, float64(history)/1e6, float64(used)/1e6, float64(used)/float64(size))
	if used > 3*size {
		t.Errorf("the heap grew to %.1f x the JSON, the bar is 3", float64(used)/float64(size))
	}
}

// TestConversationMemory keeps many conversations, each of which was fitted as it
// grew. What one of them holds is at most twice its text.
func TestConversationMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	w := mustNew(winnow.Settings{Model: "gpt-4o", Window: 200000})
	size := 0
	grow := func(i int) *winnow.Conversation {
		c := w.Conversation(chat.Request{})
		size = 0
		for k := range 80 {
			for _, m := range []chat.Message{
				user(fmt.Sprintf("Request %d of conversation %d: %s", k, i, strings.Repeat("rename it. ", 10))),
				chat.CallMessage("", chat.Call(fmt.Sprint("call", k), "read", fmt.Sprintf(`{"path":"api/h%d.go"}`, k))),
				chat.ResultMessage(fmt.Sprint("call", k), fmt.Sprintf("package h%d_%d\n", i, k)+strings.Repeat("func handle(ctx context.Context) error\n", 35)),
				said(fmt.Sprintf("Renamed handler %d of %d.", k, i)),
			} {
				for _, p := range m.Parts {
					size += len(p.Text) + len(p.Args)
				}
				c.Append(m)
			}
			if _, err := c.Fit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return c
	}
	const n = 20
	for i := range 3 * n { // fills what all conversations share: vocabulary, tables and caches
		grow(-1 - i)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all [n]*winnow.Conversation
	for i := range all {
		all[i] = grow(i)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := int(after.HeapAlloc-before.HeapAlloc) / n
	t.Logf("%d KB of text, %d KB each, %.2f times", size>>10, each>>10, float64(each)/float64(size))
	if each > 2*size+size/20 { // a twentieth is the measure's own
		t.Errorf("a conversation of %d KB holds %d KB, more than twice its text", size>>10, each>>10)
	}
	runtime.KeepAlive(all)
}

// peakOf returns by how much the heap grows while the messages are fitted.
func peakOf(t *testing.T, w *winnow.Winnow, msgs []chat.Message) int {
	t.Helper()
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(200 * time.Microsecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	r, err := w.Fit(context.Background(), chat.Request{History: chat.NewHistory(msgs...)}, winnow.State{})
	runtime.ReadMemStats(&now)
	close(stop)
	most := max(<-peak, now.HeapAlloc)
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(r)
	return int(most) - int(before.HeapAlloc)
}

// heapOf adds up what the messages themselves take.
func heapOf(msgs []chat.Message) int {
	n := 0
	for i := range msgs {
		n += int(unsafe.Sizeof(msgs[i]))
		for k := range msgs[i].Parts {
			p := &msgs[i].Parts[k]
			n += int(unsafe.Sizeof(*p)) + len(p.Text) + len(p.Args) + len(p.ID) + len(p.Name) + len(p.Data) + len(p.Signature)
		}
	}
	return n
}
