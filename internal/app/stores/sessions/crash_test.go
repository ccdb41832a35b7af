package sessions_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/cputime"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
)

// The variables that tell a process that it is a child, and what to do.
const (
	childVariable = "WINNOW_SESSION_CHILD" // the folder
	childWork     = "WINNOW_SESSION_WORK"
)

// runChild writes to a session until it is killed or done, and does not return, in a
// process that a check started; in any other it does nothing.
func runChild(open opener) {
	dir := os.Getenv(childVariable)
	if dir == "" {
		return
	}
	work := strings.Fields(os.Getenv(childWork))
	var err error
	switch work[0] {
	case "write":
		err = writeForEver(open, dir, work[1])
	case "append":
		n, _ := strconv.Atoi(work[3])
		err = appendMany(open, dir, work[1], work[2], n)
	case "fill":
		err = fillLimited(open, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func spawnChild(t *testing.T, dir, work string) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir, childWork+"="+work)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return cmd, out
}

// openInChild opens the session that a child process writes to, and says that it did.
func openInChild(ctx context.Context, open opener, dir, id string) (session.Store, *session.Session, error) {
	store, err := open(dir)
	if err != nil {
		return nil, nil, err
	}
	s, err := session.Open(ctx, store, id, testOptions())
	if err != nil {
		return nil, nil, err
	}
	fmt.Println("ready")
	return store, s, nil
}

// writeForEver appends turns of very different sizes and compacts now and
// then. It tells every entry that was acknowledged.
func writeForEver(open opener, dir, id string) error {
	ctx := context.Background()
	_, s, err := openInChild(ctx, open, dir, id)
	if err != nil {
		return err
	}
	for n := s.Len(); ; n++ {
		size := 50 << (n % 11) // up to 51,200
		msgs := sessiontest.Turn(n, size)
		for _, m := range msgs {
			ids, err := s.Append(ctx, m)
			if err != nil {
				return err
			}
			fmt.Println("entry", ids[0])
		}
		if n%3 == 0 {
			c, err := s.Compact(ctx, "")
			if err == nil {
				fmt.Println("compaction", c.Entry.ID)
			} else if !errors.Is(err, session.ErrNothing) {
				return err
			}
		}
	}
}

// crashCount returns how many times the writer is killed.
func crashCount(t *testing.T) int {
	if v := os.Getenv("WINNOW_CRASHES"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			t.Fatalf("WINNOW_CRASHES is %q; it must be a number", v)
		}
		return n
	}
	if !longrun.Asked() {
		return 10
	}
	return 200
}

