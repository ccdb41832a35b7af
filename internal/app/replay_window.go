package app

import (
	"cmp"
	"os"
	"slices"

	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/model"
)

// ownWindow is what --window takes for the windows of the sessions themselves.
const ownWindow = "own"

// ownWindows returns the windows in which the sessions of files were recorded, as
// check says them: stated, proven, the agent's or the model's. It says for each
// where it is known from.
func (a *app) ownWindows(paths []string) ([]int, error) {
	var out []int
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return nil, usageErrorf("--window %s: %s is a folder, whose sessions may have many windows; name files", ownWindow, path)
		}
		in, err := source.Load(path, nil, "")
		if err != nil {
			return nil, err
		}
		for i := range in.Sessions {
			s := &in.Sessions[i]
			m := model.Default().Lookup(s.Model)
			w := s.Window(m)
			tokens, why := w.Tokens, w.Why
			if tokens == 0 {
				tokens, why = m.Context, "the window of "+cmp.Or(s.Model, "an unknown model")
			}
			if tokens == 0 {
				return nil, usageErrorf("--window %s: neither %s nor its model states a window; name one", ownWindow, path)
			}
			a.say("%s: window %s: %s", path, number(tokens), why)
			if !slices.Contains(out, tokens) {
				out = append(out, tokens)
			}
		}
	}
	return out, nil
}
