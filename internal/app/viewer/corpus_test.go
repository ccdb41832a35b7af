package viewer

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
)

// Real sessions of many agents are shown, compacted and opened.
func TestCorpus(t *testing.T) {
	longrun.Only(t, "draws real sessions")
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t), "sessions", "*", "*"))
	must(t, err)
	shown := 0
	for _, file := range files {
		info, err := os.Stat(file)
		must(t, err)
		if !info.Mode().IsRegular() || info.Size() > 400_000 {
			continue
		}
		in, err := source.Load(file, nil, "")
		if err != nil || len(in.Sessions) == 0 {
			continue // no session
		}
		shown++
		t.Run(filepath.Base(file), func(t *testing.T) {
			v := view(t, imported(t, in.Sessions[0].Request, winnow.Settings{Window: 16000, OutputReserve: 2000}), Options{}, 80, 24)
			v.keys("g", "pgdown", "c", "enter", "2", "g", "j", "enter", "j", "pgdown", "3", "G", "k", "enter", "i", "esc", "/", "error", "enter", "n")
			v.resize(200, 50).keys("1", "G", "k", "u", "y")
		})
	}
	if shown == 0 {
		t.Error("no session was found")
	}
}
