package transcript

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/race"
)

// table reads a file of tab-separated values with a header.
func table(t testing.TB, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, v := range row {
			m[rows[0][i]] = v
		}
		out = append(out, m)
	}
	return out
}

// Every real file is recognised as what it is and holds as many sessions as
// its index says. With -v the test prints a table.
func TestCorpusSessions(t *testing.T) {
	race.Skip(t)
	dir := corpus.Dir(t, "sessions")
	t.Logf("%-14s %3s %6s %6s %5s %4s %4s %8s  %s", "format", "n", "msgs", "turns", "open", "cmp", "warn", "ms", "file")
	for _, row := range table(t, filepath.Join(dir, "INDEX.tsv")) {
		path := filepath.Join(dir, filepath.FromSlash(row["file"]))
		start := time.Now()
		sessions, err := ReadFile(path, nil)
		took := time.Since(start)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if want, _ := strconv.Atoi(row["sessions"]); len(sessions) != want {
			t.Errorf("%s: %d sessions, the index says %d", row["file"], len(sessions), want)
		}
		var msgs, turns, open, compactions, warnings int
		for i := range sessions {
			s := &sessions[i]
			if string(s.Format) != row["format"] {
				t.Errorf("%s: read as %s, the index says %s", row["file"], s.Format, row["format"])
			}
			if s.ID == "" {
				t.Errorf("%s: session %d has no id", row["file"], i)
			}
			o := chat.NewOutline(s.History)
			for _, e := range o.Exchanges {
				open += len(e.Open)
			}
			msgs, turns = msgs+s.History.Len(), turns+len(o.Turns)
			compactions, warnings = compactions+len(s.Compactions), warnings+len(s.Warnings)
			for _, w := range s.Warnings {
				t.Logf("%s: %s", row["file"], w)
			}
		}
		t.Logf("%-14s %3d %6d %6d %5d %4d %4d %8.1f  %s", row["format"], len(sessions), msgs, turns, open, compactions, warnings,
			float64(took.Microseconds())/1000, row["file"])
	}
}

// Every compaction that the index of the corpus knows is found where it was
// made, with what the client noted about it.
func TestCorpusCompactions(t *testing.T) {
	race.Skip(t)
	dir := corpus.Dir(t, "sessions")
	found := map[string][]Compaction{}
	length := map[string]int{}
	for _, row := range table(t, filepath.Join(dir, "COMPACTIONS.tsv")) {
		file := row["file"]
		if _, read := found[file]; !read {
			sessions, err := ReadFile(filepath.Join(dir, filepath.FromSlash(file)), nil)
			if err != nil {
				t.Fatal(err)
			}
			found[file], length[file] = sessions[0].Compactions, sessions[0].History.Len()
		}
		line, _ := strconv.Atoi(row["line"])
		var c *Compaction
		for i := range found[file] {
			if found[file][i].Line == line {
				c = &found[file][i]
			}
		}
		if c == nil {
			t.Errorf("%s line %d: no compaction found among %+v", file, line, found[file])
			continue
		}
		before, _ := strconv.Atoi(row["pre_tokens"])
		after, _ := strconv.Atoi(row["post_tokens"])
		chars, _ := strconv.Atoi(row["summary_chars"])
		if n := len([]rune(c.Summary)); n != chars {
			t.Errorf("%s line %d: a summary of %d characters, the index says %d", file, line, n, chars)
		}
		if c.TokensAfter != after || c.TokensBefore < before || c.TokensBefore > before+before/100 {
			t.Errorf("%s line %d: %d -> %d tokens, the index says %d -> %d", file, line, c.TokensBefore, c.TokensAfter, before, after)
		}
		if row["trigger"] != "-" && row["trigger"] != c.Trigger {
			t.Errorf("%s line %d: trigger %q, the index says %q", file, line, c.Trigger, row["trigger"])
		}
		if c.At == 0 || c.At > length[file] {
			t.Errorf("%s line %d: at %d of %d messages", file, line, c.At, length[file])
		}
	}
}
