package app

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/race"
)

// A session of 1 GB is checked and compacted in at most twice its size of memory:
// its bytes are let go of as its messages are read. By itself the test takes a
// smaller file, and has garbage collected as early as may be, since a process
// takes some hundred megabytes for granted. WINNOW_LARGE=1000 (in MB) is the bar.
func TestLargeSessionInTwiceItsSize(t *testing.T) {
	longrun.Only(t, "reads a session of 96 MB twice")
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	size, env := 96, append(os.Environ(), "GOMEMLIMIT=64MiB")
	if text := os.Getenv("WINNOW_LARGE"); text != "" {
		var err error
		if size, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		env = os.Environ()
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "large.jsonl")
	writeLarge(t, path, size<<20)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", path}, {"compact", path, "--out", filepath.Join(dir, "view.json"), "--plan", filepath.Join(dir, "plan.json")}} {
		cmd := exec.Command("winnow", append(args, "--quiet")...)
		status := filepath.Join(dir, "status")
		cmd.Env = append(env, "HOME="+dir, statusFile+"="+status)
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != exitCannotFit {
			t.Fatalf("%s: %v\n%.500s", args[0], err, out)
		}
		took := peak(t, status)
		t.Logf("%s of %d MB: %d MB, %.2f times", args[0], info.Size()>>20, took>>20, float64(took)/float64(info.Size()))
		if most := 2*info.Size() + 48<<20; took > most { // the program itself takes some
			t.Errorf("%s took %d MB, more than %d", args[0], took>>20, most>>20)
		}
	}
}

// TestMemoryTable prints how much memory each command that reads a session takes, as
// the table in docs/overhead.md: beyond the program's own 45 MB, as a multiple of the
// session, for one of large results and one of small entries, a million at most.
// Garbage is collected as early as may be, so that what is in use counts. WINNOW_LARGE
// is their size in MB; from 500 on garbage is collected as it is for everybody, and
// the program's own memory counts.
func TestMemoryTable(t *testing.T) {
	longrun.Only(t, "runs twenty-six commands on two sessions")
	size, program, env := 24, int64(45<<20), append(os.Environ(), "GOMEMLIMIT=40MiB")
	if n, err := strconv.Atoi(os.Getenv("WINNOW_LARGE")); err == nil {
		size = n
	}
	if size >= 500 {
		program, env = 0, os.Environ()
	}
	dir := t.TempDir()
	t.Chdir(dir)
	writeLarge(t, "large.jsonl", size<<20)
	writeEntries(t, "small.jsonl", min(size*4000, 1_000_000), "")
	row := "| command | large results | small entries |\n|---|--:|--:|\n"
	for _, args := range []string{
		"check FILE", "check FILE --rules", "compact FILE --force --plan PLAN", "plan show PLAN FILE", "plan apply PLAN FILE", "plan undo PLAN FILE",
		"tree FILE --list", "tokens FILE", "insights FILE", "watch FILE --once", "validate FILE", "repair FILE",
		"session stats FILE", "session prepare FILE", "session prepare FILE --policy winnow",
		"session export FILE --to openai --out OUT", "session export FILE --to neurolink --out TAGS", "session export FILE --out OUT --force", "session import FILE --store STORE/", "session import FILE --store DB",
		"session stats 019a8c1f --store DB", "session search handler5 --store DB", "session compact 019a8c1f --store DB", "session compact COPY", "session rewind COPY", "session branch COPY 00000010 --summary",
	} {
		row += "| `" + args + "`"
		for _, name := range []string{"large.jsonl", "small.jsonl"} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			words := strings.Fields(args)
			for i, w := range words {
				switch w {
				case "FILE":
					words[i] = name
				case "PLAN", "OUT", "TAGS", "STORE/", "DB":
					words[i] = name + "." + w
				case "COPY":
					words[i] = "copy-of-" + name
					if _, err := os.Stat(words[i]); err != nil {
						copyFile(t, name, words[i])
					}
				}
			}
			cmd := exec.Command("winnow", append(words, "--quiet")...)
			status := filepath.Join(dir, "status")
			cmd.Env = append(env, "HOME="+dir, statusFile+"="+status)
			started := time.Now()
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code == exitUsage || code == exitFailed && words[0] != "validate" {
				t.Errorf("%v: %v\n%.300s", words, err, out)
				continue
			}
			times := float64(peak(t, status)-program) / float64(info.Size())
			t.Logf("%v: %.2f times %d MB, %.0f s", words, times, info.Size()>>20, time.Since(started).Seconds())
			row += fmt.Sprintf(" | %.1f", times)
		}
		row += " |\n"
	}
	t.Log("\n" + row)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	r, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // it was only read
	w, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// peak returns the most memory that a process had, from the system's status file:
// the figures at a process's end would count the memory of its parent.
func peak(t *testing.T, status string) int64 {
	t.Helper()
	text, err := os.ReadFile(status)
	if err != nil {
		t.Fatal(err)
	}
	var kb int64
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return kb << 10
}

// writeLarge writes a session file of size bytes, most of them results.
func writeLarge(t *testing.T, path string, size int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	n, err := fmt.Fprintln(w, `{"type":"session","version":3,"id":"019a8c1f-0000-7000-8000-000000000000","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/home/ada/project"}`)
	for i, parent := 0, "null"; n < size && err == nil; i += 4 {
		var lines strings.Builder
		for k := range 120 {
			fmt.Fprintf(&lines, `\tcase kind%d: return handler%d(ctx, request.Field%d, options...) // %x\n`, k, i+k, (i+7*k)%977, i*k)
		}
		for k, message := range []string{
			fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"Request %d: rename the handler"}]}`, i),
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":"call_%d","name":"read","arguments":{"path":"api/h%d.go"}}],"provider":"openai","model":"gpt-4o","stopReason":"toolUse"}`, i, i%500),
			fmt.Sprintf(`{"role":"toolResult","toolCallId":"call_%d","toolName":"read","content":[{"type":"text","text":"%s"}],"isError":false}`, i, lines.String()),
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"Renamed handler %d."}],"provider":"openai","model":"gpt-4o","stopReason":"stop"}`, i),
		} {
			var more int
			more, err = fmt.Fprintf(w, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":%s}`+"\n", i+k, parent, message)
			n, parent = n+more, fmt.Sprintf(`"%08x"`, i+k)
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
