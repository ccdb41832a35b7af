package plan

import (
	"math"
	"slices"

	"github.com/winnow-llm/winnow/chat"
)

// Report says what a plan kept, reduced and removed.
type Report struct {
	Before chat.Size `json:"before"`
	After  chat.Size `json:"after"`

	MessagesBefore int `json:"messages_before"`
	MessagesAfter  int `json:"messages_after"`

	// Kept stands in the view as it was, Reduced in a shorter form, Removed is
	// hidden behind a summary or marker.
	Kept    Tally `json:"kept"`
	Reduced Tally `json:"reduced"`
	Removed Tally `json:"removed"`

	// Stages that added edits, in the order that [NewReport] was given.
	Stages []StageReport `json:"stages"`

	// Evidence tells by class how much of the history is still there to read: the
	// user's requests, the sentences of them that bind, and files by name. The
	// caller of [NewReport] fills it in.
	Evidence map[string]Share `json:"evidence,omitempty"`

	// Notes are for people: stages that were skipped or rolled back and why.
	Notes []string `json:"notes,omitempty"`
}

// Tally counts messages (whole or in part) and the tokens they had and have.
type Tally struct {
	Messages int `json:"messages"`
	Before   int `json:"tokens_before"`
	After    int `json:"tokens_after"`
}

// StageReport is what one stage added to a plan.
type StageReport struct {
	Name  string `json:"name"`
	Edits int    `json:"edits"`
	Saved int    `json:"saved"` // tokens
}

// Share is a part of a whole.
type Share struct {
	Kept  int `json:"kept"`
	Total int `json:"total"`
}

// NewReport describes a view whose history measures before and which itself
// measures after. It lists the stages in the given order, and those that are not
// in it last.
func NewReport(v View, before, after chat.Size, order []string) Report {
	r := Report{
		Before: before, After: after,
		MessagesBefore: v.History().Len(), MessagesAfter: v.Len(),
	}
	p := v.Plan()
	if p == nil {
		r.Kept = Tally{r.MessagesBefore, before.Tokens, before.Tokens}
		return r
	}
	reduced := make(map[int]bool)
	for i := range p.Edits {
		e := &p.Edits[i]
		if e.isRun() {
			r.Removed.Messages += e.To - e.From - len(e.Keep)
			r.Removed.Before += e.Before.Tokens
			r.Removed.After += e.After.Tokens
		} else {
			reduced[e.From] = true
			r.Reduced.Before += e.Before.Tokens
			r.Reduced.After += e.After.Tokens
		}
		at := slices.IndexFunc(r.Stages, func(s StageReport) bool { return s.Name == e.Stage })
		if at < 0 {
			at, r.Stages = len(r.Stages), append(r.Stages, StageReport{Name: e.Stage})
		}
		r.Stages[at].Edits++
		r.Stages[at].Saved += e.Before.Tokens - e.After.Tokens
	}
	r.Reduced.Messages = len(reduced)
	r.Kept.Messages = r.MessagesBefore - r.Reduced.Messages - r.Removed.Messages
	r.Kept.Before = max(0, before.Tokens-r.Reduced.Before-r.Removed.Before)
	r.Kept.After = max(0, after.Tokens-r.Reduced.After-r.Removed.After)
	rank := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(r.Stages, func(a, b StageReport) int { return rank(a.Name) - rank(b.Name) })
	return r
}

// Scale turns all counted tokens of a report into the tokens to expect from the
// provider: messages are multiplied, and what every request carries becomes fixed
// instead of counted tokens. Sums still add up.
func (r *Report) Scale(by float64, counted, fixed int) {
	if by <= 0 || by == 1 && counted == fixed {
		return
	}
	all := []*int{&r.Reduced.Before, &r.Reduced.After, &r.Removed.Before, &r.Removed.After}
	r.Stages = slices.Clone(r.Stages)
	for i := range r.Stages {
		all = append(all, &r.Stages[i].Saved)
	}
	for _, n := range all {
		*n = int(math.Round(by * float64(*n)))
	}
	for _, n := range []*int{&r.Before.Tokens, &r.After.Tokens} {
		*n = fixed + int(math.Round(by*float64(max(0, *n-counted))))
	}
	r.Kept.Before = max(0, r.Before.Tokens-r.Reduced.Before-r.Removed.Before)
	r.Kept.After = max(0, r.After.Tokens-r.Reduced.After-r.Removed.After)
}
