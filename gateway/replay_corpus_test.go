package gateway_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/wire"
)

var replayWindows = []int{16_000, 64_000, 200_000}

const replayHead = "| session | window | dialect | answered | floor does not fit | mended | plans | rewrites | without winnow |\n|---|---|---|---|---|---|---|---|---|\n"

// readLong returns the first conversation of a file that has 40 messages.
func readLong(file string) (chat.Request, bool) {
	sessions, err := transcript.ReadFile(file, nil)
	if err != nil {
		return chat.Request{}, false
	}
	i := slices.IndexFunc(sessions, func(s transcript.Session) bool { return s.History.Len() >= 40 })
	if i < 0 {
		return chat.Request{}, false
	}
	return plain(sessions[i].Request()), true
}

// replayBoth replays a session with and without the gateway, and returns a row of
// the table.
func replayBoth(t *testing.T, name string, r chat.Request, d wire.Dialect, window int) string {
	t.Helper()
	p := &replay{d: d, model: models[d], request: r, most: 60}
	y := through(t, p, window)
	alone, refused := p.alone(t, window)
	without := "all"
	if refused != "" {
		without = fmt.Sprintf("%d, then %s", alone, refused)
	}
	if refused == wire.KindOverflow && y.plans == 0 {
		t.Errorf("without the gateway it overflows after %d requests, with it no plan was made", alone)
	}
	return fmt.Sprintf("| %s | %d | %s | %d of %d | %d | %d | %d | %d | %s |\n", name, window, d, y.answered, y.sent, y.cannotFit, y.mended, y.plans, y.rewrites, without)
}

// TestReplayCorpus does the same with a dozen real sessions, where they are at
// hand, each at one window in one dialect. It prints a table.
func TestReplayCorpus(t *testing.T) {
	dir := corpus.Dir(t)
	longrun.Only(t, "replays real sessions")
	files, err := corpus.Sessions(filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	table := replayHead
	n := 0
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() < 300_000 || info.Size() > 1_500_000 || n == 12 {
			continue
		}
		r, ok := readLong(file)
		if !ok {
			continue
		}
		window, d := replayWindows[n%3], wire.Dialects()[n%4]
		t.Run(fmt.Sprintf("%s/%d/%s", d, window, filepath.Base(file)), func(t *testing.T) {
			table += replayBoth(t, fmt.Sprint("session ", n), r, d, window)
		})
		n++
	}
	if n == 0 {
		t.Error("no session was replayed")
	}
	t.Log("\n" + table)
}

// TestReplayEverySession does the same with every real session at every window in
// every dialect. WINNOW_REPLAY is how long it may take; the order is drawn by
// WINNOW_SEED, so another night sees others first, and it says what share it saw.
// Sessions that passed are noted in the file WINNOW_REPLAY_DONE and left out when
// it is run again.
func TestReplayEverySession(t *testing.T) {
	limit, err := time.ParseDuration(os.Getenv("WINNOW_REPLAY"))
	if err != nil {
		t.Skip("replays every real session; WINNOW_REPLAY=10m runs it for that long")
	}
	dir := corpus.Dir(t)
	files, err := corpus.Sessions(filepath.Join(dir, "sessions"))
	more, second := corpus.Sessions(filepath.Join(dir, "more-sessions"))
	if err := errors.Join(err, second); err != nil {
		t.Fatal(err)
	}
	files = append(files, more...)
	seed, _ := strconv.ParseUint(os.Getenv("WINNOW_SEED"), 10, 64)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(files), func(i, k int) { files[i], files[k] = files[k], files[i] })
	done := openDone(t, os.Getenv("WINNOW_REPLAY_DONE"))

	start := time.Now()
	long, now, before, failed := 0, 0, 0, 0
	for _, file := range files {
		name, _ := filepath.Rel(dir, file)
		r, ok := readLong(file)
		switch {
		case !ok:
			continue
		case done.has(name):
			before++
		case time.Since(start) < limit:
			now++
			since := time.Now()
			if replayEverywhere(t, name, r) {
				done.add(t, name)
			} else {
				failed++
			}
			fmt.Printf("%6.0f s: %d sessions, %d failed; the last has %d messages and took %.1f s\n", time.Since(start).Seconds(), now, failed, r.History.Len(), time.Since(since).Seconds())
		}
		long++
	}
	fmt.Printf("seed %d: replayed %d sessions now and %d before, %.0f %% of %d with 40 messages or more, each at %d windows in %d dialects; %d failed\n",
		seed, now, before, 100*float64(now+before)/float64(max(1, long)), long, len(replayWindows), len(wire.Dialects()), failed)
	if long == 0 {
		t.Error("no session was replayed")
	}
}

// replayEverywhere replays a session at every window in every dialect.
func replayEverywhere(t *testing.T, name string, r chat.Request) bool {
	passed := true
	for _, window := range replayWindows {
		for _, d := range wire.Dialects() {
			passed = t.Run(fmt.Sprintf("%s/%d/%s", d, window, filepath.Base(name)), func(t *testing.T) {
				row := replayBoth(t, name, r, d, window)
				if t.Failed() {
					t.Log("\n" + replayHead + row)
				}
			}) && passed
		}
	}
	return passed
}

// doneFile lists the finished replays, line by line; without a path it keeps nothing.
type doneFile struct {
	path  string
	lines []string
}

func openDone(t *testing.T, path string) *doneFile {
	t.Helper()
	f := &doneFile{path: path}
	if path == "" {
		return f
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	f.lines = strings.Split(string(text), "\n")
	return f
}

func (f *doneFile) has(name string) bool { return slices.Contains(f.lines, name) }

func (f *doneFile) add(t *testing.T, name string) {
	t.Helper()
	if f.path == "" {
		return
	}
	w, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(w, name)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
