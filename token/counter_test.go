package token

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/cputime"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/o200k"
)

func TestParts(t *testing.T) {
	base64 := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 2000)
	for _, f := range append(allFamilies(), Unknown) {
		c := New(f, nil)
		frame := c.Part(&chat.Part{Kind: chat.ToolCall}) + c.Part(&chat.Part{Kind: chat.ToolResult})
		if frame != c.profile.pair {
			t.Errorf("%s: an empty call and its result cost %d, want the framing of %d", f, frame, c.profile.pair)
		}
		call := chat.Call("call_1", "read_file", `{"path":"a.go"}`)
		half := c.Part(&chat.Part{Kind: chat.ToolCall})
		result := chat.Part{Kind: chat.ToolResult, ID: "call_1", Text: "package a", Content: []chat.Part{{Kind: chat.Image, Data: base64}}}
		for _, tt := range []struct {
			name string
			part chat.Part
			want int
		}{
			{"empty", chat.Part{}, 0},
			{"text", chat.Part{Text: "Hello, world!"}, c.Text("Hello, world!")},
			{"thinking", chat.Part{Kind: chat.Thinking, Text: "Hm.", Signature: base64}, c.Text("Hm.")},
			{"call", call, half + c.Text("read_file") + c.Text(`{"path":"a.go"}`)},
			{"result", result, frame - half + c.Text("package a") + 1024},
			{"image", chat.Part{Kind: chat.Image, Media: "image/png", Data: base64}, 1024},
			{"document", chat.Part{Kind: chat.Document, Data: base64}, 1024},
			{"document with text", chat.Part{Kind: chat.Document, Data: base64, Text: "Read me."}, c.Text("Read me.")},
			{"opaque", chat.Part{Kind: chat.Opaque, Data: `{"type":"web_search"}`}, c.Text(`{"type":"web_search"}`)},
		} {
			if got := c.Part(&tt.part); got != tt.want {
				t.Errorf("%s, %s: %d tokens, want %d", f, tt.name, got, tt.want)
			}
		}
		opaque := chat.Part{Kind: chat.Opaque, Data: `{"type":"reasoning","encrypted_content":"` + base64 + `"}`}
		if got := c.Part(&opaque); got > 1024+60 {
			t.Errorf("%s: encrypted reasoning costs %d tokens: it was counted as text", f, got)
		}
		hidden := chat.Part{Kind: chat.Thinking, Signature: base64[:1600]}
		if got := c.Part(&hidden); got != 300 {
			t.Errorf("%s: hidden reasoning costs %d tokens, want 300", f, got)
		}
		encoded := chat.Call("call_1|"+base64, "read_file", `{"path":"a.go"}`)
		if got, want := c.Part(&encoded), c.Part(&call); got != want {
			t.Errorf("%s: a call whose id is encoded state costs %d tokens, want %d", f, got, want)
		}
	}
}

func TestMessageFraming(t *testing.T) {
	c := New(Claude5, nil)
	text := func(r chat.Role) *chat.Message { m := chat.TextMessage(r, "one two"); return &m }
	words := c.Text("one two")
	if got, want := c.Message(text(chat.User)), words+4; got != want {
		t.Errorf("a user's message costs %d, want %d", got, want)
	}
	if got, want := c.Message(text(chat.Assistant)), words+14; got != want {
		t.Errorf("a step costs %d, want %d", got, want)
	}
	result := chat.ResultMessage("call_1", "one two")
	if got, want := c.Message(&result), words+24; got != want {
		t.Errorf("a result costs %d, want %d", got, want)
	}
	result.Role = chat.User
	if got, want := c.Message(&result), words+24; got != want {
		t.Errorf("a result in a user's message costs %d, want %d", got, want)
	}
	if got := c.Message(&chat.Message{Role: chat.User}); got != 4 {
		t.Errorf("an empty message costs %d, want its framing", got)
	}
}

func TestRequestIsTheSum(t *testing.T) {
	c := New(O200K, nil)
	r := &chat.Request{
		System:  []chat.Part{{Text: "You are terse."}},
		Tools:   []chat.ToolDef{{Name: "ls", Description: "List a folder", Schema: `{"type":"object"}`}},
		History: chat.NewHistory(chat.TextMessage(chat.User, "hi"), chat.TextMessage(chat.Assistant, "Hello.")),
	}
	want := c.System(r.System) + c.Tools(r.Tools) + c.Messages(r.History)
	if got := c.Request(r); got != want || c.Tools(nil) != 0 || c.System(nil) != 0 {
		t.Errorf("the request has %d tokens, want %d", got, want)
	}
	one, three := c.Tools(r.Tools), c.Tools([]chat.ToolDef{r.Tools[0], r.Tools[0], r.Tools[0]})
	if three != 3*one {
		t.Errorf("three tools cost %d, one %d", three, one)
	}
}

