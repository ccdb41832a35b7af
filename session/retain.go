package session

import (
	"context"
	"errors"
	"time"
)

// Retention says how long sessions are kept. The zero value keeps everything.
type Retention struct {
	// Age is how long ago something must have been added last for a session to
	// go. 0 means no limit, here and below.
	Age time.Duration `json:"age,omitempty" yaml:"age,omitempty"`

	// Bytes and Sessions are the most that all sessions may take and the most
	// there may be; the ones that rested longest go first.
	Bytes    int64 `json:"bytes,omitempty" yaml:"bytes,omitempty"`
	Sessions int   `json:"sessions,omitempty" yaml:"sessions,omitempty"`
}

// Expired returns the sessions of a store that a retention no longer keeps,
// the ones that rested longest last.
func (r Retention) Expired(ctx context.Context, store Store, now time.Time) ([]Info, error) {
	if r == (Retention{}) {
		return nil, nil
	}
	all, err := store.List(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	var gone []Info
	bytes := int64(0)
	for i := range all {
		bytes += all[i].Bytes
		switch {
		case r.Age > 0 && now.Sub(all[i].Modified) > r.Age,
			r.Sessions > 0 && i >= r.Sessions,
			r.Bytes > 0 && bytes > r.Bytes && i > 0: // the newest stays in any case
			gone = append(gone, all[i])
		}
	}
	return gone, nil
}

// Expire deletes what a retention no longer keeps and returns it. A session
// that cannot be deleted is reported with the rest done.
func (r Retention) Expire(ctx context.Context, store Store, now time.Time) ([]Info, error) {
	list, err := r.Expired(ctx, store, now)
	if err != nil {
		return nil, err
	}
	var gone []Info
	var failed []error
	for i := range list {
		if err := store.Delete(ctx, list[i].ID); err != nil && !errors.Is(err, ErrNotFound) {
			failed = append(failed, err)
			continue
		}
		gone = append(gone, list[i])
	}
	return gone, errors.Join(failed...)
}
