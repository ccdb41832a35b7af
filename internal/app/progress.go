package app

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/internal/app/termsafe"
)

// progress shows on standard error how far long work is: a bar with counts and
// the time left where the amount of work is known, else the time that went by.
// It appears only on a terminal and only when the work takes a while. A nil
// progress shows nothing, so callers need not ask.
type progress struct {
	out   io.Writer // the terminal itself: the line is erased and written anew
	st    style
	now   func() time.Time
	start time.Time

	mu          sync.Mutex
	phase       time.Time // when what is going on began
	what        string
	done, total int
	drawn       bool
	last        time.Time
	stop        chan struct{}
}

const (
	progressDelay = 400 * time.Millisecond // work that is done sooner shows nothing
	progressEvery = 120 * time.Millisecond
)

// startProgress starts to show what is going on; nil where nobody would see it.
func (a *app) startProgress(what string) *progress {
	if a.quiet || a.getenv("TERM") == "dumb" || !isTerminal(a.stderr) {
		return nil
	}
	p := newProgress(fileOf(a.stderr), a.styleFor(a.stderr), time.Now)
	p.what = what
	p.stop = make(chan struct{})
	go p.tick(p.stop)
	return p
}

func newProgress(out io.Writer, st style, now func() time.Time) *progress {
	t := now()
	return &progress{out: out, st: st, now: now, start: t, phase: t}
}

// tick draws the time that goes by while nobody reports anything.
func (p *progress) tick(stop <-chan struct{}) {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// set tells how much is done of what; a total of 0 is an unknown one.
func (p *progress) set(done, total int, what string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if what != p.what || done < p.done {
		p.phase = p.now()
	}
	p.done, p.total, p.what = done, total, what
	p.draw()
}

// draw writes the line anew, where it is time.
func (p *progress) draw() {
	now := p.now()
	if now.Sub(p.start) < progressDelay || p.drawn && now.Sub(p.last) < progressEvery && p.done != p.total {
		return
	}
	p.last, p.drawn = now, true
	fmt.Fprint(p.out, "\r\x1b[K"+termsafe.Text(p.lineAt(now)))
}

// lineAt returns the line for a moment.
func (p *progress) lineAt(now time.Time) string {
	elapsed := now.Sub(p.phase)
	width := p.st.Columns() - 1
	if p.total <= 0 {
		return brief(fmt.Sprintf("%s … %s", p.what, formatDuration(elapsed)), width)
	}
	const cells = 24
	full := min(cells, cells*p.done/p.total)
	fill, rest := "#", "."
	if p.st.Color {
		fill, rest = "█", "·"
	}
	bar := "[" + p.st.Paint("36", strings.Repeat(fill, full)) + p.st.Dim(strings.Repeat(rest, cells-full)) + "]"
	text := fmt.Sprintf("%d %%, %s of %s", 100*p.done/p.total, number(p.done), number(p.total))
	if p.done > 0 && p.done < p.total {
		left := time.Duration(float64(elapsed) / float64(p.done) * float64(p.total-p.done))
		text += ", " + formatDuration(left) + " left"
	}
	return bar + " " + brief(text+": "+p.what, max(10, width-cells-3))
}

// clear takes the line away.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		close(p.stop)
		p.stop = nil
	}
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
	p.start = p.now().Add(24 * time.Hour) // a tick that is on its way draws nothing
}

// formatDuration writes a time for people: seconds, then minutes.
func formatDuration(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
}

// awaitShown is [await] with a line that says what goes on.
func awaitShown[T any](ctx context.Context, a *app, what string, work func(*progress) (T, error)) (T, error) {
	p := a.startProgress(what)
	defer p.clear()
	return await(ctx, func() (T, error) { return work(p) })
}

// await does work that cannot be interrupted and leaves it alone when the
// context ends, so that Ctrl-C stops at once: the process ends before the work
// does, and only what the caller does afterwards writes files.
func await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		v, err := work()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		if err := ctx.Err(); err != nil {
			return r.value, err
		}
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
