package token

import (
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// mixedText is prose, code, JSON and a log, as agents' conversations hold them.
func mixedText(n int) string {
	const unit = `The request failed because the worker was restarted while it held the lock.
func (s *Store) Get(ctx context.Context, id string) (*Item, error) {
	if item, ok := s.items[id]; ok && !item.expired(s.now()) {
		return item, nil
	}
	return nil, fmt.Errorf("store: no item %q", id)
}
{"id":"call_8Zk2","name":"read_file","arguments":{"path":"internal/store/store.go","offset":120,"limit":80}}
2026-03-14T09:26:53.589Z WARN  [pool-7] retry 3/5 after 1200ms: dial tcp 10.0.4.17:5432: connect: connection refused
--- FAIL: TestStoreExpiry (0.03s)
    store_test.go:88: got 3 items, want 2
`
	return strings.Repeat(unit, n/len(unit)+1)[:n]
}

func benchmarkText(b *testing.B, c *Counter) {
	s := mixedText(1 << 20)
	c.Text(s)
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		c.Text(s)
	}
}

func BenchmarkTable(b *testing.B)   { benchmarkText(b, New(O200K, nil)) }
func BenchmarkUnknown(b *testing.B) { benchmarkText(b, New(Unknown, nil)) }

func BenchmarkWarmAt(b *testing.B) {
	c := New(O200K, nil)
	var msgs []chat.Message
	for i := range 1000 {
		msgs = append(msgs, chat.TextMessage(chat.User, mixedText(200+i)))
	}
	h := chat.NewHistory(msgs...)
	for i := range h.Len() {
		c.At(h, i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.At(h, i%1000)
		i++
	}
}

func BenchmarkExact(b *testing.B)    { benchmarkText(b, New(O200K, &Options{Exact: true})) }
func BenchmarkWeighted(b *testing.B) { benchmarkText(b, New(Llama3, &Options{Exact: true})) }

func BenchmarkLoadTable(b *testing.B) {
	for b.Loop() {
		readTable("o200k")
	}
}

func BenchmarkTruncate(b *testing.B) {
	c, s := New(O200K, nil), mixedText(1<<20)
	for b.Loop() {
		c.Truncate(s, 2000)
	}
}
