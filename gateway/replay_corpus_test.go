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
func replayBoth(t *testing.T, p *replay, name string, window int) string {
	t.Helper()
	y := through(t, p, window)
	alone, refused := p.alone(t, window)
	without := "all"
	if refused != "" {
		without = fmt.Sprintf("%d, then %s", alone, refused)
	}
	if refused == wire.KindOverflow && y.plans == 0 {
		t.Errorf("without the gateway it overflows after %d requests, with it no plan was made", alone)
	}
	return fmt.Sprintf("| %s | %d | %s | %d of %d | %d | %d | %d | %d | %s |\n", name, window, p.d, y.answered, y.sent, y.cannotFit, y.mended, y.plans, y.rewrites, without)
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
			p := &replay{d: d, model: models[d], request: r, most: 60}
			table += replayBoth(t, p, fmt.Sprint("session ", n), window)
		})
		n++
	}
	if n == 0 {
		t.Error("no session was replayed")
	}
	t.Log("\n" + table)
}

// TestReplayEverySession does the same with every real session, at every window in
// every dialect: in its first pass each session once, at a window and in a dialect
// that the next session does not have, and from a request that is drawn, so that
// long sessions are seen near their end too. WINNOW_REPLAY is how long it may take;
// WINNOW_SEED draws the order. It says what share it saw. Replays that passed are
// noted in the file WINNOW_REPLAY_DONE and left out when it is run again.
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
	seed, _ := strconv.ParseUint(os.Getenv("WINNOW_SEED"), 10, 64)
	draw := rand.New(rand.NewPCG(seed, 0))
	type session struct {
		name    string
		request chat.Request
		from    int
	}
	var sessions []session
	for _, file := range append(files, more...) {
		if r, ok := readLong(file); ok {
			name, _ := filepath.Rel(dir, file)
			sessions = append(sessions, session{name, r, draw.IntN(r.History.Len())})
		}
	}
	draw.Shuffle(len(sessions), func(i, k int) { sessions[i], sessions[k] = sessions[k], sessions[i] })
	done := openDone(t, os.Getenv("WINNOW_REPLAY_DONE"))

	start := time.Now()
	each := len(replayWindows) * len(wire.Dialects())
	now, before, failed := 0, 0, 0
	for i := range each * len(sessions) {
		s := &sessions[i%len(sessions)]
		k := i%len(sessions) + i/len(sessions)
		window, d := replayWindows[k%each/len(wire.Dialects())], wire.Dialects()[k%len(wire.Dialects())]
		name := fmt.Sprintf("%s/%d/%s", d, window, s.name)
		switch {
		case done.has(name):
			before++
		case time.Since(start) < limit:
			now++
			if t.Run(name, func(t *testing.T) {
				row := replayBoth(t, &replay{d: d, model: models[d], request: s.request, from: s.from, most: 60}, s.name, window)
				fmt.Printf("%6.0f s %s", time.Since(start).Seconds(), row)
			}) {
				done.add(t, name)
			} else {
				failed++
			}
		}
	}
	fmt.Printf("seed %d: %d replays now and %d before, %.0f %% of %d sessions with 40 messages or more at %d windows in %d dialects; %d failed\n",
		seed, now, before, 100*float64(now+before)/float64(max(1, each*len(sessions))), len(sessions), len(replayWindows), len(wire.Dialects()), failed)
	if len(sessions) == 0 {
		t.Error("no session was replayed")
	}
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
