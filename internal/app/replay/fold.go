package replay

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// folding replaces all before a tail of an eighth of the window by a text of an
// eighth, always written from the originals. With the adversaries as writers it
// says how far the figures can be pushed.
type folding struct {
	name  string
	write func(*Cut, int, *token.Counter) (string, error)
}

func (f folding) Name() string { return f.name }

func (f folding) Begin(s Setup) (Compactor, error) {
	return &foldingRun{Working: NewWorking(s), folding: f}, nil
}

type foldingRun struct {
	*Working
	folding
}

func (f *foldingRun) Next(_ context.Context, h chat.History, _ Moment) (Sent, error) {
	f.Grow(h)
	if !f.Over() {
		return f.Sent(), nil
	}
	n := f.TailStart(f.Window/8, false)
	to := f.UpTo(n)
	if to == 0 {
		return f.Sent(), nil
	}
	cut := &Cut{Session: f.book.session, History: h, From: 0, To: to}
	if f.name == "oracle" {
		cut.Demand = f.future(h, to)
	}
	text, err := f.write(cut, f.Window/8, f.book.counter)
	if err != nil {
		return Sent{}, err
	}
	if text == "" {
		text = "[Earlier messages are left out]"
	}
	m := chat.TextMessage(chat.User, text)
	f.Drop(n, &m)
	return f.Sent(), nil
}

// future is what the rest of the session asks of the messages before to.
func (f *foldingRun) future(h chat.History, to int) Demand {
	return demand(f.Recorded, 0, to, h.Len(), f.Recorded.Len(), &Common{})
}
