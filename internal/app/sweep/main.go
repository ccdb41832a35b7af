// Command sweep runs [winnow.Conversation.Fit] on every prefix of every session in
// the folders given, at several windows, and prints a table: how often it fits as
// it is, is planned, waits or cannot fit. A conversation grows message by message,
// as an agent's does; some prefixes, drawn by the seed, are fitted from scratch
// too. Each result is checked against the rules, against the limits and, where it
// cannot fit, against a floor that is summed up here, independently of the engine.
// It fails when anything does not hold, or when a part of a view was left out.
//
//	scripts/prefixes [-windows 16000,64000,200000] [-sample 0] [-seed 1] [-scratch 20] [FOLDER...]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
)

// options are what a sweep looks at.
type options struct {
	windows []int
	sample  int // files with sessions; 0 is all
	seed    uint64
	scratch int // one of this number of prefixes is fitted from scratch; 0 is none
}

func main() {
	windows := flag.String("windows", "16000,64000,200000", "windows, in tokens")
	var o options
	flag.IntVar(&o.sample, "sample", 0, "look at so many files only, drawn by the seed; 0 is all")
	flag.Uint64Var(&o.seed, "seed", 1, "draws the sample and the prefixes that are fitted from scratch")
	flag.IntVar(&o.scratch, "scratch", 20, "of so many prefixes one is fitted from scratch too; 0 is none")
	flag.Parse()
	dirs := flag.Args()
	if len(dirs) == 0 {
		root, ok := corpus.Path()
		if !ok {
			fmt.Println("prefixes: skipped: no folder with sessions; name one or set WINNOW_CORPUS")
			return
		}
		dirs = []string{filepath.Join(root, "sessions"), filepath.Join(root, "more-sessions")}
	}
	for s := range strings.SplitSeq(*windows, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n <= 0 {
			fmt.Fprintf(os.Stderr, "prefixes: -windows: %q is no number of tokens\n", s)
			os.Exit(2)
		}
		o.windows = append(o.windows, n)
	}
	start := time.Now()
	failures, err := sweepSessions(dirs, &o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prefixes:", err)
		os.Exit(1)
	}
	fmt.Printf("%.1f s\n", time.Since(start).Seconds())
	for i, f := range failures {
		if i == 20 {
			fmt.Printf("… and %d more\n", len(failures)-i)
			break
		}
		fmt.Println("FAIL", f)
	}
	if len(failures) > 0 {
		os.Exit(1)
	}
}

// tally is one row of the table.
type tally struct {
	sessions, boundaries                 int
	asIs, planned, kept, waited          int
	cannot, short                        int // typed errors, by kind
	scratch                              int
	tokensBefore, tokensAfter, slowestUs int
}

type job struct {
	session *replay.Session
	window  int
}

func sweepSessions(dirs []string, o *options) ([]string, error) {
	if o.sample > 0 {
		files, err := replay.Files(dirs...)
		if err != nil {
			return nil, err
		}
		rand.New(rand.NewPCG(o.seed, 0)).Shuffle(len(files), func(i, k int) { files[i], files[k] = files[k], files[i] })
		dirs = files[:min(o.sample, len(files))]
	}
	data, err := replay.Load(dirs...)
	if err != nil {
		return nil, err
	}
	if len(data.Skipped) > 0 {
		return nil, errors.New(data.Skipped[0])
	}
	sessions := data.Sessions
	var jobs []job
	for i := range sessions {
		for _, w := range o.windows {
			jobs = append(jobs, job{&sessions[i], w})
		}
	}

	rows := make(map[int]*tally, len(o.windows))
	for _, w := range o.windows {
		rows[w] = new(tally)
	}
	var failures []string
	var mu sync.Mutex
	crew := replay.Crew{Progress: func(done, total int, what string) {
		if done%20 == 0 || done == total {
			fmt.Fprintf(os.Stderr, "\r%d of %d %s", done, total, what)
		}
	}}
	err = crew.Each(context.Background(), len(jobs), "sessions at a window", func(i int) error {
		t, bad := fitPrefixes(jobs[i], o)
		mu.Lock()
		defer mu.Unlock()
		rows[jobs[i].window].add(t)
		failures = append(failures, bad...)
		return nil
	})
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return nil, err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "window\tsessions\tprefixes\tfrom scratch\tas it is\tplan kept\tplanned\twaited\tcannot fit\tnot lasting\t%\tkept tokens %\tslowest ms\t")
	for _, w := range o.windows {
		t := rows[w]
		fmt.Fprintf(out, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.1f\t%.1f\t\n", w, t.sessions, t.boundaries, t.scratch,
			t.asIs, t.kept, t.planned, t.waited, t.cannot, t.short, 100*float64(t.cannot+t.short)/float64(max(1, t.boundaries)),
			100*float64(t.tokensAfter)/float64(max(1, t.tokensBefore)), float64(t.slowestUs)/1000)
		if n := t.cannot + t.short; w >= 128000 && n > 0 {
			failures = append(failures, fmt.Sprintf("%d prefixes cannot fit into %d tokens", n, w))
		}
	}
	return failures, out.Flush()
}

