package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/plan"
)

// rulesDoc is what check --rules prints: the sentences of the user that bind, and
// where each stands after a compaction.
type rulesDoc struct {
	File  string `json:"file"`
	Gone  int    `json:"gone"`
	Rules []rule `json:"rules"`
}

// rule is a binding sentence of the user.
type rule struct {
	Message int    `json:"message"` // counted from 1
	Text    string `json:"text"`
	// Stands is "message" where the sentence is in its own message or in another one
	// of the history, "fold" where a fold or the state tells it, "" where it is gone.
	Stands string `json:"stands"`
}

// checkRules prints where the user's binding sentences stand after a compaction.
func (a *app) checkRules(ctx context.Context, w *winnow.Winnow, s *source.Session, file string) error {
	what := "looking for rules in " + plural(s.Request.History.Len(), "message")
	doc, err := awaitShown(ctx, a, what, func(*progress) (*rulesDoc, error) { return findRules(ctx, w, s) })
	if err != nil {
		return err
	}
	doc.File = file
	return a.printResult(doc, func() { a.showRules(doc) })
}

// findRules compacts the session and looks for each rule in the view.
func findRules(ctx context.Context, w *winnow.Winnow, s *source.Session) (*rulesDoc, error) {
	state := s.Known(w)
	state.Force = true
	r, err := w.Fit(ctx, s.Request, state)
	if cannot, ok := errors.AsType[*winnow.CannotFitError](err); ok {
		return nil, fmt.Errorf("there is no view to look into: %w", cannot)
	}
	if err != nil {
		return nil, err
	}
	raw, told := splitView(r.View)
	doc := &rulesDoc{Rules: []rule{}}
	h := s.Request.History
	for i := range h.Len() {
		if h.At(i).Synthetic {
			continue
		}
		for _, text := range typed.BindingSentences(typed.Words(h, i)) {
			found := rule{Message: i + 1, Text: text}
			switch {
			case raw.HasSentence(text):
				found.Stands = "message"
			case told.HasSentence(text):
				found.Stands = "fold"
			default:
				doc.Gone++
			}
			doc.Rules = append(doc.Rules, found)
		}
	}
	return doc, nil
}

// splitView indexes what a view has of the history as it was, and what its plan made.
func splitView(v plan.View) (raw, told *typed.Index) {
	var kept, made strings.Builder
	for i := range v.Len() {
		m := v.At(i)
		for k := range m.Parts {
			b := &kept
			if v.Summary(i, k) {
				b = &made
			}
			if m.Parts[k].Kind == chat.Text { // a result that repeats a rule is not the user's
				b.WriteString(m.Parts[k].Text + "\n")
			}
		}
	}
	return typed.NewIndex(kept.String()), typed.NewIndex(made.String())
}

func (a *app) showRules(d *rulesDoc) {
	st := a.styleFor(a.stdout)
	said := plural(len(d.Rules), "binding sentence")
	if d.Gone > 0 {
		said += fmt.Sprintf(", of which %d are gone after a compaction", d.Gone)
	}
	fmt.Fprintf(a.stdout, "%s: %s\n", st.Bold(a.shortPath(d.File)), said)
	for _, r := range d.Rules {
		where := cmp.Or(r.Stands, st.Red("gone"))
		fmt.Fprintf(a.stdout, "%7d  %s  %s\n", r.Message, show.Pad(where, 7), show.Brief(r.Text, max(st.Columns(), 80)-18))
	}
}
