package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// RecallOptions say which sessions [Recaller] looks into.
type RecallOptions struct {
	// Session is the id of the one session that is looked into; "" is all.
	Session string

	// Dir is the folder whose newest session a search is about; "" is any.
	Dir string
}

// Recaller returns a source of what compactions hid in the sessions of a store, by
// handle alone: also in branches that were left, and by compactions that were
// rewound or gave way to later ones.
func Recaller(store Store, o RecallOptions) recall.Source { return &recaller{store, o} }

type recaller struct {
	store Store
	o     RecallOptions
}

// maxSearched is how many sessions one search looks into.
const maxSearched = 32

// Recall implements [recall.Source].
func (r *recaller) Recall(ctx context.Context, handle string, lines recall.Range) (recall.Page, error) {
	handle, place, err := recall.Parse(handle)
	if err != nil {
		return recall.Page{}, err
	}
	infos, err := r.store.List(ctx, 0, 0)
	if err != nil {
		return recall.Page{}, err
	}
	var found []recall.Candidate
	var unread error
	for i := range infos {
		id := infos[i].ID
		if r.o.Session != "" && id != r.o.Session {
			continue
		}
		o, err := r.originalIn(ctx, id, handle)
		switch {
		case ctx.Err() != nil:
			return recall.Page{}, ctx.Err()
		case err == nil:
			found = append(found, recall.Candidate{Place: id, Where: whereOf(id), Original: o})
		case !errors.Is(err, plan.ErrNoHandle):
			unread = err
		}
	}
	if len(found) == 0 && unread != nil {
		return recall.Page{}, fmt.Errorf("%w, and not every session could be read: %w", recall.ErrUnknown, unread)
	}
	return recall.Choose(found, handle, place, lines)
}

func whereOf(id string) string { return "session " + text.Runes(id, 13) }

// originalIn returns what stands behind a handle in one session. The error wraps
// [plan.ErrNoHandle] where no plan in it has the handle. Records are searched as
// bytes first: most sessions need not be read as conversations.
func (r *recaller) originalIn(ctx context.Context, id, handle string) (plan.Original, error) {
	_, recs, err := loadRecords(ctx, r.store, id)
	if err != nil {
		return plan.Original{}, err
	}
	failed := plan.ErrNoHandle
	for _, raw := range slices.Backward(recs) {
		if !bytes.Contains(raw, []byte(handle)) {
			continue
		}
		e := parseEntry(raw)
		if editWith(planIn(&e), handle) == nil {
			continue // somebody's words
		}
		// What a plan hides is on the path to the entry that put it in force,
		// wherever the leaf is now.
		s, err := Open(ctx, r.store, id, &Options{Leaf: e.ID})
		if err != nil {
			failed = err
			continue
		}
		o, err := s.Recall(handle)
		_ = s.Close() // it was only read
		if err == nil {
			return o, nil
		}
		failed = err
	}
	return plan.Original{}, failed
}

// planIn returns the plan that an entry puts in force; nil for none.
func planIn(e *Entry) *plan.Plan {
	if e.Compaction != nil {
		return e.Compaction.Plan
	}
	if e.Custom == customPlan {
		if p, err := plan.Decode(decode.Member(e.Data, "plan")); err == nil {
			return p
		}
	}
	return nil
}

// editWith returns the edit of a plan that has a handle, nil for none.
func editWith(p *plan.Plan, handle string) *plan.Edit {
	if p == nil || handle == "" {
		return nil
	}
	i := slices.IndexFunc(p.Edits, func(e plan.Edit) bool { return e.Handle == handle })
	if i < 0 {
		return nil
	}
	return &p.Edits[i]
}

// Search implements [recall.Source].
func (r *recaller) Search(ctx context.Context, q recall.Query) (recall.Results, error) {
	infos, err := r.store.List(ctx, 0, 0)
	if err != nil {
		return recall.Results{}, err
	}
	var hits []recall.Hit
	var unread error
	at, searched, opened := "", 0, 0
	for i := range infos {
		in := &infos[i]
		if r.o.Session != "" && in.ID != r.o.Session || r.o.Dir != "" && !q.All && filepath.Clean(in.Dir) != filepath.Clean(r.o.Dir) {
			continue
		}
		if opened == maxSearched || searched > 0 && !q.All {
			break
		}
		opened++
		s, err := Open(ctx, r.store, in.ID, &Options{Recover: true})
		if err != nil {
			if ctx.Err() != nil {
				return recall.Results{}, ctx.Err()
			}
			unread = err
			continue
		}
		s.mu.Lock()
		h, p := s.line.history, s.line.plan
		s.mu.Unlock()
		_ = s.Close() // it was only read
		if p == nil {
			continue
		}
		at = whereOf(in.ID)
		hits = append(hits, recall.Hidden(h, p, q.Words, at)...)
		searched++
	}
	switch {
	case searched == 0 && unread != nil:
		return recall.Results{}, unread
	case searched == 0 && r.o.Dir != "" && !q.All:
		at = "the sessions of this folder"
	case searched > 1:
		at = fmt.Sprintf("%d sessions", searched)
	}
	return recall.Limited(hits, at, q), nil
}
