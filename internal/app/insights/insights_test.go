package insights

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/agents/agenthome"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/transcript"
)

var now = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

func none(string) string { return "" }

// session generates a session with that number of compactions by its client.
func session(seed uint64, compactions int) *transcript.Session {
	s := replaygen.Session(seed, replaygen.Options{Requests: 60})
	s.Model = "claude-opus-4-5"
	for at := 30; len(s.Compactions) < compactions && at < s.History.Len(); at++ {
		if s.History.At(at).Role == chat.Assistant {
			s.Compactions = append(s.Compactions, transcript.Compaction{At: at, Summary: "We read some files.", Trigger: "auto", TokensBefore: 40_000})
			at += 20
		}
	}
	return &s
}

func write(t *testing.T, home agenthome.Home, f transcript.Format, id string, s *transcript.Session, daysAgo int) string {
	t.Helper()
	path, err := home.Write(f, id, s, now.AddDate(0, 0, -daysAgo))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, o Options) *Report {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A home as the agents lay it out: who is in it, who is too old, what is
// damaged, and sums that are those of the sessions.
func TestRun(t *testing.T) {
	home := agenthome.Home{Dir: t.TempDir()}
	bad := filepath.Join(home.Dir, ".claude/projects/p/damaged.jsonl")
	want := map[string]*transcript.Session{}
	want[write(t, home, transcript.ClaudeCode, "one", session(1, 2), 3)] = session(1, 2)
	want[write(t, home, transcript.ClaudeCode, "two", session(2, 1), 10)] = session(2, 1)
	want[write(t, home, transcript.Pi, "three", session(3, 1), 20)] = session(3, 1)
	write(t, home, transcript.OpenCode, "four", session(4, 1), 5)
	write(t, home, transcript.Pi, "five", session(5, 0), 5)
	write(t, home, transcript.ClaudeCode, "old", session(6, 3), 45)
	write(t, home, transcript.Pi, "never", session(7, 0), 1)
	for path, text := range map[string]string{bad: "{\"type\":", filepath.Join(home.Dir, ".codex/sessions/foreign.jsonl"): `{"hello":"world"}`} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var skipped []string
	done := 0
	o := Options{
		Agents: agents.Known(home.Dir, none), Since: now.AddDate(0, 0, -30), Window: 32_000, Workers: 3,
		Skipped:  func(path string, err error) { skipped = append(skipped, filepath.Base(path)+": "+err.Error()) },
		Progress: func(n, total int) { done = n*1000 + total },
	}
	r := run(t, o)
	if r.Sessions != 6 || r.Compacted != 4 || r.Older != 1 || r.Skipped != 2 || r.Files != 6 || done != 9009 {
		t.Errorf("%+v; progress %d", r, done)
	}
	if len(skipped) != 2 || !strings.Contains(skipped[0], "damaged.jsonl") || !strings.Contains(skipped[1], "foreign.jsonl") {
		t.Errorf("skipped: %q", skipped)
	}
	if r.Total.Compactions != 5 || len(r.Worst) != 4 ||
		!slices.ContainsFunc(r.Worst, func(w Session) bool { return w.Compactions == 2 && w.Agent == "Claude Code" }) {
		t.Errorf("total %+v", r.Total)
	}
	// The sum is that of the sessions, by agent and by week.
	sums := map[string]float64{}
	for i := range r.Worst {
		sums["sessions"] += r.Worst[i].Minutes
	}
	for i := range r.Agents {
		sums["agents"] += r.Agents[i].Minutes
	}
	for i := range r.Weeks {
		sums["weeks"] += r.Weeks[i].Minutes
	}
	for what, sum := range sums {
		if d := sum - r.Total.Minutes; d > 1e-9 || d < -1e-9 || sum == 0 {
			t.Errorf("%s: %v minutes of %v", what, sum, r.Total.Minutes)
		}
	}
	for i := range r.Worst {
		if s := want[r.Worst[i].File]; s != nil && r.Worst[i].Compactions != len(s.Compactions) {
			t.Errorf("%s: %d compactions", r.Worst[i].File, r.Worst[i].Compactions)
		}
	}
	// The number of workers changes nothing, to the last digit.
	o.Workers, o.Skipped, o.Progress = 1, nil, nil
	if d := cmp.Diff(r, run(t, o), cmp.AllowUnexported(Report{}, Session{})); d != "" {
		t.Error(d)
	}
	// Everything, and the old one with it; fewer are listed than there are.
	o.Since, o.Worst = time.Time{}, 2
	if all := run(t, o); all.Sessions != 7 || all.Older != 0 || len(all.Worst) != 2 || all.Total.Compactions != 8 || all.Worst[0].Compactions != 3 {
		t.Errorf("all: %+v", all)
	}
}

// Memory does not grow with the number of sessions: as much is alive after a
// hundred of them as after ten.
func TestMemoryStays(t *testing.T) {
	home := agenthome.Home{Dir: t.TempDir()}
	s := session(1, 1)
	for i := range 100 {
		write(t, home, transcript.ClaudeCode, fmt.Sprintf("s%03d", i), s, 3)
	}
	alive := map[int]uint64{}
	run(t, Options{Agents: agents.Known(home.Dir, none), Workers: 1, Progress: func(done, _ int) {
		if done == 10 || done == 100 {
			runtime.GC()
			runtime.GC() // pools are emptied by the second
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			alive[done] = m.HeapAlloc
		}
	}})
	// One session is some hundred kilobytes, ninety are tens of megabytes.
	if alive[100] > alive[10]+8<<20 {
		t.Errorf("%d bytes after 10 sessions, %d after 100", alive[10], alive[100])
	}
}

// It ends when it is told to.
func TestRunStops(t *testing.T) {
	home := agenthome.Home{Dir: t.TempDir()}
	for i := range 5 {
		write(t, home, transcript.Pi, fmt.Sprint(i), session(1, 1), 3)
	}
	ctx, stop := context.WithCancel(t.Context())
	_, err := Run(ctx, Options{Agents: agents.Known(home.Dir, none), Workers: 1, Progress: func(int, int) { stop() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The page stands alone and holds nothing of the sessions' text.
func TestHTML(t *testing.T) {
	home := agenthome.Home{Dir: t.TempDir()}
	s := session(1, 2)
	s.Compactions[0].Summary = "a <script> that nobody should see"
	write(t, home, transcript.ClaudeCode, "one", s, 3)
	r := run(t, Options{Agents: agents.Known(home.Dir, none)})
	page, err := r.HTML(now)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, bad := range []string{"<script src", "<link rel=\"stylesheet", "nobody should see"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	if !strings.Contains(text, "Content-Security-Policy") {
		t.Error("the page has no policy")
	}
	for _, line := range append(r.Headline(), r.Lines()...) {
		if !strings.Contains(text, line) {
			t.Errorf("the page does not say: %s", line)
		}
	}
	empty := run(t, Options{Agents: agents.Known(t.TempDir(), none)})
	if _, err := empty.HTML(now); err != nil {
		t.Errorf("an empty report: %v", err)
	}
}

// Real sessions, laid out as the agents do. The figures are those of replay.
func TestRealSessions(t *testing.T) {
	longrun.Only(t, "reads all real sessions")
	dir := corpus.Dir(t, "sessions")
	home := t.TempDir()
	places := map[string]string{
		"claudecode_": ".claude/projects/p", "agent_": ".claude/projects/p", "codex_": ".codex/sessions/2026/01/02",
		"pi_": ".pi/agent/sessions/p", "geminicli_": ".gemini/tmp/h/chats",
	}
	all, err := corpus.Sessions(dir)
	if err != nil {
		t.Fatal(err)
	}
	laid := 0
	for _, path := range all {
		for prefix, place := range places {
			if strings.HasPrefix(filepath.Base(path), prefix) {
				if err := os.MkdirAll(filepath.Join(home, place), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(path, filepath.Join(home, place, filepath.Base(path))); err != nil {
					t.Fatal(err)
				}
				laid++
			}
		}
	}
	r := run(t, Options{Agents: agents.Known(home, none), Worst: 100})
	if r.Files != laid || r.Skipped != 0 || r.Compacted < 10 || r.Total.Rereads == 0 {
		t.Fatalf("%d files laid out; %d read, %d skipped, %d compacted, %d re-reads", laid, r.Files, r.Skipped, r.Compacted, r.Total.Rereads)
	}
	for _, l := range r.Lines() {
		t.Log(l)
	}
	// Most files record the usage; the bills themselves are checked in replay.
	if sum := &r.Total; 10*sum.Billed < 9*r.Sessions || sum.Thrifty >= sum.Ours || len(r.Moments) != worstMoments {
		t.Errorf("%d of %d sessions by their records, %d moments: %q", sum.Billed, r.Sessions, len(r.Moments), r.Headline())
	}
}
