package summary

import (
	"context"
	"errors"
	"strings"

	"github.com/winnow-llm/winnow/internal/ladder"
	"github.com/winnow-llm/winnow/internal/quote"
)

// MostInput is about how many tokens a model reads for one summary at most, or for
// each half of a split turn. What it is asked for stands in words and actions,
// which have less; more text of files would cost more and tell it nothing.
const MostInput = mostMaterial + 2000

const mostMaterial = 24_000

// naturalForm writes messages from to to-1 down for a model: every word, every action
// in a line, every file once, as far as that many tokens allow.
func (r *run) naturalForm(from, to, room int) string {
	reading := ladder.ReadRegion(r.in.History, from, to, r.counter, r.in.Kinds)
	form := reading.Fill(ladder.Room{
		Tokens: min(room, mostMaterial), From: from, To: to, Keep: r.in.Keep, Turn: -1, Focus: r.in.Focus, Lift: true,
	})
	if form.State == "" {
		return form.Fold
	}
	return form.Fold + "\n\n" + quote.Text(form.State)
}

// summarisePiece asks for the prose of one piece.
func (r *run) summarisePiece(ctx context.Context, x *piece, problems []string) error {
	task, previous := taskFirst, ""
	switch {
	case x.turn:
		task = taskTurn
	case r.in.Previous != "":
		task, previous = taskUpdate, r.previousNotes()
	}
	prompt := func(transcript string) Prompt {
		return Prompt{
			System: systemPrompt,
			// Ten tokens are about six words.
			Text:   betweenTags("notes", previous) + betweenTags("transcript", transcript) + writeInstruction(task, r.in, max(60, x.most*6/10), problems),
			Output: min(r.o.Output, 2*x.most+1024), // models do not count well, and some think first
		}
	}
	frame := prompt("")
	for try := 0; ; try++ {
		// Room for a transcript beside everything else. Estimates have a band.
		r.mu.Lock()
		room := r.window - frame.Output - r.counter.Text(frame.System) - r.counter.Text(frame.Text) - 64
		r.mu.Unlock()
		room -= int(float64(max(room, 0)) * r.counter.Band())
		err := r.askModel(ctx, prompt(r.naturalForm(x.from, x.to, max(room, 256))), x)
		var long interface{ ContextLimit() int }
		if err == nil || try == 3 || !errors.As(err, &long) {
			return err
		}
		// The window is smaller than we were told.
		r.mu.Lock()
		next := r.window / 2
		if n := long.ContextLimit(); n > 0 && n < r.window {
			next = n
		}
		r.window = next
		r.mu.Unlock()
	}
}

// previousNotes returns the prose that is updated, as it may stand in a prompt: under our
// headings where it has them, quoted where it has none.
func (r *run) previousNotes() string {
	if s := joinSections(splitSections(r.in.Previous)); s != "" {
		return s
	}
	return quote.Text(strings.TrimSpace(r.in.Previous))
}
