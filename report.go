package winnow

import (
	"path"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
	"github.com/winnow-llm/winnow/summary"
)

// Report says what a view keeps, reduces and removes of the request's history,
// and by class which share of the history can still be read in it. It reads the
// whole history, so ask for it when someone wants to see it.
func (w *Winnow) Report(req chat.Request, v plan.View) plan.Report {
	w = w.orStandard()
	whole, err := plan.Apply(req.History, nil)
	if err != nil { // no plan, so nothing can be wrong with it
		return plan.Report{}
	}
	size := func(v plan.View) chat.Size {
		s := w.meter.Check(&req, v, Limits{}, budget.Trigger{}, nil)
		return chat.Size{Tokens: s.Tokens.Total, Bytes: s.Bytes, Images: s.Images}
	}
	r := plan.NewReport(v, size(whole), size(v), append([]string{"repair"}, stage.Names()...))
	if p := v.Plan(); p != nil && len(p.Edits) > 0 {
		shares := make(map[string]plan.Share)
		left := guard.Do("evidence", func() {
			var work guard.Work
			for _, m := range req.History.All() {
				work.Spend(reportWork * m.Size().Bytes)
			}
			w.countEvidence(req.History, textOf(v), shares)
		})
		if left != nil {
			r.Notes = append(r.Notes, left.Error())
		} else {
			r.Evidence = shares
		}
	}
	return r
}

// countEvidence counts by class what of a history stands in a text: the user's
// requests and the sentences of them that bind, and the files, by their last two
// segments. Presence is not understanding.
func (w *Winnow) countEvidence(h chat.History, text string, shares map[string]plan.Share) {
	index := typed.NewIndex(text)
	note := func(class string, kept bool) {
		s := shares[class]
		s.Total++
		if kept {
			s.Kept++
		}
		shares[class] = s
	}
	for i := range h.Len() {
		m := h.At(i)
		if m.Synthetic {
			continue
		}
		for _, s := range typed.Split(h, i) {
			if s.Kind != typed.Typed {
				continue
			}
			note("requests", index.HasText(s.Text(m)))
			for _, b := range typed.BindingSentences(s.Text(m)) {
				note("constraints", index.HasSentence(b))
			}
		}
	}
	files := summary.Files(h, 0, h.Len(), w.pipeline.Config.Kinds)
	for _, f := range append(files.Read, files.Modified...) {
		note("files", strings.Contains(text, path.Join(path.Base(path.Dir(f)), path.Base(f))))
	}
}

// reportWork is about how often a report looks at a byte of the history.
const reportWork = 8

// Report is [Winnow.Report] for the result, with the notes of the stages.
func (r *Result) Report() plan.Report {
	if r.w == nil {
		return plan.Report{}
	}
	rep := r.w.Report(r.req, r.View)
	rep.Notes = append(slices.Clip(r.Notes), rep.Notes...)
	return rep
}

// textOf returns everything that can be read in a view.
func textOf(v plan.View) string {
	var b strings.Builder
	for i := range v.Len() {
		m := v.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			if p.Kind == chat.Thinking || p.Kind == chat.Opaque {
				continue
			}
			b.WriteString(p.Text)
			b.WriteByte('\n')
			b.WriteString(p.Args)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