// testCrash kills a process that writes to a session, at random points, over and
// over: 10 times, 200 times where it may take long, or as often as WINNOW_CRASHES says.
// After each time everything acknowledged must be there, the session must open
// without damage, and compactions must be whole.
func testCrash(t *testing.T, open opener) {
	ctx := t.Context()
	n, acknowledged, compactions, torn := crashCount(t), 0, 0, 0
	var dir, id string
	var want map[string]bool
	for i := range n {
		if i%25 == 0 { // a long session takes long to open
			var store session.Store
			store, dir = newStore(t, open)
			id = fmt.Sprintf("crash-%d", i)
			s := newSession(t, store, id)
			must(t, s.Close())
			want = make(map[string]bool)
		}
		cmd, out := spawnChild(t, dir, "write "+id)
		lines := bufio.NewScanner(out)
		// It is killed shortly after it has told of a random number of entries, so
		// that slow machines get as far as fast ones.
		var timer *time.Timer
		for left := rand.IntN(12); lines.Scan(); left-- {
			if left <= 0 && timer == nil {
				timer = time.AfterFunc(time.Duration(rand.IntN(8_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
			kind, name, _ := strings.Cut(lines.Text(), " ")
			if name == "" || len(name) < 8 {
				continue // the last line may be cut off
			}
			want[name] = kind == "compaction"
			acknowledged++
			if kind == "compaction" {
				compactions++
			}
		}
		_ = cmd.Wait() // it was killed
		if timer == nil {
			t.Fatalf("run %d: the writer failed before it wrote", i)
		}
		timer.Stop()
		if notes := checkAfterCrash(t, ctx, open, dir, id, want, i); notes > 0 {
			torn++
		}
	}
	if acknowledged == 0 || compactions == 0 && n >= 50 {
		t.Errorf("%d entries and %d compactions were acknowledged: the check checks nothing", acknowledged, compactions)
	}
	t.Logf("killed %d times: %d entries acknowledged, %d of them compactions, all there; %d times a torn line was passed over", n, acknowledged, compactions, torn)
}

func checkAfterCrash(t *testing.T, ctx context.Context, open opener, dir, id string, want map[string]bool, run int) int {
	t.Helper()
	store, err := open(dir)
	must(t, err)
	defer store.Close()
	s, err := session.Open(ctx, store, id, testOptions())
	if err != nil {
		t.Fatalf("run %d: %v", run, err)
	}
	defer s.Close()
	if p := s.Problems(); len(p) > 0 {
		t.Fatalf("run %d: problems %v", run, p)
	}
	for name, compaction := range want {
		e, err := s.Entry(name)
		if err != nil {
			t.Fatalf("run %d: entry %s was acknowledged and is gone", run, name)
		}
		if compaction && (e.Compaction == nil || e.Compaction.Plan == nil) {
			t.Fatalf("run %d: compaction %s is not whole", run, name)
		}
	}
	c, err := s.Context()
	if err != nil {
		t.Fatalf("run %d: %v", run, err)
	}
	for _, e := range s.Compactions() {
		if e.Compaction.Plan == nil || !e.Compaction.Plan.Covers(c.Request.History) {
			t.Fatalf("run %d: compaction %s is there in part", run, e.ID)
		}
	}
	return len(s.Notes())
}

func appendMany(open opener, dir, id, name string, n int) error {
	ctx := context.Background()
	store, s, err := openInChild(ctx, open, dir, id)
	if err != nil {
		return err
	}
	for i := range n {
		m := userMessage(fmt.Sprintf("%s %d %s", name, i, strings.Repeat("x", (i%7)*3000)))
		if _, err := s.Append(ctx, m); err != nil {
			return err
		}
	}
	return errors.Join(s.Close(), store.Close())
}

// testConcurrent lets two processes append to one session at once: nothing may be
// lost and no record may be mixed with another.
func testConcurrent(t *testing.T, open opener) {
	ctx := t.Context()
	store, dir := newStore(t, open)
	s := newSession(t, store, "shared")
	_, err := s.Append(ctx, userMessage("root"))
	must(t, err)
	each := 400
	if !longrun.Asked() {
		each = 60
	}
	var children []*exec.Cmd
	for _, name := range []string{"left", "right"} {
		cmd, out := spawnChild(t, dir, fmt.Sprintf("append shared %s %d", name, each))
		go func() { _, _ = io.Copy(io.Discard, out) }()
		children = append(children, cmd)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	again, err := session.Open(ctx, store, "shared", testOptions())
	must(t, err)
	defer again.Close()
	if notes := again.Notes(); len(notes) > 0 {
		t.Errorf("notes: %v", notes)
	}
	if p := again.Problems(); len(p) > 0 {
		t.Errorf("problems: %v", p)
	}
	if got := again.Len(); got != 1+2*each {
		t.Errorf("%d entries, want %d", got, 1+2*each)
	}
	next := map[string]int{}
	for _, e := range again.Page(1, 2*each) {
		var name string
		var n int
		if _, err := fmt.Sscanf(e.Message.Text(), "%s %d", &name, &n); err != nil {
			t.Fatalf("entry %q: %v", e.Message.Text(), err)
		}
		if n != next[name] {
			t.Fatalf("entry %d of %s comes where %d belongs", n, name, next[name])
		}
		next[name]++
	}
	if next["left"] != each || next["right"] != each {
		t.Errorf("entries by process: %v", next)
	}
}

// testLarge checks a session of 100,000 entries: open within a second, append and
// context within a millisecond at the median. On a machine that is busy with
// other things opening may take longer by the clock, but no more than a second of
// two processors, and an append as long as three plain writes that are made to
// last.
func testLarge(t *testing.T, open opener) {
	longrun.Only(t, "100,000 entries take some seconds to write")
	ctx := t.Context()
	store, _ := newStore(t, open)
	log, err := store.Create(ctx, session.Header{ID: "large"}, session.Records())
	must(t, err)
	n := 100_000
	if race.Enabled { // which is there for other faults
		n /= 10
	}
	var recs [][]byte
	parent := "null"
	for i := range n {
		role := [...]string{
			`"role":"user","content":"Please look at item %d and tell me what it says about the build."`,
			`"role":"assistant","content":[{"type":"text","text":"Item %d it is; the build works."}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{"input":100,"output":20,"cacheRead":0,"cacheWrite":0,"totalTokens":120},"stopReason":"stop"`,
		}[i%2]
		recs = append(recs, fmt.Appendf(nil, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-02T03:04:05.678Z","message":{%s,"timestamp":1760000000000}}`, i+1, parent, fmt.Sprintf(role, i)))
		parent = fmt.Sprintf(`"%08x"`, i+1)
	}
	must(t, log.Append(recs...)(ctx))
	must(t, log.Close())

	opening := cputime.Best(3, func() {
		s, err := session.Open(ctx, store, "large", nil)
		must(t, err)
		must(t, s.Close())
	})
	s, err := session.Open(ctx, store, "large", nil)
	must(t, err)
	defer s.Close()
	c, err := s.Context()
	must(t, err)
	if c.View.Len() != n {
		t.Fatalf("%d messages, want %d", c.View.Len(), n)
	}
	var appends, contexts, plain []time.Duration
	probe, err := os.CreateTemp(t.TempDir(), "probe")
	must(t, err)
	defer probe.Close()
	for i := range 200 {
		start := time.Now()
		_, err := probe.Write(recs[i])
		must(t, errors.Join(err, probe.Sync()))
		plain = append(plain, time.Since(start))
		start = time.Now()
		_, err = s.Append(ctx, userMessage(fmt.Sprintf("one more: %d", i)))
		must(t, err)
		appends = append(appends, time.Since(start))
		start = time.Now()
		_, err = s.Context()
		must(t, err)
		contexts = append(contexts, time.Since(start))
	}
	start := time.Now()
	page := s.Tree(n/2, 100)
	listing := time.Since(start)
	if len(page) != 100 {
		t.Errorf("a page of %d", len(page))
	}
	again := time.Now()
	s.Tree(n/2+n/10, 100)
	t.Logf("%d entries: open %v; append median %v, 95 %% %v (plain write and fsync %v); context median %v, 95 %% %v; first page %v, next %v",
		n, opening, durationAt(appends, 50), durationAt(appends, 95), durationAt(plain, 50), durationAt(contexts, 50), durationAt(contexts, 95), listing, time.Since(again))
	// What is slow is slow each time; what is slow half of the time may be so
	// because of other programs.
	usual, opened := 10, 2*time.Second
	if os.Getenv("WINNOW_BARS") != "" {
		usual, opened = 50, time.Second
	}
	for _, b := range []struct {
		what string
		got  time.Duration
		most time.Duration
	}{{"open", opening, opened}, {"append", durationAt(appends, usual), max(time.Millisecond, 3*durationAt(plain, 50))}, {"context", durationAt(contexts, usual), time.Millisecond}} {
		if b.got > b.most && !race.Enabled {
			t.Errorf("%s takes %v, the bar is %v", b.what, b.got, b.most)
		}
	}
}

// durationAt returns the value at a percentile.
func durationAt(list []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)*percent/100]
}
