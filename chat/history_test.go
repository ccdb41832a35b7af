package chat_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
)

func TestEmptyHistory(t *testing.T) {
	var zero chat.History
	for _, h := range []chat.History{zero, chat.NewHistory(), zero.Head(0), zero.Append()} {
		if h.Len() != 0 || h.Chain(0) != (chat.Hash{}) || !h.StartsWith(0, chat.Hash{}) || h.StartsWith(1, chat.Hash{}) {
			t.Errorf("an empty history has %d messages and the hash %s", h.Len(), h.Chain(0))
		}
		if g := h.Append(conv("u")...); g.Len() != 1 || g.Digest(0) != chat.NewHistory(conv("u")...).Digest(0) {
			t.Error("appending to an empty history is not the same as making one")
		}
	}
}

// However a history is put together, the same messages give the same hashes.
func TestChainDependsOnContentOnly(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 3))
		msgs := randhist.Messages(r, randhist.Options{})
		whole := chat.NewHistory(msgs...)
		var pieces chat.History
		for rest := msgs; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			pieces = pieces.Append(rest[:n]...)
			rest = rest[n:]
		}
		for i := range msgs {
			if whole.Digest(i) != pieces.Digest(i) || whole.Chain(i+1) != pieces.Chain(i+1) || whole.Digest(i) != msgs[i].Digest() {
				t.Fatalf("seed %d: message %d has another hash when it is appended", seed, i)
			}
			if h := whole.Head(i); h.Len() != i || h.Chain(i) != whole.Chain(i) || !whole.StartsWith(i, h.Chain(i)) {
				t.Fatalf("seed %d: the head of %d messages has another hash", seed, i)
			}
		}
		if len(msgs) > 1 && whole.StartsWith(len(msgs), whole.Chain(1)) {
			t.Fatalf("seed %d: the whole has its first link's hash", seed)
		}
	}
}

// A long history is digested on two goroutines: the hashes are the same.
func TestLongHistory(t *testing.T) {
	msgs := randhist.Messages(rand.New(rand.NewPCG(1, 1)), randhist.Options{Messages: 1500, MaxText: 4000})
	h := chat.NewHistory(msgs...)
	for i := range msgs {
		if h.Digest(i) != msgs[i].Digest() {
			t.Fatalf("message %d has another digest in a long history", i)
		}
	}
}

// setField puts something into a field of a part or message.
func setField(v reflect.Value, name string) {
	switch f := v.FieldByName(name); f.Kind() {
	case reflect.String:
		f.SetString(f.String() + "changed")
	case reflect.Bool:
		f.SetBool(!f.Bool())
	case reflect.Uint8:
		f.SetUint(f.Uint() + 1)
	case reflect.Int, reflect.Int64:
		f.SetInt(f.Int() + 1)
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Slice:
		f.Set(reflect.Append(f, reflect.Zero(f.Type().Elem())))
	default:
		panic(name + " is of a kind that this test does not know")
	}
}

// Every field of a message and a part is either content, which changes the
// hash, or says where the message came from, which does not. A field that is
// added later must be put in one of the two classes.
func TestWhatTheHashCovers(t *testing.T) {
	provenance := map[string]bool{"ID": true, "Model": true, "Usage": true, "Time": true, "Wire": true}
	part := chat.Part{Kind: chat.ToolResult, Text: "text", ID: "A", Content: []chat.Part{{Kind: chat.Image, Data: "aGk="}}}
	fresh := func() chat.Message {
		p := part
		p.Content = append([]chat.Part(nil), part.Content...)
		return chat.Message{Role: chat.User, Parts: []chat.Part{p}}
	}
	m := fresh()
	before := m.Digest()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[chat.Message]()) {
		m := fresh()
		setField(reflect.ValueOf(&m).Elem(), f.Name)
		if changed := m.Digest() != before; changed == provenance[f.Name] {
			t.Errorf("Message.%s: the hash changed: %v", f.Name, changed)
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[chat.Part]()) {
		m := fresh()
		setField(reflect.ValueOf(&m.Parts[0]).Elem(), f.Name)
		if m.Digest() == before {
			t.Errorf("Part.%s does not change the hash", f.Name)
		}
		m = fresh()
		setField(reflect.ValueOf(&m.Parts[0].Content[0]).Elem(), f.Name)
		if m.Digest() == before {
			t.Errorf("Part.%s inside a result does not change the hash", f.Name)
		}
	}
}

// Content that is cut at other places, or moved to the field beside, hashes
// differently.
func TestHashKeepsPartsApart(t *testing.T) {
	text := func(parts ...string) chat.Message {
		m := chat.Message{Role: chat.User}
		for _, p := range parts {
			m.Parts = append(m.Parts, chat.Part{Kind: chat.Text, Text: p})
		}
		return m
	}
	big := strings.Repeat("x", 5000)
	synthetic := text("a")
	synthetic.Synthetic = true
	msgs := []chat.Message{
		text(), text(""), text("", ""), text("ab"), text("a", "b"), text("b", "a"), text("ab", ""), synthetic, text("a"),
		text(big), text(big, ""), text(big+"a", "b"), text(big, "ab"), text(big[:4999], "x"), text("x", big[:4999]),
		chat.TextMessage(chat.Assistant, "a"),
		{Role: chat.User, Parts: []chat.Part{{Kind: chat.Text, ID: "a"}}},
		{Role: chat.User, Parts: []chat.Part{{Kind: chat.Text, Name: "a"}}},
		{Role: chat.User, Parts: []chat.Part{{Kind: chat.ToolResult}, {Kind: chat.Image}}},
		{Role: chat.User, Parts: []chat.Part{{Kind: chat.ToolResult, Content: []chat.Part{{Kind: chat.Image}}}}},
		// These two gave the same bytes to the hash when the mark of a synthetic
		// message was written only where it was set.
		{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Document}, {Kind: chat.Text, ID: "a"}}},
		{Role: chat.User, Parts: []chat.Part{{Kind: chat.Thinking, Text: strings.Repeat("\x00", 10), ID: "a"}}},
	}
	seen := map[chat.Hash]int{}
	for i := range msgs {
		d := msgs[i].Digest()
		if j, ok := seen[d]; ok {
			t.Errorf("messages %d and %d have the same hash", i, j)
		}
		seen[d] = i
	}
}

