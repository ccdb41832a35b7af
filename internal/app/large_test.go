package app

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/cputime"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
)

// writeEntries writes a session file of n entries: turns with a call each, as an
// agent writes them, with the usage beside each answer.
func writeEntries(t *testing.T, path string, n int, usage string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintln(w, `{"type":"session","version":3,"id":"019a8c1f-0000-7000-8000-000000000000","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/home/ada/project"}`)
	for i := range n {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf(`"%08x"`, i-1)
		}
		message := ""
		switch i % 4 {
		case 0:
			message = fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"Request %d: rename the handler"}],"timestamp":%d}`, i, 1767225600000+i)
		case 1:
			message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":"call_%d","name":"read","arguments":{"path":"api/h%d.go"}}],"provider":"openai","model":"gpt-4o","stopReason":"toolUse","timestamp":%d}`, i, i%500, 1767225600000+i)
		case 2:
			message = fmt.Sprintf(`{"role":"toolResult","toolCallId":"call_%d","toolName":"read","content":[{"type":"text","text":"package api\n\nfunc handler%d() {}\n"}],"isError":false,"timestamp":%d}`, i-1, i, 1767225600000+i)
		case 3:
			message = fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"Renamed handler %d."}],"provider":"openai","model":"gpt-4o","stopReason":"stop",%s"timestamp":%d}`, i, usage, 1767225600000+i)
		}
		fmt.Fprintf(w, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":%s}`+"\n", i, parent, message)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A check of a large session costs at most four times its stats, in time of the
// processors: it also tells what a compaction would leave. WINNOW_ENTRIES is how
// many entries the session has.
// Both are measured one after the other in each round, since what else the machine
// does changes from one moment to the next, and the round with least of that counts.
func TestCheckCostBesideStats(t *testing.T) {
	longrun.Only(t, "reads a large session several times")
	n := 40_000
	if text := os.Getenv("WINNOW_ENTRIES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "large.jsonl")
	writeEntries(t, path, n, "")
	t.Setenv("HOME", t.TempDir())
	run := func(args ...string) time.Duration {
		runtime.GC()
		return cputime.Of(func() {
			var out, errs bytes.Buffer
			if code := Run(append(args, "--json"), nil, &out, &errs); code != exitDone {
				t.Fatalf("%v: exit %d: %.500s", args, code, errs.String())
			}
		})
	}
	const bar, rounds = 4.0, 12 // stats read less than they did when it was 3
	least := math.Inf(1)
	for round := 0; round < rounds && least > bar; round++ {
		stats := run("session", "stats", path)
		check := run("check", path)
		least = min(least, float64(check)/float64(stats))
		t.Logf("%d entries: check %v, session stats %v, %.2f times", n, check, stats, float64(check)/float64(stats))
	}
	if least > bar {
		t.Errorf("check takes %.2f times as long as session stats, more than %.0f times", least, bar) // check also reads what a compaction would leave
	}
}

// Reports that do not fit what the session holds, as where another program had
// compacted it, cost next to nothing: stats of a session full of them take little
// more than without.
func TestStatsPassOverReportsThatDoNotFit(t *testing.T) {
	longrun.Only(t, "reads a large session several times")
	t.Setenv("HOME", t.TempDir())
	stats := func(usage string) time.Duration {
		path := filepath.Join(t.TempDir(), "large.jsonl")
		writeEntries(t, path, 80_000, usage)
		return cputime.Best(2, func() {
			var out, errs bytes.Buffer
			if code := Run([]string{"session", "stats", path, "--json"}, nil, &out, &errs); code != exitDone {
				t.Fatalf("exit %d: %.500s", code, errs.String())
			}
		})
	}
	without := stats("")
	with := stats(`"usage":{"input":10,"output":10,"cacheRead":0,"cacheWrite":0},`)
	t.Logf("with %v, without %v", with, without)
	if with > 4*without {
		t.Errorf("stats take %v, and %v without reports", with, without)
	}
}
