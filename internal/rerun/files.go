package rerun

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/workset"
	"github.com/winnow-llm/winnow/plan"
)

// fileSet is the working set of the whole history, read once.
type fileSet struct {
	files []*workset.File

	// Lines of the view under a plan, without the numbers in front of them.
	shown map[string]bool
	plan  plan.ID
}

// working returns the files and which lines the model sees. The caller holds the
// lock.
func (r *Rerun) working() *fileSet {
	if r.files == nil {
		set := workset.New(r.in.Kinds)
		for i := range r.in.Request.History.Len() {
			set.Add(r.in.Request.History, i)
		}
		r.files = &fileSet{files: set.Files()}
	}
	if f := r.files; f.shown == nil || f.plan != r.plan.ID() {
		f.plan, f.shown = r.plan.ID(), map[string]bool{}
		for i := range r.view.Len() {
			m := r.view.At(i)
			for k := range m.Parts {
				f.see(m.Parts[k].Text)
				if m.Parts[k].Kind == chat.ToolCall {
					f.see(strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(m.Parts[k].Args))
				}
			}
		}
	}
	return r.files
}

// see notes the lines of a text.
func (f *fileSet) see(s string) {
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		f.shown[line] = true
		if bare, ok := unnumbered(line); ok {
			f.shown[bare] = true
		}
	}
}

// unnumbered takes the number off a line of a file as tools print it.
func unnumbered(line string) (string, bool) {
	i := 0
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i == 0 || i == len(line) {
		return "", false
	}
	for _, sep := range [...]string{"→", "\t", ":", "|", " "} {
		if rest, ok := strings.CutPrefix(line[i:], sep); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

// sees reports whether the model sees a line. A blank one is nothing to see.
func (f *fileSet) sees(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || f.shown[line]
}

// Files returns the files as they stand, those touched last first.
func (r *Rerun) Files(_ context.Context, id string) (*control.Files, error) {
	if err := r.is(id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	set := r.working()
	doc := &control.Files{Files: []control.File{}}
	for _, f := range set.files {
		if f.Deleted {
			continue
		}
		d := control.File{Path: f.Path, Touched: f.Touched, Edited: f.Edits > 0, Whole: f.Complete}
		for _, region := range f.Regions {
			for i := range region.Lines {
				d.Lines++
				d.Unsure = d.Unsure || region.Lines[i].Doubt != workset.Certain
				if set.sees(region.Lines[i].Text) {
					d.Shown++
				}
			}
		}
		doc.Files = append(doc.Files, d)
	}
	return doc, nil
}

// FileText is a file as it stands, line by line.
type FileText struct {
	Path    string   `json:"path"`
	Whole   bool     `json:"whole"`
	Regions []Region `json:"regions"`
	Left    int      `json:"left,omitempty"` // lines that were left out at the end
}

// Region is a run of lines that stand together. From is the number of the first;
// 0 is unknown.
type Region struct {
	From  int        `json:"from"`
	Lines []FileLine `json:"lines"`
}

// FileLine is a line of a file.
type FileLine struct {
	Text   string `json:"text"`
	Shown  bool   `json:"shown"`            // to the model, now
	Edited bool   `json:"edited,omitempty"` // by the conversation, and not seen since
	Doubt  string `json:"doubt,omitempty"`  // what may have changed it since
}

// maxFileLines bounds what is shown of one file.
const maxFileLines = 5000

// File returns one file as it stands.
func (r *Rerun) File(_ context.Context, id, path string) (*FileText, error) {
	if err := r.is(id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	set := r.working()
	for _, f := range set.files {
		if f.Path != path {
			continue
		}
		doc := &FileText{Path: path, Whole: f.Complete, Regions: []Region{}}
		n := 0
		for _, region := range f.Regions {
			out := Region{From: region.From, Lines: []FileLine{}}
			for i := range region.Lines {
				l := &region.Lines[i]
				if n++; n > maxFileLines {
					doc.Left++
					continue
				}
				line := FileLine{Text: text.Clip(l.Text, 2000), Shown: set.sees(l.Text), Edited: l.Edited}
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
	return nil, fmt.Errorf("file %q: %w", text.Brief(path, 80), control.ErrUnknown)
}