func TestUnknownFamilyNames(t *testing.T) {
	if c := New("gpt-99", nil); c.Family() != Unknown || c.Text("hello there") == 0 {
		t.Errorf("a family nobody knows is counted as %q", c.Family())
	}
	for _, f := range allFamilies() {
		if got, err := ParseFamily(f.String()); err != nil || got != f {
			t.Errorf("ParseFamily(%q) = %q, %v", f, got, err)
		}
	}
	if got, err := ParseFamily("unknown"); err != nil || got != Unknown {
		t.Errorf("ParseFamily(unknown) = %q, %v", got, err)
	}
	if _, err := ParseFamily("gpt-99"); err == nil || !strings.Contains(err.Error(), "o200k") {
		t.Errorf("the error for an unknown family does not name those there are: %v", err)
	}
}

func TestMethodAndBand(t *testing.T) {
	exact := &Options{Exact: true}
	for _, tt := range []struct {
		c    *Counter
		want Method
	}{
		{New(O200K, nil), Estimated},
		{New(O200K, exact), Exact},
		{New(Llama3, exact), Weighted},
		{New(Unknown, exact), Weighted},
	} {
		if got := tt.c.Count(1000); got.Method != tt.want || got.Tokens != 1000 || got.Band != tt.c.Band() {
			t.Errorf("%s: the count is %+v, want method %s", tt.c.Family(), got, tt.want)
		}
	}
	if got := (Count{Tokens: 1000, Band: 0.081}); got.Upper() != 1081 || got.Lower() != 919 {
		t.Errorf("1000 with 8.1 %% either way is %d to %d", got.Lower(), got.Upper())
	}
	if est, ex := New(Qwen3, nil).Band(), New(Qwen3, exact).Band(); ex >= est {
		t.Errorf("the vocabulary's band %v is not narrower than the table's %v", ex, est)
	}
}

// Sentences in scripts that no table was trained on, of the same content.
var otherScripts = map[string]string{
	"Arabic":   "أعد الخادم تشغيل نفسه لأن القرص كان ممتلئا، ثم فشل الاختبار مرة أخرى.",
	"Hebrew":   "השרת הופעל מחדש כי הדיסק היה מלא, ואז הבדיקה נכשלה שוב.",
	"Greek":    "Ο διακομιστής επανεκκινήθηκε επειδή ο δίσκος ήταν γεμάτος και η δοκιμή απέτυχε ξανά.",
	"Thai":     "เซิร์ฟเวอร์รีสตาร์ทเพราะดิสก์เต็ม แล้วการทดสอบก็ล้มเหลวอีกครั้ง",
	"Hindi":    "सर्वर फिर से चालू हुआ क्योंकि डिस्क भर गई थी, और परीक्षण फिर विफल रहा।",
	"Bengali":  "সার্ভারটি আবার চালু হয়েছে কারণ ডিস্ক ভরে গিয়েছিল, তারপর পরীক্ষা আবার ব্যর্থ হয়েছে।",
	"Tamil":    "வட்டு நிரம்பியதால் சேவையகம் மீண்டும் தொடங்கியது, பின்னர் சோதனை மீண்டும் தோல்வியடைந்தது.",
	"Georgian": "სერვერი გადაიტვირთა, რადგან დისკი სავსე იყო, და ტესტი ისევ ჩავარდა.",
}

func TestOtherScriptsAreNotUndercounted(t *testing.T) {
	table := New(O200K, nil)
	for name, s := range otherScripts {
		got, truth := float64(table.Text(s)), float64(o200k.Count(s))
		if got < 0.95*truth || got > 2.5*truth {
			t.Errorf("%s: %v tokens estimated, %v in truth", name, got, truth)
		}
	}
}

