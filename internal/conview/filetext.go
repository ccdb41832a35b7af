package conview

import (
	"fmt"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/internal/workset"
	"github.com/winnow-llm/winnow/plan"
)

// maxLine is how much of a line of a file is shown, in bytes.
const maxLine = 2000

// fileText returns one file of a history as it stands, with what the model sees of
// it in a view. The error wraps [control.ErrUnknown].
func fileText(v plan.View, kinds *work.Kinds, path string) (*control.FileText, error) {
	set, seenOf, err := filesAndSeen(v, kinds)
	if err != nil {
		return nil, err
	}
	f := set.File(path)
	if f == nil || f.Deleted {
		return nil, fmt.Errorf("%w: there is no file %q in it", control.ErrUnknown, text.Brief(path, 120))
	}
	seen := seenOf(path)
	doc := &control.FileText{Path: path, Whole: f.Complete, Regions: []control.Region{}}
	n := 0
	for _, region := range f.Regions {
		out := control.Region{From: region.From, Lines: []control.FileLine{}}
		for i := range region.Lines {
			l := &region.Lines[i]
			if n++; n > control.MaxFileLines {
				doc.Left++
				continue
			}
			line := control.FileLine{Text: text.Clip(l.Text, maxLine), Shown: seen.take(l.Text), Edited: l.Edited}
			if l.Doubt != workset.Certain {
				line.Doubt = l.Doubt.String()
			}
			out.Lines = append(out.Lines, line)
		}
		if len(out.Lines) > 0 {
			doc.Regions = append(doc.Regions, out)
		}
	}
	return doc, nil
}
