package conview

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/internal/ladder"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/internal/workset"
	"github.com/winnow-llm/winnow/plan"
)

// maxFiles is how many files are listed, those touched last first.
const maxFiles = 200

// listFiles returns the files of a history as they stand, and how much of each the
// model sees in a view of it.
func listFiles(v plan.View, kinds *work.Kinds) *control.Files {
	out := &control.Files{Files: []control.File{}}
	set, seenOf, err := filesAndSeen(v, kinds)
	if err != nil {
		out.Note = err.Error()
		return out
	}
	for _, f := range set.Files() {
		if f.Deleted || len(out.Files) == maxFiles {
			continue
		}
		x := control.File{Path: f.Path, Touched: f.Touched, Edited: f.Edits > 0, Whole: f.Complete}
		seen := seenOf(f.Path)
		for r := range f.Regions {
			for k := range f.Regions[r].Lines {
				l := &f.Regions[r].Lines[k]
				x.Lines++
				x.Unsure = x.Unsure || l.Doubt != workset.Certain
				if seen.take(l.Text) {
					x.Shown++
				}
			}
		}
		out.Files = append(out.Files, x)
	}
	return out
}

// filesAndSeen reads the files of a view's history, and what the view shows of each.
func filesAndSeen(v plan.View, kinds *work.Kinds) (*workset.Set, func(path string) lineCounts, error) {
	set, err := workingSet(v.History(), kinds)
	if err != nil {
		return nil, nil, err
	}
	seenOf, err := seenLines(v, kinds)
	return set, seenOf, err
}

// workingSet reads the files of a history.
func workingSet(h chat.History, kinds *work.Kinds) (*workset.Set, error) {
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

// lineCounts are how often the lines of a file stand in a view, without indents.
type lineCounts map[string]int

func (c lineCounts) add(line string) { c[strings.TrimSpace(line)]++ }

// take reports whether a line stands there once more than was taken. An empty line
// does, where anything of the file is.
func (c lineCounts) take(line string) bool {
	t := strings.TrimSpace(line)
	c[t]--
	return c[t] >= 0 || t == "" && len(c) > 1
}

// seenLines count for each file the lines of it that the model can read: in what
// shows the file, or in what a compaction put together of it. Lines of another file
// that read alike do not count.
func seenLines(v plan.View, kinds *work.Kinds) (func(path string) lineCounts, error) {
	shown, err := workingSet(chat.NewHistory(v.Messages()...), kinds)
	if err != nil {
		return nil, err
	}
	told := make(map[string][]string) // texts by path
	said := saidLines(v)
	for i := range v.Len() {
		for k := range v.At(i).Parts {
			if !v.Summary(i, k) {
				continue
			}
			for _, s := range ladder.Sections(v.At(i).Parts[k].Text, said) {
				if s.Band == "files" && s.About != "" {
					told[s.About] = append(told[s.About], s.Text)
				}
			}
		}
	}
	return func(path string) lineCounts {
		seen, here := lineCounts{}, lineCounts{}
		for _, text := range told[path] {
			for l := range strings.SplitSeq(text, "\n") {
				if n, rest, ok := strings.Cut(l, ": "); ok && strings.Trim(n, "0123456789") == "" { // of an outline
					l = rest
				}
				seen.add(l)
			}
		}
		if f := shown.File(path); f != nil {
			for r := range f.Regions {
				for k := range f.Regions[r].Lines {
					here.add(f.Regions[r].Lines[k].Text)
				}
			}
			for k := range f.Loose {
				for l := range strings.SplitSeq(f.Loose[k].Text, "\n") {
					here.add(l)
				}
			}
		}
		for l, n := range here { // what stands in both is one line
			seen[l] = max(seen[l], n)
		}
		return seen
	}, nil
}
