package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/race"
)

// TestStartup measures what a person waits for before the command begins. With
// WINNOW_STARTUP, a number of runs, it builds the command and holds the median
// to 50 ms; scripts/startup does that. Elsewhere it only looks at what packages
// do before main, which an import can ruin unnoticed, and with a limit that a
// busy machine keeps too.
func TestStartup(t *testing.T) {
	race.Skip(t)
	runs, _ := strconv.Atoi(os.Getenv("WINNOW_STARTUP"))
	binary, err := exec.LookPath("winnow") // these tests under another name
	if err != nil {
		t.Fatalf("the command is not in the path of the tests, where TestMain puts it: %v", err)
	}
	if runs > 0 {
		binary = filepath.Join(t.TempDir(), "winnow")
		build := exec.Command("go", "build", "-o", binary, ".")
		build.Env = append(os.Environ(), "HOME="+machineHome) // where go keeps what it has built
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	small := filepath.Join(isolate(t), "small.json")
	if err := os.WriteFile(small, []byte(hello), 0o600); err != nil {
		t.Fatal(err)
	}
	total, worst, name := initialisation(t, binary)
	t.Logf("packages: %.1f ms, of which %s %.1f ms", total, name, worst)
	if worst > 15 {
		t.Errorf("%s alone takes %.1f ms before the command begins: make it lazy, or do without it", name, worst)
	}
	if runs == 0 {
		return
	}
	for _, args := range [][]string{{"--help"}, {"check", small}, {"__complete", "compact", "--format", ""}} {
		times := make([]time.Duration, runs)
		for i := range times {
			start := time.Now()
			if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
			times[i] = time.Since(start)
		}
		slices.Sort(times)
		median := times[runs/2]
		t.Logf("winnow %-16s median %5.1f ms, fastest %.1f ms of %d runs", strings.TrimSuffix(args[0], "__"), ms(median), ms(times[0]), runs)
		if median > 50*time.Millisecond {
			t.Errorf("winnow %s starts in %v, want 50 ms at most", args[0], median)
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// initialisation returns how many milliseconds all packages and the slowest one
// take before main. Of several runs the fastest counts, for each package by
// itself: whatever else the machine does is left out.
func initialisation(t *testing.T, binary string) (total, worst float64, name string) {
	t.Helper()
	best := make(map[string]float64)
	for range 8 {
		cmd := exec.Command(binary, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line) // init PACKAGE @0.1 ms, 0.2 ms clock, …
			if len(f) < 6 || f[0] != "init" {
				continue
			}
			x, err := strconv.ParseFloat(f[4], 64)
			if err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if was, ok := best[f[1]]; !ok || x < was {
				best[f[1]] = x
			}
		}
	}
	for who, x := range best {
		if total += x; x > worst {
			worst, name = x, who
		}
	}
	return total, worst, name
}
