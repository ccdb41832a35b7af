package conview

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/internal/workset"
	"github.com/winnow-llm/winnow/plan"
)

// maxFiles is how many files are listed, those touched last first.
const maxFiles = 200

// files are the files of a history as they stand, and how much of each the model
// sees in a view of it. A line counts as seen where it stands in the view, for
// whatever reason.
func files(v plan.View, kinds *work.Kinds) *control.Files {
	out := &control.Files{Files: []control.File{}}
	set, err := workingSet(v, kinds)
	if err != nil {
		out.Note = err.Error()
		return out
	}
	seen := lines(v)
	for _, f := range set.Files() {
		if f.Deleted || len(out.Files) == maxFiles {
			continue
		}
		x := control.File{Path: f.Path, Touched: f.Touched, Edited: f.Edits > 0, Whole: f.Complete}
		for r := range f.Regions {
			for k := range f.Regions[r].Lines {
				l := &f.Regions[r].Lines[k]
				x.Lines++
				x.Unsure = x.Unsure || l.Doubt != workset.Certain
				if t := strings.TrimSpace(l.Text); t == "" || seen[t] {
					x.Shown++
				}
			}
		}
		out.Files = append(out.Files, x)
	}
	return out
}

// workingSet reads the files of a view's history.
func workingSet(v plan.View, kinds *work.Kinds) (*workset.Set, error) {
	h := v.History()
	set := workset.New(kinds)
	if left := guard.Do("files", func() {
		for i := range h.Len() {
			set.Add(h, i)
		}
	}); left != nil {
		return nil, left
	}
	return set, nil
}

// lines are those that the model can read, without what surrounds them: a
// number, a mark, an indent.
func lines(v plan.View) map[string]bool {
	seen := make(map[string]bool)
	add := func(s string) {
		for l := range strings.SplitSeq(s, "\n") {
			l = strings.TrimSpace(l)
			seen[l] = true
			seen[strings.TrimSpace(strings.TrimLeft(l, "0123456789"))] = true
			for _, mark := range []string{"→", "\t", ": ", "|", "+", "-"} {
				if _, rest, ok := strings.Cut(l, mark); ok {
					seen[strings.TrimSpace(rest)] = true
				}
			}
		}
	}
	for i := range v.Len() {
		for k := range v.At(i).Parts {
			p := &v.At(i).Parts[k]
			if p.Kind == chat.Thinking {
				continue
			}
			add(p.Text)
			if p.Kind == chat.ToolCall {
				add(strings.ReplaceAll(p.Args, `\n`, "\n"))
			}
			for c := range p.Content {
				add(p.Content[c].Text)
			}
		}
	}
	return seen
}