func TestOrderChangesTheChain(t *testing.T) {
	m := conv("u a")
	if a, b := chat.NewHistory(m[0], m[1]), chat.NewHistory(m[1], m[0]); a.Chain(2) == b.Chain(2) {
		t.Error("the chain does not depend on the order")
	}
}

// Histories that grow from one prefix do not disturb each other, nor the prefix.
func TestForks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	base := chat.NewHistory(conv("u a u a")...)
	type fork struct {
		h    chat.History
		want []string
	}
	texts := func(h chat.History) (s []string) {
		for _, m := range h.All() {
			s = append(s, m.Text())
		}
		return s
	}
	forks := []fork{{base, texts(base)}}
	for i := range 400 {
		f := forks[r.IntN(len(forks))]
		if r.IntN(4) == 0 {
			n := r.IntN(f.h.Len() + 1)
			forks = append(forks, fork{f.h.Head(n), f.want[:n:n]})
			continue
		}
		m := chat.TextMessage(chat.User, fmt.Sprint("fork ", i))
		forks = append(forks, fork{f.h.Append(m), append(f.want[:len(f.want):len(f.want)], m.Text())})
	}
	for i, f := range forks {
		again := chat.NewHistory(f.h.Messages()...)
		if got := texts(f.h); fmt.Sprint(got) != fmt.Sprint(f.want) || again.Chain(again.Len()) != f.h.Chain(f.h.Len()) {
			t.Fatalf("fork %d holds %v, want %v", i, got, f.want)
		}
	}
}

func TestConcurrentAppends(t *testing.T) {
	base := chat.NewHistory(conv("u a u")...)
	base = base.Append(conv("a")...) // leaves room in the backing array
	want := base.Chain(4)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			h := base
			for i := range 50 {
				h = h.Append(chat.TextMessage(chat.User, fmt.Sprint(g, " ", i)))
			}
			for i := range 50 {
				if got := h.At(4 + i).Text(); got != fmt.Sprint(g, " ", i) {
					t.Errorf("goroutine %d reads %q at %d", g, got, 4+i)
					return
				}
			}
			if base.Chain(4) != want || h.Chain(4) != want || base.Len() != 4 {
				t.Errorf("goroutine %d changed the prefix", g)
			}
		})
	}
	wg.Wait()
}

func TestMessagesIsACopy(t *testing.T) {
	h := chat.NewHistory(conv("u a")...)
	h.Messages()[0] = chat.Message{}
	if h.At(0).Role != chat.User {
		t.Error("changing the copy changed the history")
	}
	given := conv("u a")
	h = chat.NewHistory(given...)
	given[0] = chat.Message{}
	if h.At(0).Role != chat.User {
		t.Error("the history shares the caller's slice")
	}
}

func TestAllStops(t *testing.T) {
	n := 0
	for range chat.NewHistory(conv("u a u a")...).All() {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d messages", n)
	}
}

func TestHashText(t *testing.T) {
	h := chat.NewHistory(conv("u")...).Chain(1)
	text, _ := h.MarshalText()
	var back chat.Hash
	if err := back.UnmarshalText(text); err != nil || back != h || string(text) != h.String() || len(text) != 64 {
		t.Errorf("%s became %s: %v", h, back, err)
	}
	for _, bad := range []string{"", "12", strings.Repeat("z", 64), strings.Repeat("0", 66)} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as a hash", bad)
		}
	}
}

func TestReadingAHistoryAllocatesNothing(t *testing.T) {
	h := chat.NewHistory(conv("u tc(A,B) t(A) t(B) a")...)
	chain := h.Chain(5)
	if n := testing.AllocsPerRun(100, func() {
		if !h.StartsWith(5, chain) || h.Head(3).Len() != 3 || h.At(1).Text() != "" || h.Append().Len() != 5 {
			t.Error("wrong")
		}
		for range h.All() {
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// A history takes content to some depth only, whatever a caller builds, and
// leaves the caller's own parts alone.
func TestContentHasADepth(t *testing.T) {
	around := make([]chat.Part, 1)
	around[0] = chat.Part{Kind: chat.ToolResult, ID: "1", Text: "x", Content: around} // stands inside itself
	h := chat.NewHistory(chat.Message{Role: chat.Tool, Parts: around})
	if got := h.At(0).Size().Bytes; got == 0 || got > 1000 {
		t.Errorf("the message has %d bytes", got)
	}
	if len(around[0].Content) != 1 {
		t.Error("the caller's part was changed")
	}
}
