package chat_test

import (
	"math/rand/v2"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
)

func long() []chat.Message {
	return randhist.Messages(rand.New(rand.NewPCG(1, 1)), randhist.Options{Healthy: true, Messages: 10_000, MaxText: 8 << 10})
}

func BenchmarkNewHistory(b *testing.B) {
	msgs := long()
	var size chat.Size
	for i := range msgs {
		size = size.Add(msgs[i].Size())
	}
	b.SetBytes(int64(size.Bytes))
	b.ReportAllocs()
	for b.Loop() {
		chat.NewHistory(msgs...)
	}
}

func BenchmarkAppend(b *testing.B) {
	h := chat.NewHistory(long()...)
	m := chat.ResultMessage("A", "ok      internal/lease  0.31s")
	b.ReportAllocs()
	for b.Loop() {
		if h = h.Append(m); h.Len() > 20_000 {
			h = h.Head(10_000)
		}
	}
}

func BenchmarkNewOutline(b *testing.B) {
	h := chat.NewHistory(long()...)
	b.ReportAllocs()
	for b.Loop() {
		chat.NewOutline(h)
	}
}

func BenchmarkCheck(b *testing.B) {
	h := chat.NewHistory(long()...)
	b.ReportAllocs()
	for b.Loop() {
		if ps := chat.AllDialects().Check(h); ps != nil {
			b.Fatal(ps)
		}
	}
}