func TestAtRemembers(t *testing.T) {
	c := New(O200K, nil)
	h := chat.NewHistory(chat.TextMessage(chat.User, mixedText(4000)), chat.CallMessage("Reading.", chat.Call("c1", "read", `{"p":1}`)), chat.ResultMessage("c1", mixedText(900)))
	for range 2 {
		for i := range h.Len() {
			if got, want := c.At(h, i), c.Message(h.At(i)); got != want {
				t.Errorf("message %d: %d tokens, want %d", i, got, want)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { c.At(h, 0) }); n != 0 {
		t.Errorf("a remembered count allocates %v times", n)
	}
	if c := New(O200K, &Options{CacheSize: -1}); c.cache != nil || c.At(h, 0) != c.Message(h.At(0)) {
		t.Error("a counter without cache does not count")
	}
}

func TestCacheIsBounded(t *testing.T) {
	const size = 320
	c := New(O200K, &Options{CacheSize: size})
	var msgs []chat.Message
	for i := range 5000 {
		msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprint("message ", i)))
	}
	h := chat.NewHistory(msgs...)
	for i := range h.Len() {
		c.At(h, i)
		if i%500 == 0 {
			c.At(h, 0)
		}
	}
	if n := c.cache.len(); n > size || n < size/4 {
		t.Errorf("the cache keeps %d counts, want at most %d", n, size)
	}
}

func TestConcurrentUse(t *testing.T) {
	var msgs []chat.Message
	for i := range 300 {
		msgs = append(msgs, chat.TextMessage(chat.User, mixedText(i)))
	}
	h := chat.NewHistory(msgs...)
	c := New(Qwen3, &Options{CacheSize: 64})
	want := c.Messages(h)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got := c.Conversation()
			for i := range h.Len() {
				got += c.At(h, i)
			}
			if got != want {
				t.Errorf("%d tokens, want %d", got, want)
			}
		})
	}
	wg.Wait()
}

// hostile are texts that make careless tokenizers quadratic.
func hostile(n int) map[string]string {
	random := make([]byte, n)
	letters := make([]byte, n)
	x := uint32(1)
	for i := range random {
		x = x*1664525 + 1013904223
		random[i], letters[i] = byte(x>>24), 'a'+byte(x>>16)%26
	}
	m := map[string]string{"random bytes": string(random), "random letters": string(letters)}
	for _, unit := range []string{"a", " ", "\n", "!", " \n", "\n \n", "7", "😀", "中"} {
		m[fmt.Sprintf("%q", unit)] = strings.Repeat(unit, n/len(unit)+1)[:n/len(unit)*len(unit)]
	}
	return m
}

func TestHostileTextsStayFast(t *testing.T) {
	race.Skip(t)
	// Quadratic code takes most of a minute for this, on an idle machine.
	const size, limit = 1 << 18, 5 * time.Second
	for name, s := range hostile(size) {
		for _, c := range []*Counter{New(O200K, nil), New(Unknown, nil), New(Gemma3, &Options{Exact: true})} {
			var n int
			if d := cputime.Of(func() { n = c.Text(s) }); d > limit {
				t.Errorf("%s, %s: counting 256 KB took %v", name, c.Method(), d)
			}
			if n < 1 || n > 2*size {
				t.Errorf("%s, %s: %d tokens in %d bytes", name, c.Method(), n, size)
			}
			var got string
			if d := cputime.Of(func() { got = c.Truncate(s, 500) }); d > limit {
				t.Errorf("%s, %s: truncating 256 KB took %v", name, c.Method(), d)
			}
			if c.Text(got) > 500 {
				t.Errorf("%s, %s: %d tokens after truncation to 500", name, c.Method(), c.Text(got))
			}
		}
	}
}

// len returns how many entries are kept.
func (c *cache) len() int {
	n := 0
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n += s.young.n + s.old.n
		s.mu.Unlock()
	}
	return n
}

// Several counters may count one history at once, and histories share messages:
// each count is the counter's own.
func TestCountersShareAHistory(t *testing.T) {
	var msgs []chat.Message
	for i := range 40 {
		msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("message %d: %s", i, mixedText(50*i))))
	}
	h := chat.NewHistory(msgs...)
	longer := h.Append(chat.TextMessage(chat.Assistant, "One way on."))
	forked := h.Append(chat.TextMessage(chat.Assistant, "Another way on, with more to say about it than the first."))
	counters := []*Counter{New(O200K, nil), New(Claude, nil), New(O200K, &Options{CacheSize: 9}), New(Unknown, &Options{CacheSize: -1})}
	var wg sync.WaitGroup
	for _, c := range counters {
		wg.Go(func() {
			for range 3 {
				for _, h := range []chat.History{h, longer, forked, h.Head(7), longer.Append(msgs[3], msgs[5])} {
					for i := range h.Len() {
						if got, want := c.At(h, i), c.Message(h.At(i)); got != want {
							t.Errorf("%s: message %d has %d tokens, want %d", c.Family(), i, got, want)
							return
						}
					}
				}
			}
		})
	}
	wg.Wait()
}
