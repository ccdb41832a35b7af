package session

import (
	"bytes"
	"context"
	"errors"
)

// CopiedStore is what [CopyStore] did.
type CopiedStore struct {
	Copied    int `json:"copied"`    // sessions that the other store did not have
	Completed int `json:"completed"` // that had grown since
	There     int `json:"there"`     // that it had already
}

// CopyStore copies all sessions of a store to another, every branch and every
// byte of their records, under their own ids. It can be broken off and run
// again: sessions that are there are left out, and those that have grown are
// completed. A session that went another way in the other store is left as it is
// there; the error names each.
func CopyStore(ctx context.Context, from, to Store) (CopiedStore, error) {
	var done CopiedStore
	all, err := from.List(ctx, 0, 0)
	if err != nil {
		return done, err
	}
	var failed []error
	for i := range all {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		if err := copySession(ctx, from, to, all[i].ID, &done); err != nil {
			failed = append(failed, err)
		}
	}
	return done, errors.Join(failed...)
}

func copySession(ctx context.Context, from, to Store, id string, done *CopiedStore) error {
	h, recs, err := loadRecords(ctx, from, id)
	if err != nil {
		return err
	}
	_, have, err := loadRecords(ctx, to, id)
	if errors.Is(err, ErrNotFound) {
		log, err := to.Create(ctx, h, Records(recs...))
		if err != nil {
			return err
		}
		done.Copied++
		return log.Close()
	}
	if err != nil {
		return err
	}
	same := min(len(have), len(recs))
	for i := range same {
		if !bytes.Equal(have[i], recs[i]) {
			return &Error{Op: "copy", Session: id, Problem: "the other store has a session with this id that has diverged", Hint: "it was left alone there; import this one under another id with winnow session import"}
		}
	}
	if same == len(recs) {
		done.There++
		return nil
	}
	log, err := to.Open(ctx, id)
	if err != nil {
		return err
	}
	if err := errors.Join(log.Append(recs[same:]...)(ctx), log.Close()); err != nil {
		return err
	}
	done.Completed++
	return nil
}

// loadRecords returns the header and all records of a session.
func loadRecords(ctx context.Context, s Store, id string) (Header, [][]byte, error) {
	log, err := s.Open(ctx, id)
	if err != nil {
		return Header{}, nil, err
	}
	defer log.Close()
	recs, err := log.Load(ctx)
	if err != nil {
		return Header{}, nil, err
	}
	raw := make([][]byte, len(recs))
	for i := range recs {
		raw[i] = recs[i].Raw
	}
	return log.Info().Header, raw, nil
}