func (t *tally) add(u tally) {
	t.sessions += u.sessions
	t.boundaries += u.boundaries
	t.asIs += u.asIs
	t.planned += u.planned
	t.kept += u.kept
	t.waited += u.waited
	t.cannot += u.cannot
	t.short += u.short
	t.scratch += u.scratch
	t.tokensBefore += u.tokensBefore
	t.tokensAfter += u.tokensAfter
	t.slowestUs = max(t.slowestUs, u.slowestUs)
}

// fitPrefixes fits every prefix of one session at one window.
func fitPrefixes(j job, o *options) (tally, []string) {
	t := tally{sessions: 1}
	var failures []string
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: j.session.Model, Window: j.window}})
	if err != nil {
		return t, []string{err.Error()}
	}
	req := j.session.Request()
	whole := req.History
	draw := rand.New(rand.NewPCG(o.seed, uint64(whole.Len())))
	grown := req
	grown.History = whole.Head(0)
	conversation := w.Conversation(grown)
	for n := 1; n <= whole.Len(); n++ {
		req.History = whole.Head(n)
		fit := func(how string, c *winnow.Conversation) {
			bad := t.fitAndCheck(w, c, &req)
			for _, b := range bad {
				failures = append(failures, fmt.Sprintf("%s %s at message %d, window %d, %s: %s", j.session.File, j.session.ID, n, j.window, how, b))
			}
		}
		conversation.Append(*whole.At(n - 1))
		fit("as it grew", conversation)
		if o.scratch > 0 && draw.IntN(o.scratch) == 0 {
			t.scratch++
			fit("from scratch", w.Conversation(req))
		}
	}
	return t, failures
}

// fitAndCheck fits one prefix and returns what is wrong with the result.
func (t *tally) fitAndCheck(w *winnow.Winnow, c *winnow.Conversation, req *chat.Request) (bad []string) {
	defer func() {
		if p := recover(); p != nil {
			bad = append(bad, fmt.Sprintf("it panicked: %v", p))
		}
	}()
	fail := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	n := req.History.Len()
	before := req.History.Chain(n)
	start := time.Now()
	r, err := c.Fit(context.Background())
	t.slowestUs = max(t.slowestUs, int(time.Since(start).Microseconds()))
	t.boundaries++
	if c.History().Chain(n) != before {
		fail("the history was changed")
	}
	if err != nil {
		var cannot *winnow.CannotFitError
		var short *winnow.NotLastingError
		switch {
		case errors.As(err, &short):
			t.short++
			return bad
		case !errors.As(err, &cannot):
			fail("%v", err)
			return bad
		}
		t.cannot++
		if floor := floorTokens(w, req); floor <= int(0.60*float64(cannot.Available)) {
			fail("cannot fit, but what must stay has only %d tokens of %d", floor, cannot.Available)
		}
		return bad
	}
	switch {
	case r.Waited:
		t.waited++
	case r.Changed:
		t.planned++
	case r.Plan != nil:
		t.kept++
	default:
		t.asIs++
	}
	t.tokensBefore += r.Before.Tokens.Total
	t.tokensAfter += r.After.Tokens.Total
	if !r.After.Fits {
		fail("does not fit: %d tokens (at most %d), %d available", r.After.Tokens.Total, r.After.Count.Upper(), r.After.Limits.Available)
	}
	if len(r.LeftOut) > 0 {
		fail("left out %v: %v", r.LeftOut, r.Notes)
	}
	checker := chat.NewChecker(req.Rules)
	for i := range r.View.Len() {
		if ps := checker.Next(r.View.At(i)); len(ps) > 0 {
			fail("view message %d: %s", i, ps[0].Message)
			break
		}
	}
	return bad
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
			p := &h.At(i).Parts[k]
			n := counter.Part(p)
			if p.Kind != chat.Opaque && !(p.Kind == chat.Thinking && p.Signature != "") {
				n = min(n, stub+counter.Text(p.ID)+counter.Text(p.Name))
			}
			total += n
		}
	}
	return total
}
