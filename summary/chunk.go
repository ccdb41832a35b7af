package summary

import (
	"context"
	"errors"
	"strings"

	"github.com/winnow-llm/winnow/internal/quote"
)

// piece summarises messages from to to-1 in as many calls as the window needs.
func (r *run) piece(ctx context.Context, from, to int, turn bool, most int, problems []string) (part, error) {
	for try := 0; ; try++ {
		p, err := r.chunked(ctx, from, to, turn, most, problems)
		var long interface{ ContextLimit() int }
		if err == nil || try == 3 || !errors.As(err, &long) {
			p.turn = turn
			return p, err
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

func (r *run) chunked(ctx context.Context, from, to int, turn bool, most int, problems []string) (part, error) {
	t, required, previous := taskFirst, requiredSections, ""
	switch {
	case turn:
		t, required = taskTurn, requiredTurnSections
	case r.in.Previous != "":
		t, previous = taskUpdate, r.previous()
	}
	prompt := func(t task, transcript, notes string, most int) Prompt {
		return Prompt{
			System:    systemPrompt,
			Text:      material(transcript, notes) + instruction(t, r.in, r.words(most), problems),
			MaxOutput: r.output(most),
		}
	}
	// Room for a transcript beside everything else. Estimates have a band.
	frame := prompt(t, "", previous, most)
	room := r.limit() - frame.MaxOutput - r.counter.Text(frame.System) - r.counter.Text(frame.Text) - 64
	room -= int(float64(max(room, 0)) * r.counter.Band())
	room = max(room, 256)

	chunks := r.chunks(from, to, room)
	if len(chunks) <= 1 {
		text := ""
		if len(chunks) == 1 {
			text = chunks[0]
		}
		return r.complete(ctx, prompt(t, text, previous, most), required)
	}

	// Notes on each chunk may be short: they only have to last until the merge.
	each := min(most, max(r.words(0), room/(2*len(chunks))))
	notes := make([]string, len(chunks))
	jobs := make([]func() error, len(chunks))
	for i, c := range chunks {
		jobs[i] = func() error {
			p, err := r.complete(ctx, prompt(taskNotes, c, "", each), nil)
			if err != nil {
				return err
			}
			in := *r.in
			in.Max = 0
			if bad := Check(p.text, in, Meta{ToolCalls: p.meta.ToolCalls}); len(bad) > 0 {
				r.mu.Lock()
				r.problems = append(r.problems, bad[0].String())
				r.mu.Unlock()
				return nil // the other chunks may do
			}
			notes[i] = quote.Text(p.text)
			return nil
		}
	}
	if err := r.all(jobs); err != nil {
		return part{}, err
	}
	return r.merge(ctx, notes, previous, room, func(text string) Prompt { return prompt(taskMerge, "", text, most) }, required)
}

// previous is the prose that is updated, as it may stand in a prompt: under our
// headings where it has them, quoted where it has none.
func (r *run) previous() string {
	if s := joinSections(splitSections(r.in.Previous)); s != "" {
		return s
	}
	return quote.Text(strings.TrimSpace(r.in.Previous))
}

// merge makes one summary of notes, the previous summary being the first of them.
func (r *run) merge(ctx context.Context, notes []string, previous string, room int, prompt func(string) Prompt, required []string) (part, error) {
	var list []string
	if previous != "" {
		list = append(list, previous)
	}
	for _, n := range notes {
		if strings.TrimSpace(n) != "" {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return part{meta: Meta{Sections: required}}, nil
	}
	const gap = "\n\n" + quote.Divider + "\n\n"
	for {
		groups := r.pack(list, gap, room)
		if len(groups) == 1 {
			return r.complete(ctx, prompt(groups[0]), required)
		}
		if len(groups) >= len(list) {
			// Even two do not fit: each gets an equal share.
			for i := range list {
				list[i] = r.counter.Truncate(list[i], max(64, room/2-16))
			}
			groups = r.pack(list, gap, room)
		}
		next := make([]string, len(groups))
		jobs := make([]func() error, len(groups))
		for i, g := range groups {
			jobs[i] = func() error {
				p, err := r.complete(ctx, prompt(g), nil)
				next[i] = quote.Text(p.text)
				return err
			}
		}
		if err := r.all(jobs); err != nil {
			return part{}, err
		}
		if len(next) >= len(list) {
			return part{}, errTooLong
		}
		list = next
	}
}

// pack joins texts, in order, into as few as fit the room each.
func (r *run) pack(list []string, gap string, room int) []string {
	var out []string
	used := 0
	for _, s := range list {
		n := r.counter.Text(s) + 4
		if len(out) > 0 && used+n <= room {
			out[len(out)-1] += gap + s
			used += n
			continue
		}
		out = append(out, s)
		used = n
	}
	return out
}

// chunks writes messages down and divides them to fit the room, within the
// number of calls that is allowed.
func (r *run) chunks(from, to, room int) []string {
	most := max(r.o.MaxCalls-2, 1)
	full := r.o.Serialize.orDefault()
	small := full
	small.Head, small.Tail, small.Errors, small.Arg, small.Text = min(full.Head, 400), min(full.Tail, 100), min(full.Errors, 300), min(full.Arg, 200), min(full.Text, 8000)
	var list []string
	for _, o := range [...]SerializeOptions{full, small} {
		list = r.divide(r.blocks(from, to, o), room)
		if len(list) <= most {
			return list
		}
	}
	// The first piece says what the work is about, the last ones where it stands.
	if most == 1 {
		return list[len(list)-1:]
	}
	return append(list[:1:1], list[len(list)-most+1:]...)
}

// blocks writes each message down, without those that stay in the view.
func (r *run) blocks(from, to int, o SerializeOptions) []string {
	var list []string
	keep := r.in.keeps()
	for i := from; i < to; i++ {
		if keep(i) {
			continue
		}
		w := serializer{o: o}
		w.message(r.in.History.At(i))
		if w.b.Len() > 0 {
			list = append(list, w.b.String())
		}
	}
	return list
}

// divide packs blocks into chunks; a block that is larger than a chunk is cut
// into several.
func (r *run) divide(blocks []string, room int) []string {
	var fit []string
	for _, b := range blocks {
		for r.counter.Text(b)+4 > room {
			head := strings.TrimSuffix(r.counter.Truncate(b, room-8), "…")
			if head == "" || len(head) >= len(b) {
				break
			}
			fit = append(fit, head)
			b = b[len(head):]
			if strings.TrimSpace(b) == "" {
				b = ""
			}
		}
		if b != "" {
			fit = append(fit, b)
		}
	}
	return r.pack(fit, "\n\n", room)
}
