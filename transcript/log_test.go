package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	fileinput "github.com/winnow-llm/winnow/internal/input"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/race"
)

// A large log that is read in pieces holds the same sessions, with the same
// warnings, as one that is read whole; any other file is left to Read.
func TestLogsInPieces(t *testing.T) {
	large, piece := fileinput.Large, fileinput.Piece
	defer func() { fileinput.Large, fileinput.Piece = large, piece }()
	fileinput.Large = 1
	files := fixtures(t)
	if dir, ok := corpus.Path(); ok && !race.Enabled {
		real, err := corpus.Sessions(filepath.Join(dir, "sessions"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, real...)
	}
	read := map[Format]int{}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 4<<20 { // enough of them are smaller
			continue
		}
		for _, fileinput.Piece = range []int{300, 20_000} {
			opts := (&Options{}).orDefault(file)
			got, ok := readLog(file, &opts)
			if !ok {
				break
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := Read(data, &opts)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			read[want[0].Format]++
			if diff := cmp.Diff(told(want), told(got)); diff != "" {
				t.Errorf("%s, pieces of %d bytes: %.2000s", filepath.Base(file), fileinput.Piece, diff)
			}
		}
	}
	t.Logf("read in pieces: %v", read)
	for _, f := range []Format{Pi, ClaudeCode, Codex, OpenHandsV1, OpenAI} {
		if read[f] == 0 {
			t.Errorf("no log of the format %s was read in pieces", f)
		}
	}
}

// told is all that is read from a file.
func told(sessions []Session) string {
	s := render(sessions)
	for i := range sessions {
		s += fmt.Sprintln(sessions[i].Warnings, sessions[i].Compactions, sessions[i].Folder, sessions[i].Window)
	}
	return s
}

// The line of what could not be read is told in pieces too.
func TestPiecesTellLines(t *testing.T) {
	large, piece := fileinput.Large, fileinput.Piece
	defer func() { fileinput.Large, fileinput.Piece = large, piece }()
	fileinput.Large, fileinput.Piece = 1, 80
	file := filepath.Join(t.TempDir(), "session.jsonl")
	text := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/home/ada/project"}
{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"Rename the handler"}}
{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","content":[{"type":"text","text":7}]}}
{"type":"message","id":"3","parentId":"2","message":{"role":"nobody","content":"x"}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := (&Options{}).orDefault(file)
	inPieces, ok := readLog(file, &opts)
	whole, err := Read([]byte(text), &opts)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if diff := cmp.Diff(told(whole), told(inPieces)); diff != "" || len(whole[0].Warnings) != 2 {
		t.Errorf("%v\n%s", whole[0].Warnings, diff)
	}
}
