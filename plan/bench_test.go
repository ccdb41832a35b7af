package plan_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/plan"
)

// long is a history of 10,000 messages, about 4 MB, and 2,000 masks over it.
func long() (chat.History, []plan.Edit) {
	h := randhist.New(source(1, 1), randhist.Options{Healthy: true, Messages: 10_000, MaxText: 8 << 10})
	var edits []plan.Edit
	for i := 0; len(edits) < 2000 && i < h.Len(); i++ {
		if p := h.At(i).Parts; p[0].Kind == chat.ToolResult {
			e := mask(i, 0, fmt.Sprintf("[read: 3,120 bytes, exit status 0, lease.go:%d, ErrLeaseLost; recall %d]", i, i))
			e.Handle = plan.Handle(h, i, i+1, 0)
			edits = append(edits, e)
		}
	}
	return h, edits
}

func BenchmarkCompose(b *testing.B) {
	h, edits := long()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plan.Compose(nil, h, chat.AllDialects(), nil, edits...); err != nil {
			b.Fatal(err)
		}
	}
}

// A rewrite that swallows a thousand of the masks in force.
func BenchmarkComposeOnBase(b *testing.B) {
	h, edits := long()
	base := compose(b, nil, h, chat.AllDialects(), edits...)
	to := chat.NewOutline(h).CutBefore(edits[1000].From)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plan.Compose(base, h, chat.AllDialects(), nil, fold(0, to, "sum")); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApplyFirst(b *testing.B) {
	h, edits := long()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		p := compose(b, nil, h, chat.AllDialects(), edits...) // one that was never applied
		b.StartTimer()
		if _, err := plan.Apply(h, p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApplyAgain(b *testing.B) {
	h, edits := long()
	p := compose(b, nil, h, chat.AllDialects(), edits...)
	apply(b, h, p)
	h = h.Append(hist("u").Messages()...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plan.Apply(h, p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUndo(b *testing.B) {
	h, edits := long()
	base := compose(b, nil, h, chat.AllDialects(), edits...)
	p := compose(b, base, h, chat.AllDialects(), fold(0, chat.NewOutline(h).CutBefore(edits[1000].From), "sum"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plan.Undo(p, p.ID(), h, chat.AllDialects()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	h, edits := long()
	p := compose(b, nil, h, chat.AllDialects(), edits...)
	b.ReportAllocs()
	for b.Loop() {
		data, err := json.Marshal(p)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := plan.Decode(data); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(data)))
	}
}
