package summary

import (
	"context"
	"errors"
	"strings"

	"github.com/winnow-llm/winnow/internal/ladder"
	"github.com/winnow-llm/winnow/internal/quote"
)

// piece asks for the notes on messages from to to-1.
func (r *run) piece(ctx context.Context, from, to int, turn bool, most int, problems []string) (part, error) {
	t, required, previous := taskFirst, requiredSections, ""
	switch {
	case turn:
		t, required = taskTurn, requiredTurnSections
	case r.in.Previous != "":
		t, previous = taskUpdate, r.previous()
	}
	for try := 0; ; try++ {
		p := Prompt{System: systemPrompt, MaxOutput: r.output(most)}
		ask := instruction(t, r.in, r.words(most), problems)
		// Room for a transcript beside everything else. Estimates have a band.
		room := r.limit() - p.MaxOutput - r.counter.Text(p.System) - r.counter.Text(material("", previous)+ask) - 64
		room -= int(float64(max(room, 0)) * r.counter.Band())
		p.Text = material(r.transcript(from, to, max(room, 256)), previous) + ask
		out, err := r.complete(ctx, p, required)
		var long interface{ ContextLimit() int }
		if err == nil || try == 3 || !errors.As(err, &long) {
			out.turn = turn
			return out, err
		}
		r.narrow(long.ContextLimit())
	}
}

// narrow notes that the window is smaller than we were told; limit is 0 where
// nobody says how small.
func (r *run) narrow(limit int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if limit <= 0 || limit >= r.window {
		limit = r.window / 2
	}
	r.window = limit
}

// transcript writes messages down for the model, without those that stay in the
// view, in at most that many tokens: as they are where they have room, else in
// their natural form, which says everything once.
func (r *run) transcript(from, to, room int) string {
	w := serializer{o: r.o.Serialize.orDefault()}
	keep := r.in.keeps()
	for i := from; i < to; i++ {
		if !keep(i) {
			w.message(r.in.History.At(i))
		}
	}
	text := w.b.String()
	if r.counter.Text(text) <= room {
		return text
	}
	told := ladder.ReadRegion(r.in.History, from, to, r.counter, r.in.Kinds).Fill(ladder.Room{
		Tokens: room, From: from, To: to, Keep: r.in.Keep, Turn: -1, Focus: r.in.Focus, Typed: room / 3, NoState: true,
	}).Fold
	return r.counter.Truncate(told, room)
}

// previous is the prose that is updated, as it may stand in a prompt: under our
// headings where it has them, quoted where it has none.
func (r *run) previous() string {
	if s := joinSections(splitSections(r.in.Previous)); s != "" {
		return s
	}
	return quote.Text(strings.TrimSpace(r.in.Previous))
}
