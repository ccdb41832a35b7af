package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// host is what the loop runs on, in a folder of its own, with these settings.
func host(t *testing.T, settings string) *loopHost {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("TMPDIR", filepath.Join(dir))
	path := filepath.Join(dir, "settings.yaml")
	if err := os.WriteFile(path, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	a := appWith(map[string]string{"HOME": dir, "XDG_DATA_HOME": dir, "XDG_CONFIG_HOME": dir})
	a.config, a.environ = path, os.Environ
	h, err := a.newLoopHost(t.Context(), &loopFlags{flags: &pflag.FlagSet{}, model: "sim"}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	return h
}

// do calls a tool of the loop.
func (h *loopHost) do(t *testing.T, tool, args string) string {
	t.Helper()
	a, err := h.box.Look(tool, args)
	if err != nil {
		t.Fatal(err)
	}
	text, failed := h.box.Do(t.Context(), a)
	if failed {
		t.Fatal(text)
	}
	return text
}

// The loop keeps the whole of an output that it shows shortened and says where,
// and which end is shown is a setting: S4.12.
func TestLoopOutput(t *testing.T) {
	for keep, want := range map[string][3]bool{"both": {true, false, true}, "head": {true, false, false}, "tail": {false, false, true}} {
		h := host(t, "systems:\n  item_bytes: 4000\n  item_keep: "+keep+"\n")
		text := h.do(t, "run", `{"command":"i=0; while [ $i -lt 2000 ]; do echo \"line number $i is here\"; i=$((i+1)); done"}`)
		got := [3]bool{strings.Contains(text, "line number 0 "), strings.Contains(text, "line number 1000 "), strings.Contains(text, "line number 1999 ")}
		if got != want || len(text) > 4000 {
			t.Errorf("%s: %v of %d bytes", keep, got, len(text))
		}
		_, rest, ok := strings.Cut(text, "[full output: ")
		name, _, _ := strings.Cut(rest, "]")
		whole, err := os.ReadFile(name)
		if !ok || err != nil || !strings.Contains(string(whole), "line number 1000 ") {
			t.Fatalf("%s: the full copy: %v", keep, err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", keep, info.Mode(), err)
		}
	}
	h := host(t, "systems:\n  item_bytes: 4000\n")
	h.f.saveDir = "kept/outputs"
	if text := h.do(t, "run", `{"command":"yes | head -c 20000"}`); !strings.Contains(text, "[full output: kept/outputs/") {
		t.Errorf("in a folder of one's own: %.200s", text[max(0, len(text)-200):])
	}
	h = host(t, "systems:\n  item_bytes: 4000\nmemory: false\n")
	if text := h.do(t, "run", `{"command":"yes | head -c 20000"}`); strings.Contains(text, "full output") || len(text) > 4000 {
		t.Errorf("with memory off: %.200s", text)
	}
}

// The loop reads files within their share of what remains: S4.13, S4.18.
func TestLoopReadsWithinBudget(t *testing.T) {
	h := host(t, "systems:\n  file_share: 0.5\n")
	write := func(name string, size int) {
		line := "this line stands in " + name + "\n"
		if err := os.WriteFile(name, []byte(strings.Repeat(line, size/len(line)+1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	remaining, share := h.remainingTokens()
	if share != 0.5 {
		t.Errorf("the share is %v", share)
	}
	room := remaining * 4 // bytes
	write("small.txt", room/4)
	write("large.txt", 300_000)
	write("huge.txt", 6<<20)
	if text := h.do(t, "read_file", `{"path":"small.txt"}`); len(text) < room/4 {
		t.Errorf("the small file is cut to %d of %d bytes", len(text), room/4)
	}
	if text := h.do(t, "read_file", `{"path":"large.txt"}`); len(text) > room/2+300 || len(text) < room/3 || !strings.Contains(text, "the conversation has room for") {
		t.Errorf("of the large file there are %d bytes, there is room for %d", len(text), room/2)
	}
	if text := h.do(t, "read_file", `{"path":"huge.txt"}`); len(text) > 2300 || !strings.Contains(text, "of which these are the first 2000") {
		t.Errorf("of the huge file there are %d bytes: %.300s", len(text), text)
	}
	if text := h.do(t, "read_file", `{"path":"large.txt","offset":5,"limit":2}`); text != fmt.Sprintf("%[1]s%[1]s", "this line stands in large.txt\n") {
		t.Errorf("two lines are %q", text)
	}
}
