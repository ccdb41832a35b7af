package app

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/model"
)

// TestCompactedIsNotCalledFitting measures real sessions at the points where
// their own agent compacted because its window was full: in the window that check
// takes for the file, compaction is due there.
func TestCompactedIsNotCalledFitting(t *testing.T) {
	t.Parallel()
	dir := corpus.Dir(t, "sessions")
	file, err := os.Open(filepath.Join(dir, "COMPACTIONS.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // the names of the columns
	read := map[string]*source.Session{}
	measured := 0
	for lines.Scan() {
		row := strings.Split(lines.Text(), "\t")
		line, _ := strconv.Atoi(row[1]) // OpenCode's files have no lines
		before, err := strconv.Atoi(row[4])
		if err != nil {
			t.Fatal(err)
		}
		if row[3] == "manual" || before == 0 {
			continue // a person's wish, or for another reason than tokens
		}
		s := read[row[0]]
		if s == nil {
			in, err := source.Load(filepath.Join(dir, filepath.FromSlash(row[0])), nil, "")
			if err != nil {
				t.Fatal(err)
			}
			s = &in.Sessions[0]
			read[row[0]] = s
		}
		w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: s.Model}, Agent: s.Window(model.Default().Lookup(s.Model))})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Compactions {
			if c.Line != line {
				continue
			}
			if !c.Automatic() && (row[2] == "pi" || c.Trigger == "manual") {
				// A person asked for it. pi does not note that, but its one came twelve
				// hours after the last answer; one of Codex is a task of its own.
				continue
			}
			then := *s
			then.Request.History = then.Request.History.Head(c.At)
			status, err := w.Check(then.Request, then.Known(w))
			if err != nil {
				t.Fatal(err)
			}
			measured++
			if !status.ShouldCompact {
				t.Errorf("%s line %d: compacted at %d, called fitting: %d tokens of %d available, window %d (%s)", row[0], line, before,
					status.Tokens.Total, status.Limits.Available, w.Window().Tokens, w.Window().Why)
			}
		}
	}
	if err := lines.Err(); err != nil || measured == 0 {
		t.Fatalf("%v, %d measured", err, measured)
	}
	t.Logf("%d compactions measured", measured)
}

// TestImportedSessionKeepsItsWindow: a session that was taken in from an agent is
// measured like its file, in the same window, also when it is opened again.
func TestImportedSessionKeepsItsWindow(t *testing.T) {
	dir := isolate(t)
	file := filepath.Join(dir, "claude.jsonl")
	lines := `{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"list the files"}}
{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"id":"m1","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"a.go"}],"usage":{"input_tokens":9000,"output_tokens":5}}}
`
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	type measured struct {
		Limits    struct{ Context, Available int }
		Tokens    json.RawMessage
		Breakdown struct{ Total int }
	}
	var checked, stats measured
	code, stdout, stderr := command(t, "", "check", file, "--json")
	if err := json.Unmarshal([]byte(stdout), &checked); err != nil || code != exitDone {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	store := filepath.Join(dir, "store") + "/"
	code, id, stderr := command(t, "", "session", "import", file, "--store", store, "--quiet")
	if code != exitDone {
		t.Fatalf("%d %s", code, stderr)
	}
	code, stdout, stderr = command(t, "", "session", "stats", strings.TrimSpace(id), "--store", store, "--json")
	if err := json.Unmarshal([]byte(stdout), &stats); err != nil || code != exitDone {
		t.Fatalf("%d %v %s", code, err, stderr)
	}
	if checked.Limits.Context != 200_000 || stats.Limits != checked.Limits {
		t.Errorf("check measures in %+v, the session in %+v", checked.Limits, stats.Limits)
	}
}
