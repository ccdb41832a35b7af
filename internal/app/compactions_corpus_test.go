package app

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/source"
	"github.com/winnow-llm/winnow/model"
)

// TestCompactedIsNotCalledFitting measures real sessions at the points where
// their own agent compacted because its window was full: in the window that check
// takes for the file, compaction is due there.
func TestCompactedIsNotCalledFitting(t *testing.T) {
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
			if !c.Automatic() && row[2] == "pi" {
				// pi does not note why it compacted; this one came twelve hours after
				// the last answer, so a person asked for it.
				continue
			}
			req := s.Request
			req.History = req.History.Head(c.At)
			status, err := w.Check(req, winnow.State{})
			if err != nil {
				t.Fatal(err)
			}
			measured++
			if status.Fits && !status.ShouldCompact {
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
