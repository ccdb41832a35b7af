package winnow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/transcript"
)

// prefixTally says what became of prefixes.
type prefixTally struct {
	sessions, prefixes, scratch int
	asIs, kept, planned, waited int
	cannot, short               int // typed errors, by kind
	tokensBefore, tokensAfter   int
	slowest                     time.Duration
}

// TestEveryPrefix fits every prefix of the real sessions at three windows, and prints
// what became of them. A conversation grows message by message, as an agent's does; one
// prefix of twenty, drawn by the seed, is fitted from scratch too. WINNOW_PREFIXES is
// the number of files to look at, drawn by WINNOW_SEED; "all" is all of them. Without it
// the test is left out: scripts/prefixes runs it.
func TestEveryPrefix(t *testing.T) {
	asked := os.Getenv("WINNOW_PREFIXES")
	if asked == "" {
		t.Skip("every prefix takes minutes; scripts/prefixes runs it")
	}
	var files []string
	for _, folder := range []string{"sessions", "more-sessions"} {
		found, err := corpus.Sessions(corpus.Dir(t, folder))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if asked != "all" {
		n, err := strconv.Atoi(asked)
		if err != nil || n <= 0 {
			t.Fatalf("WINNOW_PREFIXES is %q: neither a number of files nor all", asked)
		}
		rand.New(rand.NewPCG(randhist.FirstSeed, 0)).Shuffle(len(files), func(i, k int) { files[i], files[k] = files[k], files[i] })
		files = files[:min(n, len(files))]
	}
	windows := []int{16_000, 64_000, 200_000}
	tallies := make([]prefixTally, len(windows))
	var mu sync.Mutex
	t.Run("files", func(t *testing.T) {
		for _, file := range files {
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				sessions, err := transcript.ReadFile(file, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range sessions {
					for k, window := range windows {
						found := fitPrefixes(t, &sessions[i], window)
						mu.Lock()
						tallies[k].add(&found)
						mu.Unlock()
					}
				}
			})
		}
	})
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "window\tsessions\tprefixes\tfrom scratch\tas it is\tplan kept\tplanned\twaited\tcannot fit\tnot lasting\tkept tokens %\tslowest\t")
	for k, window := range windows {
		p := &tallies[k]
		fmt.Fprintf(out, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\t%v\t\n", window, p.sessions, p.prefixes, p.scratch, p.asIs, p.kept, p.planned, p.waited,
			p.cannot, p.short, 100*float64(p.tokensAfter)/float64(max(1, p.tokensBefore)), p.slowest.Round(time.Microsecond))
		if n := p.cannot + p.short; window >= 128_000 && n > 0 {
			t.Errorf("%d prefixes cannot fit into %d tokens", n, window)
		}
	}
	_ = out.Flush() // into memory
	t.Logf("%d files\n%s", len(files), &table)
}

func (p *prefixTally) add(q *prefixTally) {
	p.sessions += q.sessions
	p.prefixes += q.prefixes
	p.scratch += q.scratch
	p.asIs += q.asIs
	p.kept += q.kept
	p.planned += q.planned
	p.waited += q.waited
	p.cannot += q.cannot
	p.short += q.short
	p.tokensBefore += q.tokensBefore
	p.tokensAfter += q.tokensAfter
	p.slowest = max(p.slowest, q.slowest)
}

// fitPrefixes fits every prefix of one session at one window.
func fitPrefixes(t *testing.T, s *transcript.Session, window int) prefixTally {
	t.Helper()
	p := prefixTally{sessions: 1}
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: s.Model, Window: window}})
	if err != nil {
		t.Fatal(err)
	}
	req := s.Request()
	whole := req.History
	draw := rand.New(rand.NewPCG(randhist.FirstSeed, uint64(whole.Len())))
	req.History = whole.Head(0)
	grown := w.Conversation(req)
	for n := 1; n <= whole.Len(); n++ {
		req.History = whole.Head(n)
		grown.Append(*whole.At(n - 1))
		if err := p.fit(w, grown, req); err != nil {
			t.Errorf("%s at message %d, window %d, as it grew: %v", s.ID, n, window, err)
		}
		if draw.IntN(20) == 0 {
			p.scratch++
			if err := p.fit(w, w.Conversation(req), req); err != nil {
				t.Errorf("%s at message %d, window %d, from scratch: %v", s.ID, n, window, err)
			}
		}
	}
	return p
}

// fit fits one prefix and returns what is wrong with the result. Where nothing fits, the
// floor is summed up independently of the engine.
func (p *prefixTally) fit(w *winnow.Winnow, conversation *winnow.Conversation, req chat.Request) (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("it panicked: %v", why)
		}
	}()
	n := req.History.Len()
	before := req.History.Chain(n)
	start := time.Now()
	r, err := conversation.Fit(context.Background())
	p.slowest = max(p.slowest, time.Since(start))
	p.prefixes++
	if conversation.History().Chain(n) != before {
		return errors.New("the history was changed")
	}
	c := fitCase{req: req}
	var short *winnow.NotLastingError
	var cannot *winnow.CannotFitError
	switch {
	case errors.As(err, &short):
		p.short++
		return nil
	case errors.As(err, &cannot):
		p.cannot++
		if floor := floorTokens(w, &req); floor <= int(0.60*float64(cannot.Available)) {
			return fmt.Errorf("cannot fit, but what must stay has only %d tokens of %d", floor, cannot.Available)
		}
		return c.checkError(w, err)
	case err != nil:
		return err
	case r.Waited:
		p.waited++
	case r.Changed:
		p.planned++
	case r.Plan != nil:
		p.kept++
	default:
		p.asIs++
	}
	p.tokensBefore += r.Before.Tokens.Total
	p.tokensAfter += r.After.Tokens.Total
	switch {
	case !r.After.Fits:
		return fmt.Errorf("does not fit: %d tokens (at most %d), %d available", r.After.Tokens.Total, r.After.Count.Upper(), r.After.Limits.Available)
	case len(r.LeftOut) > 0:
		return fmt.Errorf("left out %v: %v", r.LeftOut, r.Notes)
	}
	return c.checkView(r.View, req.History)
}

// floorTokens sums up what must stay: system prompt, tools, the last user message,
// and of the live exchange what is left when each part is cut to a stub.
func floorTokens(w *winnow.Winnow, req *chat.Request) int {
	const stub = 40
	counter := w.Meter().Counter()
	h := req.History
	total := counter.System(req.System) + counter.Tools(req.Tools) + counter.Conversation()
	last := -1
	for i := h.Len() - 1; i >= 0 && last < 0; i-- {
		if h.At(i).StartsTurn() {
			last = i
			total += counter.Message(h.At(i))
		}
	}
	from := h.Len() - 1
	for from > 0 && h.At(from).Role != chat.Assistant && from-1 != last {
		from--
	}
	for i := from; i < h.Len(); i++ {
		if i == last {
			continue
		}
		for k := range h.At(i).Parts {
			part := &h.At(i).Parts[k]
			n := counter.Part(part)
			if part.Kind != chat.Opaque && !(part.Kind == chat.Thinking && part.Signature != "") {
				n = min(n, stub+counter.Text(part.ID)+counter.Text(part.Name))
			}
			total += n
		}
	}
	return total
}
